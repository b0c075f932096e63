"""Measure the numbers in the text of the page that no other file has.

    pip install -r requirements.txt --group measure
    python measure/facts.py            # all of them, five minutes on one core
    python measure/facts.py times      # one of the parts
    python measure/facts.py --publish

Results go to facts.json, part by part:

- frames: what single frames miss, and what changes between two
- starts: which games begin the same, whatever the seed
- scores: of all games, and of the first ones to finish
- ends: how long games go on without a life
- resets: what a true reset keeps of the game before
- times: of resets, messages and shrinking, in a quiet hour
- bytes: what crosses the pipes, labml's way and ours, for the recording
  page/data/pipe.json
"""

import itertools
import multiprocessing
import os
import platform
import timeit
from pathlib import Path

import cv2
import gymnasium as gym
import numpy as np

import common
import contenders
import recordings
from figures import BANDS, percent, shrink_changed, two_frames
from game import Games
from recordings import FIRE, NOOP, STICKY, brighter, make, play, small

# What single frames miss


def measure_frames():
    """Of two frames and of one, and of screens that are shrunk too early."""
    older, newer = two_frames()
    both = np.maximum(older, newer)
    lit = both > 0
    played = list(play())
    screens = [brighter(step) for step in played[61:63]]
    changed, *_ = shrink_changed(*screens, played[61]["picture"])
    early = []
    for step in played[1:]:
        if len(step["frames"]) == 4:
            third, fourth = (gray for _, gray in step["frames"][2:])
            wrong = np.maximum(small(third), small(fourth))
            early.append((wrong != step["picture"]).mean())
    return {
        "missing_older": percent((older < both)[lit].mean()),
        "missing_newer": percent((newer < both)[lit].mean()),
        "changed_bands": f"{changed.sum()} of {BANDS}",
        "order_pixels": f"{100 * max(early):.1f}\N{NO-BREAK SPACE}%",
    }


# How games begin

SEEDS = 3
FRAMES = 120


def all_titles():
    for name in sorted(gym.registry):
        if name.startswith("ALE/"):
            env, ale = make(name, repeat_action_probability=0)
            yield name, env, ale
            env.close()


def play_at_random(ale, frames, seed=0):
    """Play at most so many frames at random; yield lives and reward of each.

    An action is held for four frames.
    """
    random, legal = np.random.default_rng(seed), ale.getMinimalActionSet()
    for frame in range(frames):
        if frame % 4 == 0:
            action = legal[random.integers(len(legal))]
        reward = ale.act(action)
        yield ale.lives(), reward
        if ale.game_over():
            return


def measure_starts():
    """How many games begin the same, whatever the seed? And how many
    different games of Breakout do 1 to 30 no-op frames make?"""
    titles = same = 0
    for _, env, ale in all_titles():
        titles += 1
        begins = set()
        for seed in range(SEEDS):
            env.reset(seed=seed)
            played = play_at_random(ale, FRAMES)
            begins.add(tuple(ale.getScreen().tobytes() for _ in played))
        same += len(begins) == 1
    env, ale = make("BreakoutNoFrameskip-v4")
    games = set()
    for no_ops in range(1, 31):
        env.reset(seed=0)
        for _ in range(no_ops):
            env.step(NOOP)
        screens = []
        for frame in range(2 * FRAMES):
            env.step(FIRE if frame < 4 else NOOP)
            screens.append(ale.getScreen().tobytes())
        games.add(tuple(screens))
    return {
        "games": titles,
        "same_starts": same,
        "start_seeds": SEEDS,
        "noop_starts": len(games),
    }


# Which games count

LANES = 32
RANDOM_GAMES = 400
DRAWS = 2000
LONG = 20_000  # frames, more than any of these games has


def measure_scores():
    """The mean score of all games, and of the first ones to finish.

    Random play. For each draw the games are dealt to `LANES` that play at
    once, and the first games to finish, as many as these, are looked at.
    """
    _, ale = make("BreakoutNoFrameskip-v4")
    random = np.random.default_rng(0)
    scores, lengths = [], []
    for seed in range(RANDOM_GAMES):
        ale.reset_game()
        rewards = [reward for _, reward in play_at_random(ale, LONG, seed)]
        scores.append(sum(rewards))
        lengths.append(-(-len(rewards) // 4))
    scores, lengths = np.array(scores), np.array(lengths)
    means = []
    for _ in range(DRAWS):
        dealt = random.integers(RANDOM_GAMES, size=(20, LANES))
        finish = lengths[dealt].cumsum(axis=0).ravel()
        first = finish.argsort()[:LANES]
        means.append(scores[dealt].ravel()[first].mean())
    return {
        "lanes": LANES,
        "random_score": f"{scores.mean():.2f}",
        "first_finished": f"{np.mean(means):.2f}",
    }


# How games end


def measure_late_ends():
    """How long do games go on without a life, in frames?

    Counted from the frame on which the last life is lost to the game's end,
    over two random games of each.
    """
    late = {}
    for name, _, ale in all_titles():
        for seed in 0, 1:
            ale.reset_game()
            lives = [left for left, _ in play_at_random(ale, LONG, seed)]
            if lives[0] and not lives[-1] and ale.game_over():
                last = max(i for i, left in enumerate(lives) if left)
                frames = len(lives) - last - 2
                if frames:
                    late[name] = max(frames, late.get(name, 0))
    return {
        "late_games": len(late),
        "late_least": f"{min(late.values()):,}",
        "late_most": f"{max(late.values()):,}",
        "late_which": late,
    }


def measure_carried_over():
    """In how many games does a true reset keep some of the console's memory?

    After some random play the reset is compared with the first.
    """
    carried = []
    for name, _, ale in all_titles():
        ale.reset_game()
        first = ale.getRAM().copy()
        list(play_at_random(ale, 2000))
        ale.reset_game()
        if (ale.getRAM() != first).any():
            carried.append(name)
    return {"carried_games": len(carried), "carried_which": carried}


# How long it takes


def fastest(call, times):
    """The shortest of so many calls, in seconds: others want the core too."""
    return min(timeit.repeat(call, number=1, repeat=times))


def echo(pipe):
    while True:
        pipe.send(pipe.recv())


def measure_times():
    """How long resets take, a message between processes, and shrinking.

    The load says whether others were at work.
    """
    cpu = common.machine()["processor"]
    machine = f"one of {common.CORES} cores ({cpu})"
    machine += f" at a load of {os.getloadavg()[0]:.1f}"
    played = list(play())
    env, ale = make("BreakoutNoFrameskip-v4")
    state = env.unwrapped.clone_state()
    load = fastest(env.unwrapped.load_game, 20)
    reset = fastest(ale.reset_game, 300)
    restore = fastest(lambda: env.unwrapped.restore_state(state), 300)

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=echo, args=[there], daemon=True)
    process.start()

    def message():
        here.send(("step", 0))
        here.recv()

    pipe = fastest(message, 20_000)
    process.kill()

    screens = [brighter(step) for step in played[1:]]
    picture = small(screens[0])
    pairs = list(itertools.pairwise(screens))
    whole = fastest(lambda: [small(screen) for screen in screens], 100)
    bands = fastest(
        lambda: [shrink_changed(old, new, picture) for old, new in pairs], 100
    )
    return {
        "machine": machine,
        "load_ms": f"{1e3 * load:.0f}",
        "reset_ms": f"{1e3 * reset:.1f}",
        "restore_ms": f"{1e3 * restore:.2f}",
        "message_us": f"{1e6 * pipe:.0f}",
        "shrink_saves": percent(1 - bands / whole),
    }


# What crosses the pipes


def bytes_so_far():
    """How many bytes this process has read and written, pipes included.

    The bytes of this very answer are counted from the next one on.
    """
    answer = Path("/proc/self/io").read_bytes()
    words = answer.split()
    return int(words[1]), int(words[3]), len(answer)


def bytes_of(step):
    """How many bytes are read and written by calling `step`."""
    read, written, answer = bytes_so_far()
    step()
    now_read, now_written, _ = bytes_so_far()
    return [now_read - read - answer, now_written - written]


def play_as_labml(rows):
    """Step workers as labml's tutorial does; yield bytes a step."""
    pipes = contenders.labml_pipes("Breakout", len(rows[0]), "restart")
    for row in np.array(rows, np.int32):
        yield bytes_of(lambda row=row: step_all(pipes, row))


def step_all(pipes, row):
    for pipe, action in zip(pipes, row, strict=True):
        pipe.send(("step", action))
    for pipe in pipes:
        pipe.recv()


def play_as_games(rows):
    """Step `Games` in two processes; yield bytes a step."""
    with Games(len(rows[0]), STICKY, processes=2) as games:
        games.reset()
        for row in rows:
            yield bytes_of(lambda row=row: games.step(row))


def count_bytes(actions):
    """What crosses the pipes in each step: `[answers, commands]` in bytes."""
    rows = np.transpose(actions)
    counted = {
        "labml": list(play_as_labml(rows)),
        "ours": list(play_as_games(rows)),
    }
    return {"bytes": counted, "shared": len(actions) * 4 * 84 * 84}


def record_bytes():
    recordings.record_pipe(count_bytes)
    return {}


# The main job

PARTS = {
    "frames": measure_frames,
    "starts": measure_starts,
    "scores": measure_scores,
    "ends": measure_late_ends,
    "resets": measure_carried_over,
    "times": measure_times,
    "bytes": record_bytes,
}


def main():
    args = common.options(__doc__, PARTS).parse_args()
    cv2.setNumThreads(0)
    path = common.target("facts.json", args.publish)
    names = "ale-py gymnasium numpy opencv-python"
    versions = common.machine(names)["versions"]
    for part in args.parts or PARTS:
        if part == "times" and args.publish:
            common.must_be_quiet()
        facts = common.read(path) | PARTS[part]()
        facts["ale"] = f"ale-py {versions['ale-py']}"
        words = ", ".join(f"{k} {v}" for k, v in versions.items())
        facts["versions"] = f"Python {platform.python_version()}, {words}"
        common.write(path, facts)
        print(f"{part}: {path}", flush=True)


if __name__ == "__main__":
    main()
