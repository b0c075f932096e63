"""The whole play by the rule, for the step that is taken apart."""

from typing import Any

from recordings import FALLS, RISES, Ball, by_colour, colours, pack, play


def left_of(ball: Ball) -> int:
    """Where the half around the ball begins, in twelfths of the width."""
    return round(12 * min(max(ball.x / 160 - 1 / 4, 0), 1 / 2))


def record() -> dict[str, Any]:
    """Each step has four frames, whether all were played or not, and says of
    which steps the pictures in its stack are; step 0 is the start. `pictures`
    are the newest of each stack.
    """
    frames, steps, stack = [], [], []
    for at, step in enumerate(play()):
        screens = [frame.screen for frame in step.frames]
        frames += [*screens, *screens[-1:] * (4 - len(screens))]
        stack = [at] * 4 if step.done else [*stack[1:], at]
        steps.append(
            {
                "action": step.action,
                "played": len(screens),
                "reward": step.reward,
                "done": step.done,
                "left": left_of(step.ball),
                "stack": stack,
            }
        )
    return {
        "recording": {
            "rgb": colours().rgb,
            "gray": colours().gray,
            "up": RISES,
            "down": FALLS,
            "steps": steps,
            "frames": pack(by_colour(frames)),
            "pictures": pack([step.stack[-1] for step in play()]),
        }
    }
