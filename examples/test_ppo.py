"""Tests of ppo.py."""

import contextlib
import csv
import functools
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from unittest import mock

import cv2
import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing import event_accumulator

import ppo
from game import Games

RUN = pathlib.Path("run")
CHECKPOINT = RUN / "checkpoint.pt"
UPDATE = 32  # steps: 16 of each of 2 games
SHORT = "--games 2 --rollout 16 --save-every 2 --device cpu --threads 1"
PLAIN = ppo.Settings()
# Windows has no SIGHUP.
SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run the program in an empty folder; return the lines that it prints."""
    monkeypatch.setattr(ppo, "PUBLISHED", tmp_path / "breakout.pt")
    monkeypatch.chdir(tmp_path)
    # Whatever the shell ignores.
    handlers = {
        number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS
    }

    def run(command):
        argv = f"ppo.py {SHORT} {command}".split()
        monkeypatch.setattr(sys, "argv", argv)
        with contextlib.suppress(SystemExit):
            ppo.main()
        return "".join(capsys.readouterr()).splitlines()

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def run_here(run):
    """The same, with the run in RUN."""
    return lambda command: run(f"--folder {RUN} {command}")


def read_curve():
    with (RUN / "curve.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def on_the_board():
    """What TensorBoard shows: steps and values, by their names."""
    board = event_accumulator.EventAccumulator(str(RUN))
    board.Reload()
    return {
        name: [(each.step, each.value) for each in board.Scalars(name)]
        for name in board.Tags()["scalars"]
    }


def saved_steps():
    return torch.load(CHECKPOINT)["state"]["steps"]


# Training


def test_a_run_leaves_a_curve_a_board_and_checkpoints(run_here, monkeypatch):
    # A game is over within 25 steps, two updates.
    short = functools.partial(Games, max_num_frames_per_episode=100)
    monkeypatch.setattr(ppo, "Games", short)
    run_here("--steps 150 --keep-every 100")
    rows = read_curve()
    # after every other update, and after the last
    assert [row["steps"] for row in rows] == ["64", "128", "160"]
    board = on_the_board()
    assert board.keys() >= rows[0].keys() - {"steps"}
    for name in rows[0].keys() - {"steps"}:
        shown = [(int(row["steps"]), float(row[name])) for row in rows]
        assert board[name] == [
            (step, pytest.approx(value, rel=1e-4)) for step, value in shown
        ]
    for row in rows:
        assert 0 < float(row["entropy"]) <= 1.387
        assert 15 < float(row["length"]) < 26
    kept = torch.load(RUN / "checkpoint-128.pt")
    assert kept["state"]["steps"] == 128
    assert saved_steps() == 160

    # It isn't overwritten.
    before = CHECKPOINT.read_bytes()
    assert "--resume" in run_here("--steps 32")[-1]
    assert CHECKPOINT.read_bytes() == before


def test_no_score_is_no_number(run_here):
    """A game of Tennis may be a draw, so that 0 would be a score."""
    run_here("TennisNoFrameskip-v4 --steps 64")
    (row,) = read_curve()
    assert (row["score"], row["length"]) == ("", "")
    assert "score" not in on_the_board()


def test_runs_never_meet_and_resume_takes_the_newest(run):
    """Of its title and seed."""
    for command in ("--seed 5", "PongNoFrameskip-v4", "PongNoFrameskip-v4"):
        run(f"{command} --steps 32")
    names = [path.parent.name for path in ppo.RUNS.glob("*/checkpoint.pt")]
    assert len(names) == 3
    *_, newest = sorted(names)
    assert newest.startswith("PongNoFrameskip-v4-0-")
    pong = "PongNoFrameskip-v4 --resume"
    assert any(newest in line for line in run(f"{pong} --steps 64"))
    (other,) = ppo.RUNS.glob("BreakoutNoFrameskip-v4-5-*")
    lines = run("--seed 5 --resume --steps 64")
    assert any(str(other) in line for line in lines)
    line = run("--seed 6 --resume")[-1]
    assert "there is no run" in line


def test_resuming_restores_all_but_the_games(run):
    """The score, too: the mean of the last hundred whole games."""
    figures = {"kl": 0.5, "policy_loss": 0.0}

    def begin(resume):
        settings = ppo.Settings(folder=RUN, resume=resume, save_every=1)
        with settings.make_games(1, processes=0) as games:
            return ppo.Run(settings, *ppo.make_agent(settings, games))

    first = begin(resume=False)
    torch.rand(5, generator=first.random)
    first.add(UPDATE, [ppo.Ended(1, 9)] * 80, figures, False)
    first.add(UPDATE, [ppo.Ended(2, 9)] * 60, figures, True)
    saved = torch.load(CHECKPOINT)
    second = begin(resume=True)
    for part, name in (
        (second.agent, "weights"),
        (second.optimizer, "optimizer"),
    ):
        torch.testing.assert_close(
            part.state_dict(), saved[name], rtol=0, atol=0
        )
    assert second.random.get_state().equal(saved["random"])
    assert second.seconds == first.seconds > 0
    second.add(UPDATE, [ppo.Ended(5, 9)] * 10, figures, True)
    scores = [float(row["score"]) for row in read_curve()]
    means = (40 * 1 + 60 * 2) / 100, (30 + 60 * 2 + 10 * 5) / 100
    assert scores == [1, *means]


def test_going_back_to_a_kept_checkpoint_leaves_no_later_rows(run_here):
    run_here("--steps 192 --keep-every 64")
    kept = RUN / "checkpoint-64.pt"
    shutil.copy(kept, CHECKPOINT)
    lines = run_here("--resume --steps 96")
    assert [row["steps"] for row in read_curve()] == ["64", "96"]
    assert [step for step, _ in on_the_board()["kl"]] == [64, 96]
    # The rate falls another way from here on.
    assert any("learning rate" in line for line in lines)


def test_a_program_with_other_figures_loses_no_row(run_here, monkeypatch):
    """One more figure, in front of the others, and one less."""
    run_here("--steps 64")
    learn = ppo.learn

    def learn_and_more(*args):
        figures = learn(*args)
        del figures["kl"]
        return {"norm": np.float64(2.5)} | figures

    monkeypatch.setattr(ppo, "learn", learn_and_more)
    run_here("--resume --steps 128")
    monkeypatch.setattr(ppo, "learn", learn)
    run_here("--resume --steps 192")
    rows = read_curve()
    assert [row["steps"] for row in rows] == ["64", "128", "192"]
    assert [row["norm"] for row in rows] == ["", "2.5", ""]
    assert [row["kl"] == "" for row in rows] == [False, True, False]
    for row in rows:
        assert 0 < float(row["entropy"]) <= 1.387


def test_a_run_goes_on_with_the_settings_that_it_was_begun_with(run_here):
    command = "--steps 32 --stack 2 --size 64 48 --no-grayscale --gamma 0.5 "
    run_here(command + "--action-repeat 3 --on-life-loss ignore")
    run_here("--resume --steps 64 --clip 0.3")
    settings = json.loads((RUN / "settings.json").read_text())
    assert settings["gamma"] == 0.5
    assert settings["clip"] == 0.3
    assert settings["action_repeat"] == 3
    saved = torch.load(CHECKPOINT)
    assert saved["state"]["steps"] == 64
    # Two pictures of three colors each.
    assert saved["weights"]["body.0.weight"].shape[1] == 6
    run_here("--film")
    assert cv2.VideoCapture(str(RUN / "film.mp4")).read()[0]


def in_first_update(monkeypatch, action):
    """Have something happen while the first update is learned from."""
    learn = ppo.learn

    def act_and_learn(*args):
        action()
        monkeypatch.setattr(ppo, "learn", learn)
        return learn(*args)

    monkeypatch.setattr(ppo, "learn", act_and_learn)


def test_a_killed_worker_is_told_and_the_training_goes_on(
    run_here, monkeypatch
):
    def kill():
        multiprocessing.active_children()[0].kill()

    in_first_update(monkeypatch, kill)
    with pytest.warns(RuntimeWarning, match="SIGKILL") as warnings:
        run_here("--steps 128")
    assert len(warnings) == 1
    assert saved_steps() == 128


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_update_and_leaves_it_to_be_resumed(
    run_here, monkeypatch, number
):
    in_first_update(monkeypatch, lambda: os.kill(os.getpid(), number))
    run_here("--steps 128")
    assert saved_steps() == UPDATE
    assert signal.getsignal(number) == signal.SIG_DFL
    # Where it ends is part of the run.
    run_here("--resume")
    assert saved_steps() == 128
    # The rate that the last update had: the fourth of four.
    rate = torch.load(CHECKPOINT)["optimizer"]["param_groups"][0]["lr"]
    assert rate == pytest.approx(PLAIN.learning_rate / 4)


@pytest.mark.skipif(len(SIGNALS) < 3, reason="there is no nohup")
def test_nohup_outlives_the_terminal(run_here, monkeypatch):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    in_first_update(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGHUP))
    run_here("--steps 64")
    assert saved_steps() == 64


# An update that takes long, in which a signal comes twice.
LONG = f"""
import pathlib, sys, time
sys.path.append({str(pathlib.Path(__file__).parent)!r})
import ppo

def learn(*_):
    pathlib.Path("learning").touch()
    time.sleep(1000)

ppo.learn = learn
ppo.main()
"""


@pytest.mark.parametrize("number", SIGNALS[:2])
def test_a_second_signal_ends_it_at_once(run, number):
    command = [sys.executable, "-c", LONG, *SHORT.split()]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    with process as program:
        until = time.monotonic() + 120
        while not pathlib.Path("learning").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        program.send_signal(number)
        # "ends after this update"
        while b"ends after" not in program.stderr.readline():
            assert program.poll() is None
        program.send_signal(number)
        assert program.wait(60) == -number


def test_it_trains_in_a_thread_with_numbers_of_other_libraries(run_here):
    """What is saved can be read again."""
    settings = ppo.Settings(
        seed=np.int64(3),
        steps=np.int64(32),
        learning_rate=np.float32(1e-3),
        gamma=torch.tensor(0.5),
        size=np.array([64, 48]),
        games=2,
        rollout=16,
        folder=RUN,
        device="cpu",
        threads=1,
        processes=0,
    )
    thread = threading.Thread(target=ppo.train, args=[settings])
    thread.start()
    thread.join()
    run_here("--seed 3 --resume --steps 64")
    assert saved_steps() == 64
    kept = json.loads((RUN / "settings.json").read_text())
    assert (kept["gamma"], kept["size"]) == (0.5, [64, 48])


def test_a_minibatch_of_one_sample_is_learned_from(run_here):
    run_here("--rollout 17 --minibatch 33 --steps 34")
    weights = torch.load(CHECKPOINT)["weights"]
    assert all(weight.isfinite().all() for weight in weights.values())


@pytest.mark.parametrize("fault", ["loss", "weight"])
def test_numbers_that_are_not_finite_replace_no_checkpoint(
    run_here, monkeypatch, fault
):
    """Also if the loss or a weight alone isn't finite."""
    run_here("--steps 64")
    before = CHECKPOINT.read_bytes()
    learn = ppo.learn

    def learn_badly(agent, *others):
        figures = learn(agent, *others)
        if fault == "loss":
            figures["value_loss"] = float("inf")
        if fault == "weight":
            torch.nn.init.constant_(agent.value.bias, np.nan)
        return figures

    monkeypatch.setattr(ppo, "learn", learn_badly)
    line = run_here("--resume --steps 128")[-1]
    assert "finite since step" in line
    assert "those of 64" in line
    assert CHECKPOINT.read_bytes() == before
    monkeypatch.setattr(ppo, "learn", learn)
    run_here("--resume --steps 128")
    assert saved_steps() == 128


def test_a_full_disk_leaves_the_last_checkpoint(run_here, monkeypatch):
    run_here("--steps 64")
    write_bytes = pathlib.Path.write_bytes

    def write_half(path, data):
        if not path.name.startswith("curve.csv"):
            return write_bytes(path, data)
        write_bytes(path, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pathlib.Path, "write_bytes", write_half)
    line = run_here("--resume --steps 128")[-1]
    assert "No space left" in line and str(RUN) in line
    monkeypatch.setattr(pathlib.Path, "write_bytes", write_bytes)
    assert not list(RUN.glob("*.new"))
    run_here("--resume --steps 192")
    assert saved_steps() == 192
    assert read_curve()[-1]["steps"] == "192"


@pytest.mark.parametrize("name", ["checkpoint.pt", "settings.json"])
def test_a_file_that_is_cut_in_half_is_named(run_here, name):
    run_here("--steps 64 --keep-every 64")
    path = RUN / name
    path.write_bytes(path.read_bytes()[:100])
    line = run_here("--resume")[-1]
    assert f"{path} can't be read" in line
    if path == CHECKPOINT:
        assert str(RUN / "checkpoint-64.pt") in line


@pytest.mark.parametrize(
    "title",
    [
        "ALE/Backgammon-v5",  # has no NOOP
        "ALE/Pong-v5 --repeat-action-probability 0 --stack 1",
    ],
)
def test_other_games_train(run_here, title):
    run_here(f"{title} --steps 64")
    assert saved_steps() == 64


# Evaluation and film


def test_published_weights_play_whole_games_in_both_ways(run):
    torch.save(ppo.Agent(4).half().state_dict(), "breakout.pt")
    first, *lines = run("--evaluate --whole-games 2")
    assert first == f"weights: {pathlib.Path.cwd()}/breakout.pt"
    assert len(lines) == 6
    for one, other, mean in (lines[:3], lines[3:]):
        points = [int(line.split()[2]) for line in (one, other)]
        assert f": mean {np.mean(points):.1f} ({min(points)} to" in mean
    # Not for another title.
    assert "train it first" in run("PongNoFrameskip-v4 --evaluate")[-1]


def test_each_game_is_played_once_and_then_rests():
    """The second ends before the others do."""
    scores = [{1: 20}, {0: 12}, {2: 33}]
    obs = np.zeros((3, 4, 84, 84), np.uint8)
    actions = []

    def step(chosen):
        actions.append(chosen)
        ended = scores[len(actions) - 1]
        mask = np.isin(range(3), list(ended))
        points = np.array([ended.get(i, 0.0) for i in range(3)])
        infos = {"_episode": mask, "episode": {"r": points, "l": points}}
        return obs, None, None, None, infos

    games = mock.Mock(num_envs=3, step=step)
    games.reset.return_value = obs, {}
    assert ppo.whole_games(ppo.Agent(4), games, 0) == [12, 20, 33]
    rests = [[action is None for action in row] for row in actions]
    assert rests == [
        [False, False, False],
        [False, True, False],
        [True, True, False],
    ]


def test_the_film_is_one_whole_game(run_here):
    run_here("--steps 32")
    assert "game 0: " in run_here("--film")[-2]
    film = cv2.VideoCapture(str(RUN / "film.mp4"))
    pictures = []
    while (picture := film.read()[1]) is not None:
        pictures.append(picture[::2, ::2, ::-1])
    agent = ppo.Agent(4)
    agent.load_state_dict(torch.load(CHECKPOINT)["weights"])
    screens = []
    with Games(1, processes=0, clip_reward=False) as games:
        ppo.whole_games(agent, games, 0, screens.append)
    assert len(pictures) == len(screens) > 10
    for picture, screen in zip(pictures, screens, strict=True):
        assert np.abs(picture - screen.astype(float)).mean() < 4


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("--evaluate --seed 1", "can't be read"),
        ("CartPole-v1", "CartPole"),
        ("--games 0", "--games"),
        ("--size 20 20", "Kernel size"),
        ("--processes -1", "processes"),
        ("--gamma 1.01", "--gamma"),
        ("--max-gradient nan", "--max-gradient"),
        ("--repeat-action-probability 2", "--repeat-action-probability"),
    ],
)
def test_wrong_input_ends_in_a_line(run, tmp_path, command, words):
    line = run(command)[-1]
    assert line.startswith("ppo.py: error: ")
    assert words in line
    assert not list(tmp_path.iterdir())


# What is learned


def test_advantages_worked_out_by_hand():
    """Three games: one that goes on, one that terminates, one truncated."""
    settings = ppo.Settings(gamma=0.5, gae_lambda=0.5)
    on, over = [0, 0, 0], [0, 1, 0]
    # a row for each game here, a column in the function
    rewards = [[1, 0, 2]] * 3
    terminated, truncated = [on, over, on], [on, on, over]
    values, final_values = [[4, 8, 2]] * 3, [on, on, [0, 6, 0]]
    table = [rewards, terminated, truncated, final_values]
    result = ppo.advantages(
        torch.tensor(table).permute(2, 0, 1).float(),
        torch.tensor(values).T.float(),
        torch.tensor([4.0, 4.0, 4.0]),
        settings,
    )
    # Step 2: 2 + 4/2 - 2 = 2 for all.
    # Step 1: errors 0 + 2/2 - 8 = -7, 0 - 8 = -8 and 0 + 6/2 - 8 = -5; to the
    # first alone comes 1/4 of step 2, so -6.5.
    # Step 0: error 1 + 8/2 - 4 = 1 for all, and 1/4 of step 1.
    expected = [[-0.625, -6.5, 2], [-1, -8, 2], [-0.25, -5, 2]]
    assert result.T.tolist() == expected


def test_a_game_cut_off_is_worth_what_its_last_observation_is():
    """The first of two; the other goes on."""
    agent = ppo.Agent(4)
    shape = 3, 2, 4, 84, 84
    pictures = np.random.default_rng(0).integers(256, size=shape)
    before, last, after = pictures.astype(np.uint8)
    zeros, cut_off = np.zeros(2), np.array([True, False])
    games = mock.Mock(num_envs=2)
    infos = {"final_obs": last}
    games.reset.return_value = before, {}
    games.step.return_value = after, zeros, zeros, cut_off, infos
    settings = ppo.Settings(rollout=1)
    batch, _ = ppo.Player(agent, games, settings, seed=0).play()
    following = torch.as_tensor(np.stack([last[0], after[1]]))
    expected = settings.gamma * agent(following)[1] - batch.values
    torch.testing.assert_close(batch.gains, expected)


def test_actions_are_sampled_as_often_as_they_are_likely():
    player = ppo.Player(
        ppo.Agent(3),
        mock.MagicMock(**{"reset.return_value": (None, {})}),
        PLAIN,
        seed=0,
    )
    probs = torch.tensor([0.2, 0.5, 0.3])
    policy = torch.distributions.Categorical(probs.expand(20_000, 3))
    counts = player.sample(policy).bincount() / 20_000
    torch.testing.assert_close(counts, probs, rtol=0, atol=0.015)


def random_batch():
    """What nobody has played: 64 steps."""
    torch.manual_seed(0)
    obs = torch.randint(256, (64, 4, 84, 84), dtype=torch.uint8)
    actions = torch.randint(4, (64,))
    return ppo.Batch(obs, actions, *torch.randn(3, 64))


def test_figures_of_an_agent_that_does_not_move():
    """As they are defined, from an update whose rate is 0."""
    settings = ppo.Settings(minibatch=16)
    agent = ppo.Agent(4)
    optimizer = torch.optim.SGD(agent.parameters(), 0.0)
    batch = random_batch()
    with torch.no_grad():
        policy, _ = agent(batch.obs)
        now = policy.log_prob(batch.actions)
    # Twice as likely before, for every other action.
    batch = batch._replace(log_probs=now + np.log(2) * (torch.arange(64) % 2))
    figures = ppo.learn(agent, optimizer, batch, settings, torch.Generator())
    assert figures["entropy"] == pytest.approx(policy.entropy().mean().item())
    assert figures["clip_fraction"] == 0.5
    # the mean of r - 1 - log r, where r is 1 or 1/2
    assert figures["kl"] == pytest.approx((np.log(2) - 0.5) / 2, abs=1e-4)
    errors, returns = batch.gains, batch.gains + batch.values
    expected = 1 - (errors.var() / returns.var()).item()
    assert figures["explained_variance"] == pytest.approx(expected)
    assert figures["learning_rate"] == 0


class Pictures:
    """A vector of games: the action that pays is the picture that is lit."""

    num_envs = 8

    def reset(self, seed=None):
        self.bright = np.random.randint(4, size=self.num_envs)
        obs = np.zeros((self.num_envs, 4, 84, 84), np.uint8)
        obs[range(self.num_envs), self.bright] = 200
        return obs, {}

    def step(self, actions):
        rewards = (actions == self.bright).astype(float)
        over = np.ones(self.num_envs, bool)
        return self.reset()[0], rewards, over, ~over, {}


@pytest.mark.parametrize("bfloat16", [False, True])
def test_it_learns_which_action_pays(bfloat16):
    settings = ppo.Settings(rollout=16)
    torch.manual_seed(0)
    np.random.seed(0)
    agent = ppo.Agent(4, bfloat16)
    optimizer = torch.optim.Adam(agent.parameters(), settings.learning_rate)
    games = Pictures()
    player = ppo.Player(agent, games, settings, seed=0)
    wins = []
    for _ in range(8):
        batch, _ = player.play()
        ppo.learn(agent, optimizer, batch, settings, player.random)
        policy, _ = agent(torch.as_tensor(player.obs))
        wins.append(policy.probs[range(8), games.bright].mean().item())
    assert wins[0] < 0.5
    assert wins[-1] > 0.8
