"""
Rules to break: what an agent would see and be told without each of them.

Each function yields, for one step after the other, the pictures with a rule
kept, the pictures with it broken, and what there is to say. Those that show
Breakout take the steps that `recordings.play` makes.
"""

import math
from itertools import pairwise

import numpy as np

from drawing import percent
from recordings import (
    FIRE,
    LOST_AT,
    NOOP,
    brighter,
    corner_of,
    find_ball,
    frames_of,
    pack,
    play,
    small,
    write,
)

SHOWN = range(53, 93)  # the steps of Breakout, in which the ball flies
THRUST = 2  # in Asteroids
NO_OPS, STARTED = 30, 12  # most no-ops at a start, and steps after them


def brightened(pictures):
    return list(np.minimum(1.6 * np.array(pictures), 255).astype(np.uint8))


def alike(two):
    """Two frames as they should be: the brighter of them, shrunk."""
    return small(np.maximum(*two))


def one_frame():
    for two in pairwise(frames_of("Asteroids", [THRUST] * 140)[99:]):
        kept, broken = alike(two), small(two[1])
        dark = (broken[kept > 0] == 0).mean()
        says = f"{percent(dark)} of what is lit is gone"
        yield [kept], [broken], says


def shrunk_first():
    shots = [i // 16 % 4 for i in range(460)]
    screens = frames_of("DemonAttack", shots)[380:]
    for two in zip(screens[2::4], screens[3::4], strict=True):
        kept, broken = alike(two), np.maximum(*map(small, two))
        fades = f"{(kept > broken).sum()} pixels fade, by up to "
        fades += str((kept - broken).max())
        part = brightened([kept, broken])
        # Where the demons fly.
        kept, broken = (picture[14:70, 28:84] for picture in part)
        yield [kept], [broken], fades


def close_up(step, pictures):
    """A third of the pictures, each way, around the ball."""
    x, y = (84 * corner_of(step["ball"], 1 / 3)).astype(int)
    return brightened([one[y : y + 28, x : x + 28] for one in pictures])


def in_a_row(played):
    for at in SHOWN:
        step, before = played[at], played[at - 3]
        frames = [before["frames"][-1], step["frames"][0], step["frames"][-1]]
        balls = [find_ball(screen) for screen, _ in frames]
        says = "the ball is among the bricks"
        if None not in balls:
            oldest, first, last = balls
            says = f"the ball flies {math.dist(first, last):.0f} pixels, "
            says += f"not {math.dist(oldest, last):.0f}"
        broken = [small(gray) for _, gray in step["frames"]]
        yield close_up(step, step["stack"]), close_up(step, broken), says


def newest_alone(played):
    for at in SHOWN:
        four = [find_ball(brighter(one)) for one in played[at - 3 : at + 1]]
        says = "the ball is among the bricks"
        if None not in four:
            down = np.diff([y for _, y in four])
            says = "the ball has turned"
            if (down > 0).all():
                says = "the ball falls"
            if (down < 0).all():
                says = "the ball rises"
        kept = close_up(played[at], played[at]["stack"])
        yield kept, kept[3:], says


def without_fire(played):
    actions = [step["action"] for step in played[1:]]
    idle = [NOOP if action == FIRE else action for action in actions]
    idle = list(play(actions=idle))
    points = 0
    for step, other in zip(played[1:73], idle[1:73], strict=True):
        points += step["reward"]
        says = f"points: {points}; without a ball: 0"
        yield [step["picture"]], [other["picture"]], says


def no_end(played):
    actions = [step["action"] for step in played[1:]]
    goes_on = list(play("ignore", actions))
    for at in range(LOST_AT - 2, LOST_AT + 17):
        says = "before the lost life both are the same"
        if at >= LOST_AT:
            says = "a life was lost"
        yield played[at]["stack"], goes_on[at]["stack"], says


def one_start(played):
    held = np.repeat([step["action"] for step in played[1 : STARTED + 1]], 4)
    none, *starts = [
        alike(frames_of("Breakout", [NOOP] * count + [*held])[-2:])
        for count in range(NO_OPS + 1)
    ]
    for start in starts:
        same = (starts == start).all(axis=(1, 2))
        numbers = np.flatnonzero(same) + 1
        says = f"{len(numbers)} numbers of no-ops make this same game: "
        says += ", ".join(map(str, numbers))
        yield [start], [none], says


def break_rules(played):
    """For each rule all that its function yields."""
    return {
        "maximum": list(one_frame()),
        "order": list(shrunk_first()),
        "frames": list(in_a_row(played)),
        "one": list(newest_alone(played)),
        "fire": list(without_fire(played)),
        "life": list(no_end(played)),
        "noops": list(one_start(played)),
    }


def record_rules(rules):
    recording = {}
    for name, steps in rules.items():
        *sides, says = zip(*steps, strict=True)
        recording[name] = {
            "says": says,
            "size": len(sides[0][0][0]),
            "pictures": [pack(sum(side, [])) for side in sides],
        }
    write("rules.json", recording)
