"""Tests of ppo.py: what it learns, and how it trains."""

import dataclasses
import inspect
import os
import pathlib
import signal
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest
import torch
from ale_py.env import AtariEnv

import ppo
import run
from game import TRAINING, Game

FOLDER = pathlib.Path("run")
SHORT = "--games 2 --rollout 16 --minibatch 16 --epochs 1 --device cpu"
PLAIN = ppo.Settings()


@pytest.fixture
def train(start):
    """Train in an empty folder, in this program."""
    words = ["--folder", FOLDER, *SHORT.split()]
    return lambda command: start(ppo.main, *words, *command.split())


def saved(folder=FOLDER):
    return torch.load(folder / "checkpoint.pt")


def saved_steps(folder=FOLDER):
    return saved(folder)["progress"]["steps"]


# What is asked of a training while it goes


@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGTERM, 75), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_a_group_is_asked_or_killed_and_the_same_command_goes_on(
    tmp_path, sent, code
):
    def start(steps):
        command = [sys.executable, ppo.__file__, "--folder", "run"]
        command += [*SHORT.split(), "--save-every", "1", "--processes", "1"]
        return subprocess.Popen(
            [*command, "--steps", str(steps)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            start_new_session=True,
        )

    program = start(10**6)
    while "steps/s" not in program.stdout.readline():
        assert program.poll() is None
    os.killpg(program.pid, sent)
    # It returns when no process of the group can print any more.
    program.communicate(timeout=600)
    assert program.returncode == code
    steps = saved_steps(tmp_path / "run") + 32
    program = start(steps)
    program.communicate(timeout=600)
    assert program.returncode == 0
    assert saved_steps(tmp_path / "run") == steps


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("PongNoFrameskip-v4", "env_id"),
        ("--seed 8", "seed"),
        ("--stack 2", "stack"),
        ("--full-action-space", "full_action_space"),
    ],
)
def test_what_a_continued_run_cannot_change_is_refused(train, command, name):
    train("--steps 32 --processes 0")
    before = (FOLDER / "checkpoint.pt").read_bytes()
    with pytest.raises(run.RunError, match=f"{name} is .* now, and was"):
        train(f"{command} --steps 64 --processes 0")
    assert (FOLDER / "checkpoint.pt").read_bytes() == before


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="no choice of cores here"
)
def test_one_thread_makes_equal_weights_on_one_core_and_on_all(tmp_path):
    core = min(os.sched_getaffinity(0))
    made = []
    for cores in ({core}, os.sched_getaffinity(0)):
        folder = tmp_path / f"on {len(cores)}, {len(made)}"
        command = f"--threads 1 --steps 32 --processes 0 {SHORT}".split()
        environment = os.environ.copy()
        environment.pop("OMP_NUM_THREADS", None)
        subprocess.run(
            [sys.executable, ppo.__file__, "--folder", folder, *command],
            env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),  # noqa: B023
            check=True,
        )
        made.append(saved(folder))
    one, all_ = (each["weights"] for each in made)
    assert [each["about"]["threads"] for each in made] == [1, 1]
    assert all(one[name].equal(all_[name]) for name in one)


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
        ("PongNoFrameskp-v4", "PongNoFrameskip"),
        ("--size 20 20", "Kernel size"),
        ("--seed=-1", "--seed can't be"),
        ("--mode 3", "can't begin"),
        ("--device nonsense", "nonsense"),
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


def test_figures_of_an_agent_that_does_not_move():
    """As they are defined, from an update whose rate is 0."""
    settings = ppo.Settings(minibatch=16)
    agent = ppo.Agent(4)
    optimizer = torch.optim.SGD(agent.parameters(), 0.0)
    torch.manual_seed(0)
    obs = torch.randint(256, (64, 4, 84, 84), dtype=torch.uint8)
    actions = torch.randint(4, (64,))
    with torch.no_grad():
        policy, _ = agent(obs)
    # Twice as likely before, for every other action.
    before = policy.log_prob(actions) + np.log(2) * (torch.arange(64) % 2)
    values, gains = torch.randn(2, 64)
    batch = ppo.Batch(obs, actions, before, values, gains)
    figures = ppo.learn(agent, optimizer, batch, settings, torch.Generator())
    assert figures["entropy"] == pytest.approx(policy.entropy().mean().item())
    assert figures["clip_fraction"] == 0.5
    # the mean of r - 1 - log r, where r is 1 or 1/2
    assert figures["kl"] == pytest.approx((np.log(2) - 0.5) / 2, abs=1e-4)
    expected = 1 - (gains.var() / (gains + values).var()).item()
    assert figures["explained_variance"] == pytest.approx(expected)
    assert figures["learning_rate"] == 0


def learned(**options):
    """Weights after an update from played steps, and its figures."""
    settings = ppo.Settings(
        games=1, rollout=32, minibatch=16, device="cpu", **options
    )
    with settings.make_games(1, processes=0) as games:
        agent, optimizer = ppo.make_agent(settings, games)
        player = ppo.Player(agent, games, settings, seed=0)
        batch, _ = player.play()
        batch = batch._replace(advantages=batch.advantages + 1)
        ppo.set_rate(optimizer, settings, mock.Mock(steps=settings.steps / 2))
        figures = ppo.learn(
            agent, optimizer, batch, settings, torch.Generator()
        )
    return agent.policy.weight, figures


def test_what_cleanrl_switches_off_can_be_switched_off():
    first, figures = learned()
    assert figures["learning_rate"] == pytest.approx(2.5e-4 / 2)
    for name in ("normalize_advantages", "clip_values"):
        assert not learned(**{name: False})[0].equal(first)
    constant = learned(anneal=False)[1]
    assert constant["learning_rate"] == pytest.approx(2.5e-4)
    # An epoch that changed too much is the last one.
    assert learned(target_kl=1.0)[0].equal(first)
    stopped, one_epoch = learned(target_kl=0.0)[0], learned(epochs=1)[0]
    assert stopped.equal(one_epoch) and not stopped.equal(first)


def test_settings_have_each_option_of_a_game():
    expected = Game.__init__.__kwdefaults__ | TRAINING
    options = dataclasses.asdict(ppo.GameOptions())
    assert expected.items() <= options.items()
    # those of the emulator that `Games` takes and that an agent notices
    emulator = inspect.signature(AtariEnv).parameters.keys() - {
        *("game", "obs_type", "frameskip", "render_mode", "sound_obs"),
        *("continuous", "continuous_action_threshold"),
    }
    assert emulator <= options.keys()
