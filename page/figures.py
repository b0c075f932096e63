"""
Make the figures of the page.

    python page/figures.py             # half a minute

Everything comes from real games: the recordings for the figures that move
(`*.json`, see `recordings.py`) and those that stay still
(`docs/figures/*.svg`). What they show of times and agents is measured by the
instruments in `measure/`, as are the numbers in the text (`facts.py`).
"""

import itertools
import json
import math
import sys
from pathlib import Path

import cv2
import gymnasium as gym
import numpy as np

import recordings
from drawing import Drawing, gray_to_rgb
from recordings import NOOP, brighter, find_ball, make, play, small

# game.py lies one folder up.
sys.path.append(str(Path(__file__).resolve().parents[1]))
from game import Game, Games

HERE = Path(__file__).resolve().parent
STEP_TIME = HERE.parent / "measure/results/step_time.json"
NETWORK_MS = 1.5  # of the network in measure/benchmark.py
TURNS_MS = 10  # of the drawing of two `Games` in turn
ASTEROIDS = 130  # the first of two frames
BANDS = 42  # of five rows, which become two
MISTAKES = 0.3  # of the steps, in the whole game that is drawn
BAD_SEED = 12  # with which that game is played

# Drawing


def percent(share):
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def draw_step(step):
    """The figure to move, standing still at one step."""
    d = Drawing(452)
    for i in range(4):
        x, kept = 4 + 120 * i, i >= 2
        d.image(x, 26, 112, 147, step["rgb"][i], not kept, kept)
        d.text(x, 190, f"frame {i + 1}", "quiet")
    d.text(4, 17, "Four frames, one action held", "strong")
    third, fourth = (gray for _, gray in step["frames"][2:])
    d.text(4, 222, "Gray, the brighter of two, shrunk, stacked", "strong")
    d.image(4, 232, 72, 95, gray_to_rgb(third))
    d.image(82, 232, 72, 95, gray_to_rgb(fourth))
    d.arrow((158, 280), (182, 280))
    d.image(188, 232, 72, 95, gray_to_rgb(np.maximum(third, fourth)))
    d.arrow((264, 280), (288, 280))
    d.image(294, 242, 72, 72, gray_to_rgb(step["picture"]), mark=True)
    for x, name in zip(
        [4, 82, 188, 294], ["3", "4", "brighter", "84×84"], strict=True
    ):
        d.text(x, 343, name, "quiet")
    d.arrow((370, 280), (424, 280), (424, 350))
    for i, picture in enumerate(step["stack"]):
        d.image(4 + 120 * i, 356, 74, 74, gray_to_rgb(picture), mark=i == 3)
        d.text(4 + 120 * i, 446, f"obs_4[{i}]", "quiet")
    d.save("step.svg")


def draw_slots(steps):
    """Which of the frames 1 to 16 ends in which slot of the stack."""
    d = Drawing(478)
    d.text(2, 18, "step", "quiet")
    d.text(52, 18, "frames of the emulator", "quiet")
    d.text(478, 18, "the observation", "quiet end")
    for i, step in enumerate(steps):
        y = 30 + 114 * i
        d.text(8, y + 50, str(i + 1), "strong")
        for j in range(4):
            x, kept = 52 + 66 * j, j >= 2
            d.image(x, y, 58, 76, step["rgb"][j], not kept, kept)
            d.text(
                x + 29,
                y + 94,
                str(4 * i + j + 1),
                "mid strong" if kept else "mid quiet",
            )
        d.arrow((320, y + 38), (374, y + 38))
        d.text(346, y + 30, "max", "quiet mid")
        d.image(400, y, 76, 76, gray_to_rgb(step["picture"]), mark=True)
        d.text(478, y + 94, f"obs_4[{i}]", "code end")
    d.save("slots.svg")


def two_frames():
    """Two gray screens of Asteroids in a row, with and without rocks."""
    env, ale = make("AsteroidsNoFrameskip-v4")
    screens = []
    for frame in range(1, ASTEROIDS + 2):
        env.step(NOOP)
        if frame >= ASTEROIDS:
            screens.append(ale.getScreenGrayscale().copy())
    return screens


def draw_maximum():
    """Two frames in a row, one without rocks, and their maximum."""
    older, newer = two_frames()
    brighter = np.maximum(older, newer)
    d = Drawing(236)
    for i, (name, screen) in enumerate(
        [
            (f"frame {ASTEROIDS}", older),
            (f"frame {ASTEROIDS + 1}", newer),
            ("the brighter", brighter),
        ]
    ):
        x = 2 + 161 * i
        d.image(x, 4, 154, 202, gray_to_rgb(screen), mark=i == 2)
        d.text(x, 228, name, "strong" if i == 2 else "")
    d.save("maximum.svg")


def brightened(pictures):
    return [np.minimum(1.6 * picture, 255) for picture in pictures]


def draw_rules(played):
    """Six rules, kept on the left and broken on the right."""
    rules = json.loads((HERE / "data/rules.json").read_text())
    screens = {name: list(recordings.unpack(rules[name])) for name in rules}
    d = Drawing(510)

    def pair(place, rule, kept, broken, told):
        x, y = 2 + 244 * (place % 2), 172 * (place // 2)
        d.text(x, y + 16, rule, "strong")
        for left, pictures in (x, kept), (x + 120, broken):
            if len(pictures) == 1:
                d.image(left, y + 26, 112, 112, gray_to_rgb(pictures[0]))
            else:
                draw_square(d, left, y + 26, 112, pictures)
        d.text(x, y + 156, told, "quiet")

    two = screens["asteroids"][15], screens["asteroids"][46]  # in a row
    kept, broken = small(np.maximum(*two)), small(two[0])
    gone = percent(((kept > 0) & (broken == 0)).sum() / (kept > 0).sum())
    pair(0, "No maximum", [kept], [broken], f"{gone} of what is lit is gone")

    two = screens["demons"][:2]
    kept, broken = small(np.maximum(*two)), np.maximum(*map(small, two))
    told = f"{(kept > broken).sum()} pixels fade, by up to "
    told += str((kept - broken).max())
    near = np.s_[14:70, 28:84]
    pair(
        1,
        "Shrunk first",
        brightened([kept[near]]),
        brightened([broken[near]]),
        told,
    )

    step = played[62]
    kept = [picture[37:67, 6:36] for picture in step["stack"]]
    grays = [gray for _, gray in step["frames"]]
    broken = [small(gray)[37:67, 6:36] for gray in grays]
    balls = [find_ball(gray) for gray in (grays[0], grays[3])]
    oldest = find_ball(played[59]["frames"][3][1])
    near, far = (math.dist(balls[1], ball) for ball in (balls[0], oldest))
    told = f"the ball flies {near:.0f} pixels, not {far:.0f}"
    kept, broken = brightened(kept), brightened(broken)
    pair(2, "Four frames in a row", kept, broken, told)
    pair(3, "One picture", kept, kept[3:], "which way does it fly?")

    at = recordings.WITHOUT_FIRE
    idle = small(np.maximum(*screens["no_fire"][-2:]))
    told = "no ball, and no points"
    pair(4, "No FIRE", [played[at]["picture"]], [idle], told)

    pairs = zip(*[iter(screens["no_ops"])] * 2, strict=True)
    starts = [small(np.maximum(*two)) for two in pairs]
    games = {start.tobytes(): start for start in starts[1:]}
    told = f"{len(starts) - 1} starts make {len(games)} games"
    pair(5, "No no-op starts", list(games.values()), starts[:1], told)
    d.save("rules.svg")


def shrink_changed(old, new, picture):
    """Shrink only the bands that have changed, as one strip."""
    changed = (old != new).reshape(BANDS, -1).any(axis=1)
    strip = new[changed.repeat(len(new) // BANDS)]
    picture = picture.copy()
    if len(strip):
        shrunk = small(strip, 84 * len(strip) // len(new))
        picture[changed.repeat(84 // BANDS)] = shrunk
    return changed, strip, picture


def draw_bands(before, step):
    """What changes from one step to the next, cut out, shrunk, put back."""
    new, picture = brighter(step), before["picture"]
    changed, strip, picture = shrink_changed(brighter(before), new, picture)
    assert (picture == step["picture"]).all()
    d = Drawing(246)
    d.image(2, 4, 160, 210, gray_to_rgb(new))
    d.image(200, 99 - len(strip) / 2, 160, len(strip), gray_to_rgb(strip))
    d.image(394, 57, 84, 84, gray_to_rgb(picture))
    edges = np.flatnonzero(np.diff(changed, prepend=False, append=False))
    for start, end in edges.reshape(-1, 2):
        d.box(1, 3 + 5 * start, 162, 5 * (end - start) + 2, "mark")
        d.box(393, 56 + 2 * start, 86, 2 * (end - start) + 2, "mark")
    d.arrow((168, 99), (194, 99))
    d.arrow((364, 99), (388, 99))
    d.text(2, 236, f"{changed.sum()} of {BANDS} bands", "strong")
    d.text(200, 236, f"{len(strip)} rows, shrunk", "quiet")
    d.text(478, 236, "the picture", "quiet end")
    d.save("bands.svg")


def play_badly(on_life_loss, steps=None):
    """Play by the rule with mistakes; yield what each step returned.

    That is the reward, the lives left, done and episode_info, until the game
    is over or `steps` have been played.
    """
    game = Game(0, on_life_loss=on_life_loss)
    game.reset()
    random, info = np.random.default_rng(BAD_SEED), None
    for i in itertools.count():
        if i == steps or (not steps and info):
            return
        mistake, any_action = random.random() < MISTAKES, random.integers(4)
        by_rule = recordings.rule(game.render().max(axis=2))
        action = int(any_action) if mistake else by_rule
        _, reward, done, info = game.step(action)
        yield reward, game.env.unwrapped.ale.lives(), done, info


def draw_lives():
    """A whole game of five lives, and as many steps in the other modes."""
    whole = list(play_badly("ignore"))
    width, most = 440 / len(whole), sum(reward for reward, *_ in whole)
    d = Drawing(402)
    for row, mode in enumerate(recordings.MODES):
        top, bottom = 40 + 122 * row, 106 + 122 * row
        d.text(20, top - 8, f'"{mode}"', "code strong")
        steps = whole
        if mode != "ignore":
            steps = list(play_badly(mode, len(whole)))
        d.line((20, bottom), (460, bottom))
        score, points, since, lives_before = 0, [(20, bottom)], 0, None
        for i, (reward, lives, done, info) in enumerate(steps, 1):
            x, score = 20 + width * i, score + reward
            points.append((x, bottom - 56 * score / most))
            if lives != lives_before or info:
                d.text(f"{x:.1f}", bottom + 15, str(lives), "quiet")
                lives_before = lives
            if done:
                d.line((x, top), (x, bottom), kind="red")
            if info:
                told = f"{info['reward']:.0f} in {info['length']}"
                room = x - points[0][0] > 60  # to the left of the mark
                x_told, kind = (
                    (x - 5, "quiet end") if room else (x + 5, "quiet")
                )
                d.text(f"{x_told:.1f}", top + 11, told, kind)
                d.line(*points)
                score, points, since = 0, [(x, bottom)], i
        if since < len(steps):
            d.line(*points)
    d.line((20, 378), (20, 392), kind="red")
    d.text(28, 390, "done", "code")
    d.text(72, 390, f"{told}: episode_info, points in steps", "quiet")
    d.text(460, 390, "below: lives", "quiet end")
    d.save("lives.svg")


def draw_modes(lost):
    """The step that loses a life, in the three modes."""
    numbers, colours = recordings.palette()
    rgb = np.zeros((256, 3), np.uint8)
    rgb[numbers] = colours["rgb"]
    d = Drawing(580)
    for i, (mode, step) in enumerate(lost.items()):
        x = 4 + 164 * i
        d.text(x, 16, f'"{mode}"', "code strong")
        d.image(x, 24, 146, 192, rgb[step["screen"]])
        d.text(x, 236, "obs_4", "code")
        draw_square(d, x, 242, 146, step["stack"])
        d.text(x, 410, f"lives  {step['lives']}", "code")
        d.text(x, 428, f"done   {step['done']}", "code")
        info = step["info"] or {}
        told = "episode_info:" if info else "episode_info None"
        d.text(x, 446, told, "code")
        for k, (name, value) in enumerate(info.items()):
            d.text(x + 14, 464 + 18 * k, f"{name} {value}", "code")
        if step["done"]:
            draw_square(d, x, 512, 64, step["final"])
            d.text(x + 72, 548, "final_obs", "code")
    d.save("modes.svg")


def around_an_end(mode, actions):
    """Three steps of `Games`, from that on which an episode ends.

    Yields the action, the stack, what it is ("first", "last" or "next" of an
    episode), the reward, whether it was terminated, and the infos.
    """
    mode = gym.vector.AutoresetMode[mode]
    begin = recordings.LOST_AT - 1
    with Games(1, processes=0, autoreset_mode=mode) as games:
        first = games.reset()[0][0]
        for action in actions[:begin]:
            games.step([action])
        for action in actions[begin : begin + 3]:
            obs, rewards, terminated, _, infos = games.step([action])
            kind = "last" if terminated[0] else "next"
            kind = "first" if (obs[0] == first).all() else kind
            yield action, obs[0], kind, rewards[0], terminated[0], infos


OBS_IS = {
    "first": "first of an episode",
    "last": "last of the episode",
    "next": "one new picture",
}


def draw_square(d, x, y, size, stack, mark=False):
    """The four pictures of a stack, two by two."""
    each = (size - 4) / 2
    for i, picture in enumerate(stack):
        left, top = x + i % 2 * (each + 4), y + i // 2 * (each + 4)
        d.image(left, top, each, each, gray_to_rgb(picture))
    if mark:
        d.box(x - 2, y - 2, size + 4, size + 4, "mark")


def draw_autoreset(actions):
    """SAME_STEP above NEXT_STEP, from a real run of `Games` in both modes."""
    d = Drawing(652)
    for row, mode in enumerate(["SAME_STEP", "NEXT_STEP"]):
        top, before = 18 + 380 * row, "next"
        d.text(4, top, mode, "code strong")
        for i, step in enumerate(around_an_end(mode, actions)):
            action, stack, kind, reward, terminated, infos = step
            x, y = 4 + 166 * i, top + 10
            ignored = ", ignored" if before == "last" else ""
            taken = f"{recordings.ACTIONS[action]}{ignored}"
            d.text(x, y + 14, f"{recordings.LOST_AT + i}: {taken}", "quiet")
            draw_square(d, x, y + 22, 140, stack, kind != "next")
            d.text(x, y + 180, OBS_IS[kind], "strong")
            d.text(x, y + 198, f"reward {reward:.0f}", "code")
            d.text(x, y + 215, f"terminated {terminated}", "code")
            if "final_info" in infos:
                d.text(x, y + 232, "infos: final_info", "code")
            if "final_obs" in infos:
                d.text(x, y + 249, "infos: final_obs", "code")
                draw_square(d, x, y + 258, 84, infos["final_obs"][0])
                d.text(x + 94, y + 304, OBS_IS["last"], "quiet")
            before = kind
    d.save("autoreset.svg")


def draw_turns(step_time):
    """Steps in lockstep above, and of two `Games` in turn below."""
    cores = step_time["machine"]["cores"]
    games = 8 * step_time["Breakout"]["total"] / cores / 1000
    network = NETWORK_MS
    d = Drawing(280)
    left, scale = 76, 400 / TURNS_MS

    def lane(y, name, spans):
        d.text(4, y + 15, name, "quiet")
        d.line((left, y + 22), (left + 400, y + 22))
        for start, length, letter in spans:
            if start >= TURNS_MS:
                continue
            x, end = left + start * scale, min(start + length, TURNS_MS)
            kind = "other" if letter == "B" else "bar"
            d.box(f"{x:.1f}", y, f"{(end - start) * scale - 2:.1f}", 20, kind)
            d.text(f"{x + 5:.1f}", y + 15, letter, "ink")

    rounds = range(8)
    both = games + network
    d.text(4, 16, "In lockstep", "strong")
    lane(26, "network", [(i * both, network, "A") for i in rounds])
    lane(52, "games", [(i * both + network, games, "A") for i in rounds])

    each = max(games, network)
    d.text(4, 116, "Two Games in turn", "strong")
    spans = [(i * each, network, "AB"[i % 2]) for i in rounds]
    lane(126, "network", spans)
    for row, y in ("A", 152), ("B", 178):
        lane(
            y,
            f"games {row}",
            [
                (start + network, games, letter)
                for start, _, letter in spans
                if letter == row
            ],
        )
    for ms in range(0, TURNS_MS + 1, 2):
        x = left + ms * scale
        d.line((x, 200), (x, 206))
        kind = "end" if ms == TURNS_MS else "mid" if ms else ""
        d.text(x, 222, f"{ms} ms", f"quiet {kind}")
    told = (
        f"Eight games take {games:.1f} ms on {cores} cores, as measured; the"
    )
    d.text(4, 248, told, "quiet")
    told = f"network {network} ms on a device of its own, as in the benchmark."
    d.text(4, 266, told, "quiet")
    d.save("turns.svg")


def draw_step_time(step_time):
    """Where a step's time goes: part after part, in two titles."""
    titles = {
        title: measured
        for title, measured in step_time.items()
        if isinstance(measured, dict) and "parts" in measured
    }
    most = max(measured["total"] for measured in titles.values())
    parts = [name for name, _ in titles["Breakout"]["parts"]]
    d = Drawing(46 + 52 * len(parts) + 46)
    for j, (title, measured) in enumerate(titles.items()):
        x, kind = 4 + 236 * j, "other" if j else "bar"
        d.box(x, 6, 14, 14, kind)
        d.text(x + 20, 18, f"{title}: {measured['total']:.0f} µs", "strong")
    past = dict.fromkeys(titles, 0)
    for i, part in enumerate(parts):
        y = 40 + 52 * i
        d.text(4, y + 13, part)
        for j, (title, measured) in enumerate(titles.items()):
            time_of = measured["parts"][i][1]
            x, width = 4 + 420 * past[title] / most, 420 * time_of / most
            top, kind = y + 19 + 13 * j, "other" if j else "bar"
            d.box(f"{x:.1f}", top, f"{max(width, 1):.1f}", 11, kind)
            d.text(f"{x + width + 6:.1f}", top + 10, f"{time_of:.1f}", "quiet")
            past[title] += time_of
    cores = step_time["machine"]["cores"]
    told = f"Microseconds for a step of one game, on one of {cores} cores,"
    d.text(4, d.height - 28, told, "quiet")
    d.text(4, d.height - 10, f"measured on {step_time['date']}", "quiet")
    d.save("step-time.svg")


WRITES_AND_READS = {  # a field of a game's record, or a half of it
    "reward": (["worker, in each step"], ["program, in it"]),
    "screen": (["worker, in render()"], ["program, in render()"]),
    "obs[half]": (
        ["worker, in each reset", "and step"],
        ["program, after it;", "returns a copy"],
    ),
    "obs[1 - half]": (
        ["nobody: the caller", "has seen this one"],
        ["program, if the", "worker has died"],
    ),
    "final_obs": (["worker, as an episode", "ends"], ["program, in it"]),
}


def draw_record():
    """One record of the shared memory: who writes and who reads a field."""
    with Games(1, processes=0) as games:
        record = games._records.dtype
    d = Drawing(44 + 62 * len(WRITES_AND_READS))
    d.text(4, 18, "a game's record", "strong")
    d.text(154, 18, "who writes", "strong")
    d.text(322, 18, "who reads", "strong")
    for i, (field, (writes, reads)) in enumerate(WRITES_AND_READS.items()):
        name, _, half = field.partition("[")
        size = record[name].itemsize // (2 if half else 1)
        y = 32 + 62 * i
        d.box(4, y, 140, 62)
        d.text(14, y + 26, field, "code strong")
        d.text(14, y + 46, f"{size:,} bytes", "quiet")
        for x, lines in (154, writes), (322, reads):
            for k, line in enumerate(lines):
                d.text(x, y + 26 + 18 * k, line)
        d.line((144, y + 62), (476, y + 62))
    d.save("record.svg")


def draw_agent(recording):
    """What the trained agent sees, expects and does at its first point."""
    decisions = recording["decisions"]
    at = next((i for i, step in enumerate(decisions) if step[1]), 0)
    action, _, _, _, value, chances = decisions[at]
    rgb = np.array(recording["rgb"], np.uint8)
    screens = list(recordings.unpack(recording["screens"]))
    frames = list(recordings.unpack(recording["frames"], 84, 84))
    d = Drawing(408)
    for x, y, text in [
        (4, 16, "You see"),
        (178, 16, "It sees"),
        (350, 16, "It does"),
        (4, 290, f"It expects {value:.2f} in rewards to come"),
    ]:
        d.text(x, y, text, "strong")
    d.image(4, 26, 160, 210, rgb[screens[at]])
    draw_square(d, 178, 26, 158, frames[max(at - 3, 0) : at + 1])
    for i, (name, chance) in enumerate(
        zip(recording["actions"], chances, strict=True)
    ):
        y = 26 + 42 * i
        d.text(350, y + 13, name, "strong" if i == action else "quiet")
        d.text(476, y + 13, percent(chance), "quiet end")
        d.box(350, y + 19, 126, 14)
        d.box(350, y + 19, 126 * chance, 14, "bar" if i == action else "tip")
        equal = 350 + 126 / len(chances)
        d.line((equal, y + 16), (equal, y + 36), kind="line dash")
    d.text(350, 26 + 42 * len(chances) + 14, "dashed: chance", "quiet")
    d.text(4, 254, f"step {at + 1} of {recording['length']}", "quiet")
    values = [step[4] for step in decisions]
    most, least = max(values), min(*values, 0)

    def point(i):
        x = 4 + 472 * i / (len(values) - 1)
        return x, 304 + 96 * (most - values[i]) / (most - least)

    zero = 304 + 96 * most / (most - least)
    d.line((4, zero), (476, zero))
    d.line(*map(point, range(len(values))), kind="trace")
    d.line((point(at)[0], 300), (point(at)[0], 404), kind="red")
    d.save("agent.svg")


def draw_pipe():
    """What crosses the pipes, labml's way and ours, and what is shared."""
    pipe = json.loads((HERE / "data/pipe.json").read_text())
    (labml_up, labml_down), (up, down) = (
        pipe["bytes"][way][0] for way in ("labml", "ours")
    )
    d = Drawing(582)
    d.text(4, 18, "labml's way: a process and a pipe for each game", "strong")
    d.box(4, 28, 472, 28)
    d.text(18, 47, "the program")
    for i in range(8):
        x = 4 + 60 * i
        d.line((x + 2, 56), (x + 2, 118))
        d.box(x + 6, 67, 40, 40, "bar")
        d.box(x, 118, 52, 28)
        d.text(x + 26, 137, str(i), "mid")
    told = f"8 × {labml_down // 8:,} bytes down, 8 × {labml_up // 8:,} back"
    d.text(4, 166, told, "quiet")

    top = 196
    d.text(4, top, "Here: two processes, and shared memory", "strong")
    top += 10
    d.box(4, top, 472, 74)
    d.text(18, top + 22, "the program", "strong")
    d.text(18, top + 42, "observations, rewards, … = games.step(…)", "code")
    d.text(18, top + 62, "Games: checks the batch, sends it, waits, copies")
    for i, x in enumerate([4, 162]):
        y = top + 138
        d.box(x, y, 150, 136)
        d.text(x + 12, y + 22, f"process {i + 1}", "strong")
        d.text(x + 12, y + 42, "worker_process", "code")
        for j in range(4):
            d.box(x + 12 + 32 * j, y + 54, 28, 28, "page")
            d.text(x + 26 + 32 * j, y + 73, str(4 * i + j), "mid quiet")
        d.text(x + 12, y + 102, "a row, played", "quiet")
        d.text(x + 12, y + 120, "game after game", "quiet")
        d.arrow((x + 12, top + 74), (x + 12, y))
        d.arrow((x + 88, y), (x + 88, top + 74))
        for side, count, what in [
            (18, down // 2, "actions"),
            (94, up // 2, "ends"),
        ]:
            d.text(x + side, top + 100, f"{count} bytes", "quiet")
            d.text(x + side, top + 117, what, "quiet")
    y = top + 138
    d.box(328, y, 148, 232)
    d.text(340, y + 22, "shared memory", "strong")
    d.box(340, y + 34, 40, 40, "bar")
    for k, line in enumerate(["observations", "uint8", "(8, 4, 84, 84)"]):
        d.text(340, y + 94 + 18 * k, line, "code" if k else "")
    d.text(340, y + 150, f"{pipe['shared']:,} bytes", "quiet")
    for k, line in enumerate(["rewards", "final_obs", "screens"]):
        d.text(340, y + 178 + 18 * k, line)
    d.arrow((237, y + 136), (237, y + 164), (328, y + 164))
    d.arrow((79, y + 136), (79, y + 184), (328, y + 184))
    d.text(90, y + 206, "results, written in place", "quiet")
    d.arrow((440, y), (440, top + 74))
    d.text(432, top + 100, "a copy", "quiet end")
    d.text(432, top + 117, "a step", "quiet end")
    d.save("pipe.svg")


# All of them


def draw():
    """Make the recordings and all drawings."""
    played = list(play())
    recordings.record(played)
    recordings.record_rules(played)
    draw_modes(recordings.record_modes(played))
    steps = [played[i] for i in (62, 12, 13, 14, 15)]
    draw_step(steps[0])
    draw_slots(steps[1:])
    draw_maximum()
    draw_bands(played[61], played[62])
    draw_rules(played)
    draw_lives()
    draw_autoreset([step["action"] for step in played[1:]])
    draw_pipe()
    draw_record()
    step_time = json.loads(STEP_TIME.read_text())
    draw_turns(step_time)
    draw_step_time(step_time)
    draw_agent(json.loads((HERE / "data/agent.json").read_text()))


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(__doc__)
    cv2.setNumThreads(0)
    draw()
