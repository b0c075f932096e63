"""Measure the numbers in the text of the page that no other file has.

    pip install -r requirements.txt --group measure
    python measure/facts.py            # five minutes on one core
    python measure/facts.py --publish
    python measure/facts.py scores     # a part

Results go to facts.json.
"""

import multiprocessing
import platform
import timeit

import cv2
import gymnasium as gym
import numpy as np

import common
import recordings
from figures import percent
from game import BREAKOUT, Game, shrink_changes
from recordings import FIRE, NOOP, brighter, kept, make, play, small
from training_run import SERVED

# What single frames miss

BANDS = 42  # of a screen, in which `Game` looks for changes


def frames():
    """Of two frames and of one, and of screens that are shrunk too early."""
    third, fourth = map(np.array, recordings.flicker())
    both = np.maximum(third, fourth)
    lit = both > 0
    played = list(play())
    before, after = (brighter(step) for step in played[61:63])
    changed = (before != after).reshape(BANDS, -1).any(axis=1)
    early = []
    for step in played[1:]:
        shrunk = [small(gray) for _, gray in kept(step)]
        wrong = np.maximum.reduce(shrunk) != step["picture"]
        early.append(wrong.mean())
    return {
        "missing_third": percent((third < both)[lit].mean()),
        "missing_fourth": percent((fourth < both)[lit].mean()),
        "changed_bands": f"{changed.sum()} of {BANDS}",
        "order_pixels": f"{100 * max(early):.1f}\N{NO-BREAK SPACE}%",
    }


# How games begin and end

FRAMES = 120
LONG = 20_000  # frames, more than any of these games has


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


def late_end(ale):
    """How many frames does the game go on without a life?

    Counted from the frame on which the last life is lost to the game's end,
    in the longer one of two random games.
    """
    late = 0
    for seed in 0, 1:
        ale.reset_game()
        lives = [left for left, _ in play_at_random(ale, LONG, seed)]
        if lives[0] and not lives[-1] and ale.game_over():
            last = max(i for i, left in enumerate(lives) if left)
            late = max(late, len(lives) - last - 2)
    return late


def carries_over(ale):
    """Does a true reset keep some of the console's memory?

    After some random play the reset is compared with the first.
    """
    ale.reset_game()
    first = ale.getRAM().copy()
    list(play_at_random(ale, 2000))
    ale.reset_game()
    return bool((ale.getRAM() != first).any())


def titles():
    """All that, title by title."""
    late = []
    carried = 0
    names = [name for name in sorted(gym.registry) if name.startswith("ALE/")]
    for name in names:
        env, ale = make(name, repeat_action_probability=0)
        late.append(late_end(ale))
        env.reset(seed=0)  # loads the title anew
        carried += carries_over(ale)
    late = [frames for frames in late if frames]
    return {
        "games": len(names),
        "late_games": len(late),
        "late_least": f"{min(late):,}",
        "late_most": f"{max(late):,}",
        "carried_games": carried,
    }


def no_op_starts():
    """How many different games of Breakout do 1 to 30 no-op frames make?"""
    held = [FIRE] * 4 + [NOOP] * 2 * FRAMES
    games = set()
    for no_ops in range(1, 31):
        screens = recordings.frames_of("Breakout", [NOOP] * no_ops + held)
        games.add(np.array(screens[no_ops:]).tobytes())
    return {"noop_starts": len(games)}


# Which games count

LANES = 32
RANDOM_GAMES = 400
DRAWS = 2000


def scores():
    """The mean score of all games, and of two ways to choose some of them.

    Random play, with the options that agents are evaluated with. For each draw
    the games are dealt to `LANES` that play at once, and the first games to
    finish, as many as these, are looked at; and the first game of each.
    """
    game = Game(0, **SERVED)
    random = np.random.default_rng(0)
    scores, lengths = [], []
    for seed in range(RANDOM_GAMES):
        game.reset(seed)
        info = None
        while info is None:
            action = random.integers(len(game.meanings))
            *_, info = game.step(action)
        scores.append(info["reward"])
        lengths.append(info["length"])
    scores, lengths = np.array(scores), np.array(lengths)
    finished, of_each = [], []
    for _ in range(DRAWS):
        dealt = random.integers(RANDOM_GAMES, size=(20, LANES))
        finish = lengths[dealt].cumsum(axis=0).ravel()
        first = finish.argsort()[:LANES]
        finished.append(scores[dealt].ravel()[first].mean())
        of_each.append(scores[dealt[0]].mean())
    return {
        "lanes": LANES,
        "random_games": RANDOM_GAMES,
        "random_score": f"{scores.mean():.2f}",
        "draws": DRAWS,
        "first_finished": f"{np.mean(finished):.2f}",
        "first_of_each": f"{np.mean(of_each):.2f}",
    }


# How long it takes


def fastest(call, times):
    """The shortest of so many calls, in seconds: others want the core too."""
    return min(timeit.repeat(call, number=1, repeat=times))


def echo(pipe):
    while True:
        pipe.send(pipe.recv())


def times():
    """How long resets take, a message between processes, and shrinking."""
    cpu = common.machine()["processor"]
    env, ale = make(BREAKOUT)
    env = env.unwrapped
    state = env.clone_state()

    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=echo, args=[there], daemon=True)
    process.start()

    def message():
        here.send(("step", 0))
        here.recv()

    screens = [brighter(step) for step in list(play())[1:]]
    picture = small(screens[0])

    def shrink_all():
        for screen in screens[1:]:
            small(screen)

    def shrink_bands():
        for old, new in zip(screens, screens[1:], strict=False):
            shrink_changes(Game.shrink, new, old, picture)

    saved = 1 - fastest(shrink_bands, 100) / fastest(shrink_all, 100)
    reset = fastest(ale.reset_game, 300)
    restore = fastest(lambda: env.restore_state(state), 300)
    facts = {
        "machine": f"one of {common.CORES} cores ({cpu})",
        "load_ms": f"{1e3 * fastest(env.load_game, 20):.0f}",
        "reset_ms": f"{1e3 * reset:.1f}",
        "restore_ms": f"{1e3 * restore:.2f}",
        "message_us": f"{1e6 * fastest(message, 20_000):.0f}",
        "shrink_saves": percent(saved),
    }
    process.kill()
    return facts


# The main job

PARTS = [frames, titles, no_op_starts, scores, times]


def main():
    mine = common.options(__doc__)
    mine.add_argument("parts", nargs="*", help="none: all of them")
    run = mine.parse_args()
    cv2.setNumThreads(0)
    if run.publish:
        common.must_be_quiet()
    names = f"ale-py gymnasium numpy {common.OPENCV}"
    versions = common.machine(names)["versions"]
    words = ", ".join(f"{k} {v}" for k, v in versions.items())
    words = f"Python {platform.python_version()}, {words}"
    path = common.target("facts.json", run.publish)
    facts = common.read(path)
    if facts.get("versions") != words:
        facts = {"versions": words}
    parts = {part.__name__: part for part in PARTS}
    for name in run.parts or parts:
        facts |= parts[name]()
    common.write(path, facts)


if __name__ == "__main__":
    main()
