"""Tests of dqn.py."""

import contextlib
import pathlib
import signal
import sys
import threading

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing import event_accumulator

import dqn
from game import Games

RUN = pathlib.Path("run")
CHECKPOINT = RUN / "checkpoint.pt"


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run the program in an empty folder; return the lines that it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dqn, "REPORT", 100)

    def run(command):
        argv = f"dqn.py --device cpu --folder {RUN} {command}".split()
        monkeypatch.setattr(sys, "argv", argv)
        with contextlib.suppress(SystemExit):
            dqn.main()
        return "".join(capsys.readouterr()).splitlines()

    return run


def test_it_remembers_what_was_played_and_each_frame_once(run, monkeypatch):
    """What its memory holds is what a game plays, step by step."""
    memory = dqn.Memory(1000)
    monkeypatch.setattr(dqn, "Memory", lambda _: memory)
    seeds = []
    monkeypatch.setattr(
        Games,
        "reset",
        lambda games, seed, reset=Games.reset: (
            seeds.append(seed) or reset(games, seed=seed)
        ),
    )
    run("--steps 600 --learn-after 590")
    assert len(memory.steps) == 600
    ends = 0
    with Games(1, processes=0) as games:
        obs, _ = games.reset(seed=seeds[0])
        for five, action, reward, ended in memory.steps:
            assert (np.array(five[:4]) == obs[0]).all()
            obs, rewards, terminated, truncated, infos = games.step([action])
            assert reward == rewards[0]
            assert ended == terminated[0]
            done = terminated[0] or truncated[0]
            last = infos["final_obs"][0] if done else obs[0]
            assert (np.array(five[1:]) == last).all()
            ends += done
    assert ends > 5
    kept = {id(frame) for five, *_ in memory.steps for frame in five}
    # Four more at the start of each episode; one that has only begun has
    # none in the memory yet.
    assert len(kept) in (600 + 4 * ends, 600 + 4 * (ends + 1))


def test_a_run_can_be_resumed_and_judged(run, monkeypatch):
    """Interrupted in the midst of a report, with one picture of 64×48."""
    add = dqn.Memory.add

    def interrupt(memory, *step):
        if len(memory.steps) == 449:
            signal.raise_signal(signal.SIGTERM)
        add(memory, *step)

    monkeypatch.setattr(dqn.Memory, "add", interrupt)
    small = "--stack 1 --size 64 48 --no-grayscale"
    run(f"--steps 1000 --learn-after 100 --save-every 200 {small}")
    monkeypatch.setattr(dqn.Memory, "add", add)
    interrupted = torch.load(CHECKPOINT)
    assert interrupted["state"]["steps"] == 450
    assert "--resume" in run(f"--steps 1000 {small}")[-1]
    lines = run("--resume --steps 700")
    assert any("random actions" in line for line in lines)
    # A picture in color is 9 kB.
    assert any("grows to 0.0 GB, for 250 steps" in line for line in lines)
    saved = torch.load(CHECKPOINT)
    assert saved["state"]["steps"] == 700
    name = "0.weight"
    assert not saved["weights"][name].equal(interrupted["weights"][name])
    board = event_accumulator.EventAccumulator(str(RUN))
    board.Reload()
    # Every report, and the ends.
    steps = [100, 200, 300, 400, 450, 500, 600, 700]
    assert [each.step for each in board.Scalars("explore")] == steps
    # The memory had to be filled again.
    steps.remove(500)
    assert [each.step for each in board.Scalars("loss")] == steps
    *games, mean = run("--evaluate --whole-games 2")[-3:]
    points = [int(line.split()[2]) for line in games]
    assert mean.startswith(f"mean {np.mean(points):.1f} ({min(points)} to ")


@pytest.mark.parametrize("terminated", [False, True])
def test_it_learns_the_reward_and_what_follows(terminated):
    settings = dqn.Settings(batch=1)
    torch.manual_seed(0)
    before = np.full((4, 84, 84), 50, np.uint8)
    after = np.full((4, 84, 84), 200, np.uint8)
    memory = dqn.Memory(1)
    memory.start(before)
    memory.add(1, 2.0, terminated, after)
    with settings.make_games(1, processes=0) as games:
        network, target = (dqn.make_network(games) for _ in range(2))
    optimizer = torch.optim.SGD(network.parameters(), 0.01)
    for _ in range(200):
        dqn.learn(network, target, optimizer, memory, settings)
    # Four pictures after the step, of which only the last is new.
    obs = np.stack([*before[1:], after[-1]])
    following = settings.gamma * dqn.values(target, obs[None]).max().item()
    value = dqn.values(network, before[None])[0, 1].item()
    worth = 2.0 if terminated else 2.0 + following
    assert value == pytest.approx(worth, abs=0.01)


def test_a_loss_that_is_not_finite_replaces_no_checkpoint(run):
    small = "--learn-after 100 --stack 1 --size 36 36 --save-every 100"
    run(f"--steps 300 {small}")
    line = run("--resume --steps 600 --learning-rate 1e30")[-1]
    assert "finite since step" in line
    state = torch.load(CHECKPOINT)
    weights = state["weights"].values()
    assert all(weight.isfinite().all() for weight in weights)
    assert 300 <= state["state"]["steps"] < 600


@pytest.mark.parametrize(
    "command",
    ["--explore 2", "--learning-rate nan", "--batch 0", "--stack 0"],
)
def test_wrong_input_ends_in_a_line(run, command):
    assert run(command)[-1].startswith("dqn.py: error: ")
    assert not RUN.exists()


def test_it_trains_in_a_thread_and_with_numbers_of_numpy(run):
    settings = dqn.Settings(
        steps=np.int64(200),
        learn_after=100,
        gamma=np.float32(0.5),
        learning_rate=np.float32(1e-3),
        folder=RUN,
        device="cpu",
    )
    thread = threading.Thread(target=dqn.train, args=[settings])
    thread.start()
    thread.join()
    run("--resume --steps 300")
    assert torch.load(CHECKPOINT)["state"]["steps"] == 300


def test_a_checkpoint_that_is_cut_in_half_is_named(run):
    run("--steps 200")
    data = CHECKPOINT.read_bytes()
    CHECKPOINT.write_bytes(data[: len(data) // 2])
    assert f"{CHECKPOINT} can't be read" in run("--resume")[-1]


def test_a_full_disk_leaves_the_last_checkpoint(run, monkeypatch):
    run("--steps 200")

    def fail(path, data):
        path.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(pathlib.Path, "write_bytes", fail)
        line = run("--resume --steps 300")[-1]
    assert "No space left" in line and str(RUN) in line
    assert not list(RUN.glob("*.new"))
    assert torch.load(CHECKPOINT)["state"]["steps"] == 200
