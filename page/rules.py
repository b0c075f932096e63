"""
Rules to break: what an agent would see and be told without each of them.

Each function takes the steps that `recordings.play` makes, and yields for one
step after the other what pictures with a rule kept are made of, what those
with it broken are made of, two gray frames for each; what there is to say; and
which part is shown: left, top and size, of 84 pixels.
"""

import math
from itertools import pairwise

import numpy as np

from drawing import percent
from recordings import (
    FIRE,
    LOST_AT,
    NOOP,
    corner_of,
    find_ball,
    frames_of,
    kept,
    pack,
    play,
    small,
    write,
)

SHOWN = range(53, 83)  # the steps of Breakout, in which the ball flies
WHOLE = 0, 0, 84
THRUST = 2  # in Asteroids
NO_OPS, STARTED = 30, 12  # most no-ops at a start, and steps after them


def alike(two):
    """Two frames as they should be: the brighter of them, shrunk."""
    return small(np.maximum(*two))


def faded(two):
    """Two frames that are shrunk too early."""
    return np.maximum(*map(small, two))


def two_of(step):
    """The two frames of a step, or twice the one that it ended on."""
    frames = [gray for _, gray in kept(step)]
    return frames[0], frames[-1]


def stacks(played):
    """At each step what its stack is made of."""
    stack = []
    for step in played:
        stack = [*stack[1:], two_of(step)]
        if step["done"]:
            stack = [two_of(played[0])] * 4
        yield stack


def close_up(step):
    """The third of a picture, each way, that is around the ball."""
    x, y = 84 * corner_of(step["ball"], 1 / 3)
    return int(x), int(y), 28


def one_frame(_):
    for two in pairwise(frames_of("Asteroids", [THRUST] * 131)[100:]):
        kept, broken = alike(two), small(two[1])
        dark = (broken[kept > 0] == 0).mean()
        says = f"{percent(dark)} of what is lit is gone"
        yield [two], [(two[1], two[1])], says, WHOLE


def shrunk_first(_):
    shots = [i // 16 % 4 for i in range(460)]
    screens = frames_of("DemonAttack", shots)[380:]
    for two in zip(screens[2::4], screens[3::4], strict=True):
        kept, broken = alike(two), faded(two)
        says = f"{(kept > broken).sum()} pixels fade, by up to "
        says += str((kept - broken).max())
        where_demons_fly = 28, 14, 56
        yield [two], [two], says, where_demons_fly


def in_a_row(played):
    stack = list(stacks(played))
    for at in SHOWN:
        step = played[at]
        frames = [screen for screen, _ in step["frames"]]
        oldest, first, last = (
            find_ball(screen)
            for screen in (played[at - 3]["screen"], frames[0], frames[-1])
        )
        says = "the ball is among the bricks"
        if oldest and first and last:
            says = f"the ball flies {math.dist(first, last):.0f} pixels, "
            says += f"not {math.dist(oldest, last):.0f}"
        broken = [(gray, gray) for _, gray in step["frames"]]
        yield stack[at], broken, says, close_up(step)


def newest_alone(played):
    stack = list(stacks(played))
    for at in SHOWN:
        four = [find_ball(np.maximum(*two)) for two in stack[at]]
        says = "the ball is among the bricks"
        if all(four):
            down = np.diff([y for _, y in four])
            says = "the ball has turned"
            if (down > 0).all():
                says = "the ball falls"
            if (down < 0).all():
                says = "the ball rises"
        yield stack[at], stack[at][3:], says, close_up(played[at])


def without_fire(played):
    actions = [step["action"] for step in played[1:]]
    idle = [NOOP if action == FIRE else action for action in actions]
    idle = list(play(actions=idle))
    points = 0
    for step, other in zip(played[1:65], idle[1:65], strict=True):
        points += step["reward"]
        says = f"points: {points}; without a ball: 0"
        yield [two_of(step)], [two_of(other)], says, WHOLE


def no_end(played):
    actions = [step["action"] for step in played[1:]]
    ends = list(stacks(played))
    goes_on = list(stacks(list(play("ignore", actions))))
    for at in range(LOST_AT - 2, LOST_AT + 12):
        says = "before the lost life both are the same"
        if at >= LOST_AT:
            says = "a life was lost"
        yield ends[at], goes_on[at], says, WHOLE


def one_start(played):
    held = np.repeat([step["action"] for step in played[1 : STARTED + 1]], 4)
    none, *starts = [
        frames_of("Breakout", [NOOP] * count + [*held])[-2:]
        for count in range(NO_OPS + 1)
    ]
    for start in starts:
        same = np.equal(starts, start).all(axis=(1, 2, 3))
        numbers = np.flatnonzero(same) + 1
        says = f"{len(numbers)} numbers of no-ops make this same game: "
        says += ", ".join(map(str, numbers))
        yield [start], [none], says, WHOLE


RULES = {
    "maximum": one_frame,
    "order": shrunk_first,
    "frames": in_a_row,
    "one": newest_alone,
    "fire": without_fire,
    "life": no_end,
    "noops": one_start,
}


def break_rules(played):
    """For each rule what its function yields."""
    return {name: list(rule(played)) for name, rule in RULES.items()}


def shown(name, step):
    """The pictures with a rule kept, and those with it broken."""
    kept, broken, _, (x, y, size) = step
    breaks = faded if name == "order" else alike
    sides = map(alike, kept), map(breaks, broken)
    return [
        [picture[y : y + size, x : x + size] for picture in side]
        for side in sides
    ]


def record_rules(rules):
    """Record the frames of each rule, and which of them make a picture."""
    recording = {}
    for name, steps in rules.items():
        kept, broken, says, parts = zip(*steps, strict=True)
        numbers = {}
        made_of = [
            numbers.setdefault(frame.tobytes(), len(numbers))
            for step in steps
            for two in step[0] + step[1]
            for frame in two
        ]
        frames = np.frombuffer(b"".join(numbers), np.uint8)
        recording[name] = {
            "says": says,
            "parts": parts,
            "counts": [len(kept[0]), len(broken[0])],
            "made_of": made_of,
            "frames": pack(frames.reshape(-1, 210, 160)),
        }
    write("rules.json", recording)
