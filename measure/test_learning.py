"""Tests of training.py, agent.py and curves.py.

pip install -r requirements.txt -r measure/peers.txt pytest
pytest measure/test_learning.py
"""

import argparse
import base64
import csv
import pathlib
import sys

import numpy as np
import pytest
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import agent  # noqa: E402
import curves  # noqa: E402
import publish  # noqa: E402
import training  # noqa: E402
from agent import ppo  # noqa: E402

BREAKOUT = "BreakoutNoFrameskip-v4"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """All that would be written goes to a folder of the test."""
    results = tmp_path / "measure/results"
    results.mkdir(parents=True)
    for place in "docs", "examples", "page/data":
        (tmp_path / place).mkdir(parents=True)
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setattr(publish, "RESULTS", results)
    monkeypatch.setattr(publish, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(publish, "README", tmp_path / "README.md")
    monkeypatch.setattr(curves, "CHART", tmp_path / "docs/learning.svg")
    monkeypatch.setattr(curves, "PAGE", tmp_path / "docs/learning.md")
    return tmp_path


# ---------------------------------------------------------------------------
# Training on both sides
# ---------------------------------------------------------------------------


def test_the_wrapped_games_report_whole_games_as_games_do():
    """A lost life ends an episode, and the game's end brings its score."""
    random = np.random.default_rng(0)
    lives, whole, rewards_seen = 0, [], set()
    points = np.zeros(2)
    wrapped = training.Wrapped(2, BREAKOUT)
    try:
        obs, _ = wrapped.reset(seed=1)
        assert obs.shape == (2, 4, 84, 84)
        assert obs.dtype == np.uint8
        for _ in range(800):
            actions = random.integers(4, size=2)
            obs, rewards, terminated, _, infos = wrapped.step(actions)
            rewards_seen |= set(rewards)
            points += rewards
            lives += terminated.sum()
            # Rows of one point each: clipped and raw are the same.
            for i, score in agent.runs.final_scores(infos).items():
                assert terminated[i]
                assert score == points[i]
                points[i] = 0
                whole.append(score)
    finally:
        wrapped.close()
    assert rewards_seen == {0, 1}
    assert len(whole) >= 2
    # five lives to a game; the last games have not ended
    assert 5 * len(whole) <= lives < 5 * (len(whole) + 2)


@pytest.mark.parametrize("side", training.SIDES)
def test_a_run_is_the_same_with_the_same_seed(monkeypatch, side):
    monkeypatch.setattr(ppo, "STEPS", 8)
    args = argparse.Namespace(games=2, env_id=BREAKOUT, bfloat16=False)
    batches = []
    learn = ppo.learn
    monkeypatch.setattr(
        ppo, "learn", lambda *a: batches.append(a[-1]) or learn(*a)
    )
    for seed in 0, 0, 1:
        for seconds, _ in training.training(args, side, seed, 2):
            assert min(seconds.values()) > 0
    first, same, other = batches[1], batches[3], batches[5]
    assert all(map(torch.equal, first, same))
    assert not all(map(torch.equal, first, other))


def test_a_finished_run_replaces_the_one_before_it(folder):
    args = argparse.Namespace(publish=True)
    old = [["Krull", "games", 0, 8, 1, 2.0], ["Krull", "games", 0, 16, 1, 3.0]]
    others = [["Krull", "games", 1, 8, 1, 4.0], ["Krull", "wrappers", 0, 8]]
    for rows in old, others[:1], others[1:]:
        training.keep(args, rows)
    new = [["Krull", "games", 0, 8, 1, 5.0]]
    training.keep(args, new)
    with open(folder / "measure/results/training.csv", newline="") as file:
        head, *table = csv.reader(file)
    assert head == training.COLUMNS
    assert table == [[str(cell) for cell in row] for row in others + new]


# ---------------------------------------------------------------------------
# The agent's recording
# ---------------------------------------------------------------------------


def unpack(data, shape):
    """Return the pictures of a recording, as its description has them."""
    data, at = base64.b64decode(data), 0
    pictures, picture = [], np.zeros(shape, np.uint8)
    while at < len(data):
        count = data[at] + 256 * data[at + 1]
        at += 2
        for _ in range(count):
            x, y, width, height, value = data[at : at + 5]
            picture[y : y + height, x : x + width] = value
            at += 5
        pictures.append(picture.copy())
    assert at == len(data)
    return pictures


def test_the_recording_is_what_the_agent_saw_and_did(folder, monkeypatch):
    run = folder / "run"
    run.mkdir()
    torch.manual_seed(0)
    state = {"env_id": BREAKOUT, "steps": 7, "seconds": {"games": 1.0}}
    saved = {"weights": ppo.Agent(4).state_dict(), "state": state}
    torch.save(saved, run / "checkpoint.pt")
    (run / "curve.csv").write_text("steps,score\n7,1\n")
    monkeypatch.setattr(agent, "judge", lambda _: {"served": [1], "alone": []})
    command = ["agent.py", str(run), "--film-seed", "3", "--publish"]
    monkeypatch.setattr(sys, "argv", command)
    agent.main()

    curve = folder / "measure/results/agent.csv"
    assert curve.read_text() == "steps,score\n7,1\n"
    about = publish.read(folder / "measure/results/agent.json")
    recording = publish.read(folder / "page/data/agent.json")
    assert about["steps"] == 7
    assert about["film"]["seed"] == recording["seed"] == 3
    assert about["film"]["reward"] == recording["score"]
    assert about["film"]["length"] == recording["length"]
    assert (folder / "docs/agent.webp").stat().st_size > 1000
    weights = folder / "examples/breakout.pt"
    assert weights.stat().st_size < 4_000_000

    # The published weights play this game again, to the last bit.
    again = ppo.Agent(4)
    again.load_state_dict(torch.load(weights, weights_only=True))
    torch.manual_seed(3)
    game = agent.Game(3, BREAKOUT, **agent.runs.SERVED)
    obs = game.reset()
    rgb = np.array(recording["rgb"], np.uint8)
    screens = unpack(recording["screens"], (210, 160))
    frames = unpack(recording["frames"], (84, 84))
    decisions = recording["decisions"]
    assert len(screens) == len(frames) == len(decisions) <= 600
    assert recording["actions"] == ["NOOP", "FIRE", "RIGHT", "LEFT"]
    score, lives_seen = 0, set()
    for screen, frame, decision in zip(
        screens, frames, decisions, strict=True
    ):
        action, reward, lives, first, value, probabilities = decision
        stack = [frame] * 4 if first else [*stack[1:], frame]  # noqa: F821
        assert (np.array(stack) == obs).all()
        assert (rgb[screen] == game.render()).all()
        with torch.no_grad():
            policy, values = again(torch.as_tensor(obs[None]))
        assert policy.sample().item() == action
        assert value == pytest.approx(values.item(), abs=0.006)
        assert probabilities == pytest.approx(policy.probs[0], abs=0.006)
        assert lives == game.env.unwrapped.ale.lives()
        obs, points, _, info = game.step(action)
        assert points == reward
        score += reward
        lives_seen.add(lives)
    assert info["reward"] == score == recording["score"]
    assert lives_seen == {1, 2, 3, 4, 5}


def test_a_run_of_another_title_is_refused(folder, monkeypatch, capsys):
    run = folder / "run"
    run.mkdir()
    state = {"env_id": "PongNoFrameskip-v4"}
    torch.save({"state": state}, run / "checkpoint.pt")
    for place, words in (run, "Pong"), (folder / "none", "no checkpoint"):
        monkeypatch.setattr(sys, "argv", ["agent.py", str(place)])
        with pytest.raises(SystemExit) as end:
            agent.main()
        assert end.value.code == 2
        err = capsys.readouterr().err
        assert words in err
        assert err.count("\n") == 1


# ---------------------------------------------------------------------------
# The page of what was learned
# ---------------------------------------------------------------------------


def test_the_page_says_what_the_data_say(folder, monkeypatch):
    results = folder / "measure/results"
    ran = {
        "processor": "AMD EPYC",
        "cores": 2,
        "python": "3.11.7",
        "versions": {"torch": "2.13.0"},
        "date": "2026-11-20",
        "threads": 1,
        "bfloat16": True,
        "games": 8,
    }
    scores = {"served": [40.0, 50.0], "alone": [1.0, 2.0]}
    film = {"seed": 4, "reward": 44.0, "length": 9}
    about = {"steps": 2000, "seconds": {"games": 7200.0}, "scores": scores}
    about |= {"film": film, "note": ""}
    publish.write(results / "agent.json", ran | about)
    # games, network, learning: twice and thrice as fast; games alone 4 times
    rounds = [
        {"games": [1.0, 1.0, 2.0], "wrappers": [4.0, 1.0, 3.0]},
        {"games": [1.0, 1.0, 2.0], "wrappers": [4.0, 1.0, 7.0]},
        {"games": [1.0, 1.0, 2.0], "wrappers": [4.0, 1.0, 11.0]},
    ]
    notes = {"share": ran | {"rounds": rounds}, "learn games 0": ran}
    publish.write(results / "training.json", notes)
    publish.write(results / "labml.json", ran)
    (results / "agent.csv").write_text("steps,score\n1000,1\n2000,30\n")
    (results / "labml.csv").write_text("steps,seconds,reward\n9,3600,5\n")
    lines = ["env_id,side,seed,steps,score"]
    for side, last in ("games", 100), ("wrappers", 90):
        for seed in 0, 1:
            lines.append(f"KrullNoFrameskip-v4,{side},{seed},500,10")
            lines.append(
                f"KrullNoFrameskip-v4,{side},{seed},900,{last + seed}"
            )
    (results / "training.csv").write_text("\n".join(lines) + "\n")
    (folder / "README.md").write_text("<!-- agent --> <!-- /agent -->")
    monkeypatch.setattr(sys, "argv", ["curves.py"])
    curves.main()
    readme = (folder / "README.md").read_text()
    assert "trained: 44 points, where 45.0 are its mean of 2 games" in readme
    page = " ".join((folder / "docs/learning.md").read_text().split())
    for words in (
        "2,000 steps, which are 8,000 frames",
        "in 2.0 hours",
        "the mean is higher than the 31.8",
        "| 45.0 | 40–50 |",
        "| 1.5 | 1–2 |",
        "brought 44 points",
        "3.00 (2.00–4.00) times as fast",
        "the games alone 4.00 (4.00–4.00) times",
        "| `Games` | 1.00 s (25%) | 1.00 s (25%) | 2.00 s (50%) | 4.00 s |",
        "it took 2.00 to 11.00 s on either is chance",
        "Krull, after 900 steps",
        "| `Games` | 100 | 100, 101 |",
        "| CleanRL's wrappers | 90 | 90, 91 |",
        "there 3.00 times as fast",
        "there 4.00 times as fast, which is a model",
        "With 2 seeds the two sides' ranges don't overlap.",
        "9 steps of Breakout in 1.0 hours",
    ):
        assert words in page
    assert "<svg" in (folder / "docs/learning.svg").read_text()
