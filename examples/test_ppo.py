"""Tests of ppo.py: what it learns, and how it trains."""

import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
from unittest import mock

import numpy as np
import pytest
import torch

import ppo
import run
from game import TRAINING, Game

FOLDER = pathlib.Path("run")
SHORT = "--games 2 --rollout 16 --minibatch 16 --epochs 1 --device cpu"


@pytest.fixture
def train(start):
    """Train in an empty folder, in this program."""
    words = ["--folder", FOLDER, *SHORT.split()]
    return lambda command: start(ppo.main, *words, *command.split())


def saved(folder=FOLDER):
    return torch.load(folder / "checkpoint.pt")


def saved_steps():
    return saved()["progress"]["steps"]


# What is asked of a training while it goes


def test_a_group_is_asked_to_end_and_the_same_command_goes_on(train):
    command = [sys.executable, ppo.__file__, "--folder", FOLDER]
    program = subprocess.Popen(
        [*command, *SHORT.split(), "--processes", "1"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while "steps/s" not in program.stdout.readline():
        assert program.poll() is None
    os.killpg(program.pid, signal.SIGTERM)
    # It returns when no process of the group can print any more.
    program.communicate(timeout=600)
    assert program.returncode == 75
    steps = saved_steps() + 32
    train(f"--steps {steps} --processes 1")
    assert saved_steps() == steps


def test_other_actions_are_refused_in_a_continued_run(train):
    train("--steps 32 --processes 0")
    with pytest.raises(run.RunError, match="full_action_space is True now"):
        train("--full-action-space --steps 64 --processes 0")


@pytest.mark.parametrize(
    "command",
    [
        "ALE/Backgammon-v5",  # has no NOOP
        "ALE/Pong-v5 --repeat-action-probability 0 --stack 1",
        "--stack 2 --size 64 48 --no-grayscale --action-repeat 3",
        # Machado et al. 2018
        "ALE/Breakout-v5 --full-action-space --on-life-loss ignore "
        "--noop-max 0 --no-fire-on-reset --action-repeat 5 "
        "--max-num-frames-per-episode 200 --mode 4 --difficulty 1",
        "--no-normalize-advantages --no-clip-values --target-kl 0",
        "--rollout 17 --minibatch 33",  # and one sample is left
        "--bfloat16",
    ],
)
def test_other_settings_train(train, command):
    train(f"{command} --steps 64 --processes 0")
    assert saved_steps() >= 64
    weights = saved()["weights"].values()
    assert all(weight.isfinite().all() for weight in weights)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("PongNoFrameskp-v4", "PongNoFrameskip"),  # the games
        ("--size 20 20", "Kernel size"),  # PyTorch
    ],
)
def test_wrong_input_ends_in_a_line(train, tmp_path, command, words):
    with pytest.raises(run.RunError, match=words):
        train(command)
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
    torch.testing.assert_close(batch.advantages, expected)


def test_losses_worked_out_by_hand():
    """Of four samples: ratios of 1.5 and of 0.5, both with either sign."""
    probs = torch.tensor([[0.6, 0.4], [0.6, 0.4], [0.5, 0.5], [0.5, 0.5]])
    batch = ppo.Batch(
        obs=torch.zeros(4),
        actions=torch.zeros(4),
        log_probs=torch.tensor([0.4, 0.4, 1.0, 1.0]).log(),
        values=torch.tensor([1.0, 1.0, 0.0, 0.0]),
        advantages=torch.tensor([2.0, -2.0, 2.0, -2.0]),
    )
    values = torch.tensor([2.0, 0.95, 2.5, 1.0])
    settings = ppo.Settings(normalize_advantages=False)
    policy = torch.distributions.Categorical(probs)
    loss, figures = ppo.losses(policy, values, batch, settings)
    # Objectives: 1.1 * 2 is less than 1.5 * 2, and -1.5 * 2 than -1.1 * 2;
    # 0.5 * 2 is less than 0.9 * 2, and -0.9 * 2 than -0.5 * 2.
    policy_loss = -(2.2 - 3.0 + 1.0 - 1.8) / 4
    # Returns are 3, -1, 2 and -2; clipped values 1.1, 0.95, 0.1 and 0.1.
    errors = 1.9**2, 1.95**2, 1.9**2, 3.0**2
    value_loss = sum(errors) / 4 / 2
    entropy = -(0.6 * np.log(0.6) + 0.4 * np.log(0.4) + np.log(0.5)) / 2
    kl = (0.5 - np.log(1.5) - 0.5 - np.log(0.5)) / 2
    expected = [policy_loss, value_loss, entropy, kl, 1.0]
    assert [each.item() for each in figures] == pytest.approx(expected)
    whole = policy_loss + 0.5 * value_loss - 0.01 * entropy
    assert loss.item() == pytest.approx(whole)
    # Variances of the advantages and of the returns: 16/3 and 17/3.
    optimizer = torch.optim.SGD([torch.zeros(1)], 0.5)
    named = ppo.summary([figures], batch, optimizer)
    assert named["explained_variance"] == pytest.approx(1 / 17, abs=1e-6)
    assert named["policy_loss"] == pytest.approx(policy_loss)
    assert named["learning_rate"] == 0.5


# An agent of one's own


TINY = dict(games=2, rollout=16, minibatch=16, epochs=1, save_every=1)
TINY |= dict(device="cpu", processes=0, folder=FOLDER)


class Curious(ppo.Agent):
    """Has one more network, dropout, and batch statistics."""

    def __init__(self, *args):
        super().__init__(*args)
        self.guess = torch.nn.Linear(4, 4)

    def make_body(self, channels):
        body = super().make_body(channels)
        return body.append(torch.nn.BatchNorm1d(3136)).append(
            torch.nn.Dropout()
        )


def make_curious(settings, games):
    agent, _ = ppo.make_agent(settings, games, Curious)
    heads = [*agent.policy.parameters(), *agent.value.parameters()]
    groups = [
        {"params": agent.body.parameters()},
        {"params": heads, "lr": 4e-4},
        {"params": agent.guess.parameters()},
    ]
    return agent, torch.optim.Adam(groups, lr=2e-4)


def train_curious(**options):
    """Train; return the rates of the groups at each update."""
    rates = []

    def learn(agent, optimizer, batch, *others):
        rates.append([group["lr"] for group in optimizer.param_groups])
        return ppo.learn(agent, optimizer, batch, *others)

    settings = ppo.Settings(**TINY | {"steps": 64} | options)
    ppo.train(settings, make_curious, learn=learn)
    return rates


def test_each_group_of_parameters_follows_the_rate(here):
    """By its own share, also if a run goes on with another rate."""
    first = train_curious(learning_rate=1e-3)
    assert first == [[1e-3, 2e-3, 1e-3], [5e-4, 1e-3, 5e-4]]
    more = train_curious(learning_rate=1e-4, steps=96, anneal=False)
    assert more == [[1e-4, 2e-4, 1e-4]]


def test_a_run_repeats_by_its_seed_and_its_threads(here):
    """So does what its agent has besides."""
    made = []
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        # whatever was drawn and set before
        torch.rand(len(made) + 1)
        torch.set_num_threads(len(made) + 1)
        path = pathlib.Path(folder)
        train_curious(threads=1, seed=seed, folder=path)
        made.append(saved(path)["weights"])
    one, same, other = made
    assert all(one[name].equal(same[name]) for name in one)
    assert not one["guess.weight"].equal(other["guess.weight"])


def test_an_agent_plays_and_is_judged_in_eval_mode_and_learns_in_train(here):
    seen = []

    class Watched(Curious):
        def look(self, scaled):
            seen.append((len(scaled), self.training, self.body[-1].training))
            return super().look(scaled)

    def make_agent(settings, games):
        return ppo.make_agent(settings, games, Watched)

    settings = ppo.Settings(**TINY, steps=32)
    with settings.make_games(2, processes=0) as games:
        agent, _ = make_agent(settings, games)
        means = agent.body[7].running_mean
        # The picture by which it finds its size was no picture of the game.
        assert not means.any() and agent.training
    ppo.train(settings, make_agent)
    assert {(False, False)} == {each[1:] for each in seen if each[0] == 2}
    assert {(True, True)} == {each[1:] for each in seen if each[0] == 16}

    path = FOLDER / "checkpoint.pt"
    agent, _ = ppo.restore(saved(), path, "cpu", ppo.Settings, make_agent)
    assert not any(module.training for module in agent.modules())
    act, _ = ppo.load(saved(), path, "cpu", make_agent=make_agent)
    seen.clear()
    act(np.zeros((3, 4, 84, 84), np.uint8), np.ones(3, bool))
    assert seen == [(3, False, False)]


def test_it_trains_in_a_thread(here):
    settings = ppo.Settings(**TINY, steps=32)
    thread = threading.Thread(target=ppo.train, args=[settings])
    thread.start()
    thread.join()
    assert saved_steps() == 32


@pytest.mark.parametrize("folder", [".", "examples"])
def test_copied_files_find_their_game_and_nothing_else(tmp_path, folder):
    """Beside it, or one folder below; a folder above has another OpenCV."""
    root = pathlib.Path(ppo.__file__).parents[1]
    place = tmp_path / "above/project" / folder
    place.mkdir(parents=True)
    for name in ("ppo", "dqn", "run", "play", "catch"):
        shutil.copy(root / "examples" / f"{name}.py", place)
    for name in ("game", "games"):
        shutil.copy(root / f"{name}.py", tmp_path / "above/project")
    above = tmp_path / "above" if folder == "." else place.parent
    (above / "cv2.py").write_text("raise SystemExit('another OpenCV')")
    program = "import catch, dqn, play, ppo, game; print(game.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=place,
        env={},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert pathlib.Path(found.strip()).is_relative_to(tmp_path)


def test_settings_have_each_option_of_a_game():
    expected = Game.__init__.__kwdefaults__ | TRAINING
    options = dataclasses.asdict(ppo.GameOptions())
    assert expected.items() <= options.items()
