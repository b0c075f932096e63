"""Tests of ppo.py and training_run.py."""

import contextlib
import csv
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import time
from unittest import mock

import numpy as np
import pytest
import torch
from PIL import Image
from tensorboard.backend.event_processing import event_accumulator

import ppo
import training_run
from game import Game, Games

RUN = pathlib.Path("runs/BreakoutNoFrameskip-v4-0")
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
    monkeypatch.setattr(training_run, "PUBLISHED", tmp_path / "breakout.pt")
    monkeypatch.chdir(tmp_path)
    # Whatever the shell ignores.
    handlers = {
        number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS
    }

    def run(command):
        argv = f"ppo.py {SHORT} {command}".split()
        monkeypatch.setattr(sys, "argv", argv)
        with contextlib.suppress(SystemExit):
            training_run.main(ppo.__doc__, ppo.Settings, ppo.train, ppo.load)
        return "".join(capsys.readouterr()).splitlines()

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@contextlib.contextmanager
def another_program(*command):
    """Start a program; kill it at the end, if it is still there."""
    process = subprocess.Popen([sys.executable, *command])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_until(condition):
    """Wait, for as long as a busy machine may need."""
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


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


# Training


def test_a_run_leaves_a_curve_a_board_and_checkpoints(run):
    # A game is over within 25 steps, two updates.
    run("--steps 150 --keep-every 100 --max-num-frames-per-episode 100")
    rows = read_curve()
    # after every other update, and after the last
    assert [row["steps"] for row in rows] == ["64", "128", "160"]
    board = on_the_board()
    assert rows[0].keys() - board.keys() == {"steps"}
    for name, points in board.items():
        shown = [(int(row["steps"]), float(row[name])) for row in rows]
        assert points == [
            (step, pytest.approx(value, rel=1e-4)) for step, value in shown
        ]
    for row in rows:
        assert 0 < float(row["entropy"]) <= 1.387
        assert 15 < float(row["length"]) < 26
    kept = torch.load(RUN / "checkpoint-128.pt")
    assert kept["state"]["steps"] == 128
    assert torch.load(CHECKPOINT)["state"]["steps"] == 160

    # It isn't overwritten.
    before = CHECKPOINT.read_bytes()
    assert "--resume" in run("--steps 32")[-1]
    assert CHECKPOINT.read_bytes() == before


def test_no_score_is_no_number(run):
    """A game of Tennis may be a draw, so that 0 would be a score."""
    run("TennisNoFrameskip-v4 --steps 64 --folder " + str(RUN))
    (row,) = read_curve()
    assert (row["score"], row["length"]) == ("", "")
    assert "score" not in on_the_board()


def test_resuming_restores_all_but_the_games(run):
    """The score, too: the mean of the last hundred whole games."""
    agent, optimizer = ppo.make_agent(PLAIN, 4, (4, 84, 84))
    parts = {"weights": agent, "optimizer": optimizer}
    with training_run.Run(PLAIN, ["games"], **parts) as first:
        first.seconds["games"] = 1.0
        torch.rand(5, generator=first.random)
        first.add(UPDATE, [training_run.Ended(1, 9)] * 80, {"kl": 0.5})
        first.add(UPDATE, [training_run.Ended(2, 9)] * 60, {"kl": 0.25})
    saved = torch.load(CHECKPOINT)

    settings = ppo.Settings(
        here=training_run.Here(resume=True, checkpoint=CHECKPOINT)
    )
    agent, optimizer = ppo.make_agent(settings, 4, (4, 84, 84))
    parts = {"weights": agent, "optimizer": optimizer}
    with training_run.Run(settings, ["games"], **parts) as second:
        for name, part in parts.items():
            torch.testing.assert_close(
                part.state_dict(), saved[name], rtol=0, atol=0
            )
        assert second.random.get_state().equal(saved["random"])
        assert second.seconds == {"games": 1.0}
        second.seconds["games"] = 2.0
        second.add(UPDATE, [training_run.Ended(5, 9)] * 10, {"kl": 0.25})
    before, after = (40 * 1 + 60 * 2) / 100, (30 + 60 * 2 + 10 * 5) / 100
    scores = [float(row["score"]) for row in read_curve()]
    assert scores == [before, after]


def test_going_back_to_a_kept_checkpoint_leaves_no_later_rows(run):
    run("--steps 192 --keep-every 64")
    kept = RUN / "checkpoint-64.pt"
    run(f"--resume --checkpoint {kept} --steps 96")
    assert [row["steps"] for row in read_curve()] == ["64", "96"]
    assert [step for step, _ in on_the_board()["kl"]] == [64, 96]


def test_a_run_goes_on_with_the_settings_that_it_was_begun_with(run):
    command = "--steps 32 --stack 2 --size 64 48 --no-grayscale --gamma 0.5 "
    run(command + "--action-repeat 3 --on-life-loss ignore")
    run("--resume --steps 64 --clip 0.3")
    saved = torch.load(CHECKPOINT)
    settings = saved["settings"]
    assert settings["gamma"] == 0.5
    assert settings["clip"] == 0.3
    assert settings["game"]["action_repeat"] == 3
    assert saved["state"]["steps"] == 64
    # Two pictures of three colours each.
    assert saved["weights"]["body.0.weight"].shape[1] == 6
    run("--film")
    with Image.open(RUN / "film.webp") as film:
        assert film.n_frames > 10


def in_first_update(monkeypatch, action):
    """Have something happen while the first update is learned from."""
    learn = ppo.learn

    def act_and_learn(*args):
        action()
        monkeypatch.setattr(ppo, "learn", learn)
        return learn(*args)

    monkeypatch.setattr(ppo, "learn", act_and_learn)


def test_a_killed_worker_is_told_and_the_training_goes_on(run, monkeypatch):
    def kill():
        multiprocessing.active_children()[0].kill()

    in_first_update(monkeypatch, kill)
    with pytest.warns(RuntimeWarning, match="SIGKILL") as warnings:
        run("--steps 128")
    assert len(warnings) == 1
    assert torch.load(CHECKPOINT)["state"]["steps"] == 128


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_update_and_leaves_it_to_be_resumed(
    run, monkeypatch, number
):
    in_first_update(monkeypatch, lambda: os.kill(os.getpid(), number))
    run("--steps 128")
    assert torch.load(CHECKPOINT)["state"]["steps"] == UPDATE
    # Where it ends is part of the run.
    run("--resume")
    saved = torch.load(CHECKPOINT)
    assert saved["state"]["steps"] == 128
    # The rate that the last update had: the fourth of four.
    rate = saved["optimizer"]["param_groups"][0]["lr"]
    assert rate == pytest.approx(PLAIN.learning_rate / 4)


@pytest.mark.skipif(len(SIGNALS) < 3, reason="there is no nohup")
def test_nohup_outlives_the_terminal(run, monkeypatch):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    in_first_update(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGHUP))
    run("--steps 64")
    assert torch.load(CHECKPOINT)["state"]["steps"] == 64


# An update that takes long, in which a signal comes twice.
LONG = f"""
import pathlib, sys, time
sys.path.append({str(pathlib.Path(__file__).parent)!r})
import ppo

def learn(*_):
    pathlib.Path("learning").touch()
    time.sleep(1000)

ppo.learn = learn
ppo.main(ppo.__doc__, ppo.Settings, ppo.train, ppo.load)
"""


@pytest.mark.parametrize("number", SIGNALS[:2])
def test_a_second_signal_ends_it_at_once(run, number):
    with another_program("-c", LONG, *SHORT.split()) as program:
        wait_until(pathlib.Path("learning").exists)
        for _ in range(2):
            program.send_signal(number)
            time.sleep(1)  # else the system may make one of them
        assert program.wait(60) == -number


def test_a_folder_belongs_to_one_run_and_a_killed_one_can_be_resumed(run):
    with another_program(ppo.__file__, *SHORT.split()) as program:
        wait_until(CHECKPOINT.exists)
        assert str(RUN) in run("--resume")[-1]
        assert program.poll() is None
        program.kill()
    # What it wrote to last may be half a row.
    steps = torch.load(CHECKPOINT)["state"]["steps"]
    run(f"--resume --steps {steps + 1}")
    assert torch.load(CHECKPOINT)["state"]["steps"] == steps + UPDATE
    counts = [int(row["steps"]) for row in read_curve()]
    assert counts == sorted(set(counts))


@pytest.mark.parametrize(
    "title",
    [
        "ALE/Backgammon-v5",  # has no NOOP
        "PongNoFrameskip-v4 --full-action-space --stack 1 --no-clip-reward",
        "ALE/Pong-v5 --repeat-action-probability 0 --mode 1 --difficulty 2",
    ],
)
def test_other_games_train(run, title):
    run(f"{title} --steps 64 --folder {RUN}")
    assert torch.load(CHECKPOINT)["state"]["steps"] == 64


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


def test_only_the_first_game_of_each_counts(monkeypatch):
    """The second ends three times before the others end once."""
    ended = [{1: 20}, {1: 21}, {0: 12, 1: 22}, {2: 33}]
    obs = np.zeros((3, 4, 84, 84), np.uint8)
    games = mock.Mock(num_envs=3)
    games.reset.return_value = obs, {}
    games.step.side_effect = [(obs, scores) for scores in ended]
    monkeypatch.setattr(
        training_run,
        "ended_games",
        lambda infos: {
            i: training_run.Ended(score, 9) for i, score in infos.items()
        },
    )
    scores = training_run.whole_games(lambda obs: obs[:, 0, 0, 0], games, 0)
    assert scores == [12, 20, 33]


def test_the_film_is_one_whole_game(run):
    run("--steps 32")
    assert "game 0: " in run("--film")[-2]
    with Image.open(RUN / "film.webp") as film:
        count = film.n_frames
        first = np.asarray(film.convert("RGB"))
        film.seek(count - 1)
        last = np.asarray(film.convert("RGB"))
    assert count > 10
    # Each pixel became four, and nothing was lost.
    agent = ppo.Agent(4)
    agent.load_state_dict(torch.load(CHECKPOINT)["weights"])
    screens = []
    with Games(1, processes=0, clip_reward=False) as games:
        training_run.whole_games(
            lambda obs: agent(obs)[0].sample(), games, 0, show=screens.append
        )
    assert (first[::2, ::2] == screens[0]).all()
    assert (last[::2, ::2] == screens[-1]).all()


@pytest.mark.skipif(
    not pathlib.Path("/proc/self/statm").exists(), reason="can't be seen"
)
def test_a_long_film_needs_no_more_memory_than_a_short_one(tmp_path):
    def used():
        pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    screen = Game(0).render()
    with training_run.Film(tmp_path / "film.webp") as film:
        film.add(screen)
        before = used()
        for i in range(300):
            screen = screen.copy()
            screen[100, i % 160] += 90
            film.add(screen)
        # All of them, enlarged, would be 120 MB.
        assert used() - before < 30e6


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("--evaluate", "train it first"),
        ("BreakoutNoFrameskip-v3", "BreakoutNoFrameskip-v4"),
        ("CartPole-v1", "CartPole"),
        ("--games 0", "--games"),
        ("--stack 0", "stack"),
        ("--size 20 20", "--size"),
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
    table = rewards, terminated, truncated, final_values, values
    table = [torch.tensor(each).T.float() for each in table]
    result = ppo.advantages(*table, torch.tensor([4.0, 4.0, 4.0]), settings)
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
