"""Find the titles whose snapshots can't be trusted.

    python measure/snapshots.py --publish              # all, 40 minutes
    python measure/snapshots.py --titles Tetris Pong

In every mode and difficulty a title is played with all actions, to the end of
a game or for a hundred seconds of it. Then the snapshot of its first reset is
restored, and the same actions go to it and to a new emulator: screens and
memory have to be the same. `differ` has the settings in which they weren't.
"""

import functools
import itertools
import multiprocessing

import ale_py
import gymnasium as gym
import numpy as np

import common

gym.register_envs(ale_py)
PLAYS = 3  # of each setting
FRAMES = 6000  # at most, before a restore
COMPARED = 400  # frames after it


def make(env_id, mode, difficulty):
    """A new emulator, after its first reset."""
    env = gym.make(env_id, frameskip=1, mode=mode, difficulty=difficulty)
    env.unwrapped.ale.setFloat("repeat_action_probability", 0.0)
    env.reset(seed=0)
    return env.unwrapped


def play(env, frames, random):
    """Play until the game is over; yield screens and the console's memory."""
    ale = env.ale
    for action in random.choice(ale.getLegalActionSet(), frames // 4):
        for _ in range(4):
            ale.act(action)
            yield ale.getScreenGrayscale().tobytes() + ale.getRAM().tobytes()
        if ale.game_over():
            return


def differs(setting):
    """Whether a game after a restore ever isn't that of a new emulator."""
    played = make(*setting)
    snapshot = played.clone_state()
    random = np.random.default_rng(0)
    for number in range(PLAYS):
        for _ in play(played, FRAMES, random):
            pass
        played.restore_state(snapshot)
        restored, new = (
            play(env, COMPARED, np.random.default_rng(number))
            for env in (played, make(*setting))
        )
        pairs = itertools.zip_longest(restored, new)
        if any(ours != theirs for ours, theirs in pairs):
            return True
    return False


def sweep(env_id):
    """Try all modes and difficulties of a title."""
    ale = gym.make(env_id).unwrapped.ale
    settings = ale.getAvailableModes(), ale.getAvailableDifficulties()
    tried = list(itertools.product([env_id], *settings))
    with multiprocessing.Pool() as pool:
        bad = pool.map(differs, tried, chunksize=1)
    return {
        "tried": len(tried),
        "differ": list(itertools.compress(tried, bad)),
    }


def main():
    parser = common.options(__doc__)
    parser.add_argument("--titles", nargs="*", help="such as Pong; none: all")
    run = parser.parse_args()
    names = [i[4:-3] for i in sorted(gym.registry) if i.startswith("ALE/")]
    parts = {
        name: functools.partial(sweep, f"ALE/{name}-v5")
        for name in run.titles or names
    }
    common.measure(run, "snapshots", parts, timed=False)


if __name__ == "__main__":
    main()
