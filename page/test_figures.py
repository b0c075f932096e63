"""
Tests of the figures: what they show is what `Game` and `Games` return.

    pip install -r requirements.txt --group page    # and a system's Chromium
    python -m pytest page/test_figures.py
"""

import base64
import io
import itertools
import multiprocessing
import re
import xml.etree.ElementTree as xml
from pathlib import Path

import cv2
import numpy as np
import pytest
from fontTools.ttLib import TTFont
from playwright.sync_api import expect

import game
from drawing import PICTURES, percent
from figures import (
    GUESS,
    LANES,
    NEAR,
    PART,
    PIXEL,
    STEP,
    bright,
    faded,
    in_colour,
    objects,
    read,
    to_learn_from,
)
from fonts import FONTS
from measured import measured
from recordings import (
    FALLS,
    FLICKER,
    LOST_AT,
    RISES,
    THRUST,
    brighter,
    close_up,
    find_ball,
    frames_of,
    kept,
    play,
    serve,
    small,
    unpack,
)

ADDRESS = (PICTURES.parent / "index.html").as_uri()
CHARTS = PICTURES.parent / "charts"
NOTES = Path(__file__).with_name("notes.md").read_text()
FILMS = ["step-figure", "agent-figure", "race-figure", "kill-figure"]
AGENTS = ["young", "agent"]
ASKING = {
    "serves": f"Only {measured()['noop_starts']}.",
    "lanes": "Take the first of each environment.",
    "move": "LEFT does.",
    "still": f"Only {measured()['still_games']['mean']:.0f}.",
}
FIGURES = ["guess", "pixel-figure", *ASKING, *FILMS]
PLAYED = list(play())
ACTIONS = [step["action"] for step in PLAYED[1:]]
SAYS = "figure.querySelector('.says').textContent"  # of a script


# What the figures are made from


@pytest.mark.parametrize("mode", game.Game.MODES)
def test_what_is_played_is_what_game_returns(mode):
    """Before, at and after the lost life."""
    one = game.Game(0, on_life_loss=mode)
    first, *played = play(mode, ACTIONS)
    assert (one.reset() == first["stack"]).all()
    for step in played:
        obs_4, *told = one.step(step["action"])
        assert (obs_4 == step["stack"]).all()
        assert told == [step["reward"], step["done"], step["info"]]
        assert step["lives"] == one.env.unwrapped.ale.lives()
        assert (in_colour(step["screen"]) == one.render()).all()
        if step["done"]:
            assert (one.final_obs == step["final"]).all()
    assert played[LOST_AT - 1]["done"] == (mode != "ignore")


def test_a_lost_life_brings_new_pictures():
    """All four or, if the episode goes on, the newest alone."""
    drawn = (PICTURES / "modes.svg").read_text()
    rows = re.split("&quot;(?:continue|ignore)&quot;", drawn)[1:]
    rims = [re.findall('<rect[^>]* class="picture"', it) for it in rows]
    assert [len(new) for new in rims] == [4, 1]
    going_on = re.findall('href="([^"]+)', rows[1])
    assert len(set(going_on)) == 4


def part(picture, step, width=28):
    """What a guess shows of a picture."""
    left, top, width, height = close_up(step, width)
    return picture[top : top + height, left : left + width]


def test_the_ball_flies_as_the_guesses_have_it():
    """In all that is shown of a step, and as long as it is seen to fly on."""
    for way, steps in (-1, RISES), (1, FALLS):
        for at in steps:
            frames = [frame for frame, _ in PLAYED[at]["frames"]]
            heights = [find_ball(frame)[1] for frame in frames]
            assert (np.diff(heights) * way > 0).all()
            heights = [
                find_ball(brighter(step))[1]
                for step in PLAYED[at - 3 : at + 5]
            ]
            assert (np.diff(heights) * way > 0).all()


def test_how_far_the_ball_flies_in_four_frames():
    """One to three pixels of a picture, as the page says, and one flies up."""
    notes = Path(__file__).with_name("notes.md").read_text()
    assert "the ball of the first question: it flies up." in notes
    assert GUESS in RISES
    for at in RISES + FALLS:
        frames = [frame for frame, _ in PLAYED[at]["frames"]]
        way = np.subtract(find_ball(frames[-1]), find_ball(frames[0]))
        pixels = np.abs(way * (84 / 160, 84 / 210)).max()
        assert 0.5 < pixels < 3.5
    for told in "game.py", "page/moving/guess.js":
        text = (Path(__file__).parents[1] / told).read_text()
        assert re.search("ball moves by (only )?one to three pixels", text)


def test_one_picture_does_not_tell_which_way_the_ball_flies():
    """To each there is one that looks the same and goes the other way."""
    assert len(set(RISES + FALLS)) == 2 * len(RISES) == 30
    for rise, fall in zip(RISES, FALLS, strict=True):
        pair = [PLAYED[at] for at in (rise, fall)]
        one, other = (part(step["picture"], step, 36) for step in pair)
        # Nothing is different but two balls, which are close to each other.
        assert 0 < (one != other).sum() <= 24
        rows, columns = np.nonzero(one != other)
        assert np.ptp(rows) <= 6 and np.ptp(columns) <= 6


def test_the_drawing_of_the_pipes_has_the_bytes_of_today():
    """In a step, those that this process reads and writes."""

    def counted():
        text = Path("/proc/self/io").read_text()
        return [*map(int, re.findall(r"char: (\d+)", text)), len(text)]

    with game.Games(8, processes=2) as games:
        obs, _ = games.reset()
        read, written, asked = counted()
        games.step([1] * 8)
        now_read, now_written, _ = counted()
    answer = (now_read - read - asked) // 2
    command = (now_written - written) // 2
    drawn = (PICTURES / "pipe.svg").read_text()
    for count in command, answer, obs.nbytes:
        assert f">{count:,} bytes<" in drawn


def test_the_end_of_an_episode_is_drawn_as_games_has_it():
    """Around the first lost life, by name."""
    drawn = xml.parse(PICTURES / "ends.svg").iter()
    told = [it.text for it in drawn if it.tag.endswith("text")]
    one = game.Game(0)
    one.reset()
    done = False
    while not done:
        obs_4, _, done, _ = one.step(1)
    named = {"last of old": one.final_obs, "first of new": obs_4}
    for name in "second", "third":
        named[name], *_ = one.step(1)
    for mode in "SAME_STEP", "NEXT_STEP":
        _, *returned, under, beside = told[told.index(mode) :][:6]
        autoreset = {"autoreset_mode": game.gym.vector.AutoresetMode[mode]}
        with game.Games(1, processes=0, **autoreset) as games:
            games.reset()
            terminated = False
            while not terminated:
                obs, _, terminated, _, infos = games.step([1])
            seen = [obs[0]]
            if under:
                assert beside == 'infos["final_obs"]'
                assert (infos["final_obs"][0] == named[under]).all()
            else:
                assert beside == "action ignored, reward 0"
                assert "final_obs" not in infos
            obs, rewards, *_ = games.step([1 if under else 2])
            assert rewards == 0
            seen += [obs[0], games.step([1])[0][0]]
        for name, obs_4 in zip(returned, seen, strict=True):
            assert (obs_4 == named[name]).all()


def grays(name):
    """The gray pictures in a drawing."""
    for image in re.findall('base64,(.*?)"', (PICTURES / name).read_text()):
        data = np.frombuffer(base64.b64decode(image), np.uint8)
        yield cv2.imdecode(data, cv2.IMREAD_GRAYSCALE)


def test_the_ball_is_drawn_as_it_moves_in_a_stack():
    """Further than in four frames in a row, which are drawn beside it."""
    step = PLAYED[GUESS]
    frames = [small(gray) for _, gray in step["frames"]]
    stack, row = grays("stack.svg")
    for pictures, seen in (step["stack"], stack), (frames, row):
        whole = bright(faded(pictures))
        parts = np.lib.stride_tricks.sliding_window_view(whole, seen.shape)
        assert (parts == seen).all(axis=(2, 3)).any()
    assert (stack > 0).sum() > 2 * (row > 0).sum() > 0


def test_breakout_has_four_serves():
    """After as many no-op frames modulo 4 the ball flies the same way."""
    ways = [np.array(serve(no_ops)) for no_ops in range(1, 13)]
    for (i, one), (j, other) in itertools.combinations(enumerate(ways), 2):
        assert (one == other).all() == (i % 4 == j % 4)
    for seen, way in zip(grays("serves.svg"), ways[:4], strict=True):
        assert (seen == bright(faded(way))).all()
        newest = way[-1] == way.max(axis=0)  # all but where the ball was
        assert (seen[newest] == bright(way[-1])[newest]).all()


def test_the_lives_are_drawn_as_they_were_lost():
    """Each box ends where its step is, and a mark is at each brick."""
    one = game.Game(0, on_life_loss="continue")
    one.env.action_space.seed(0)
    one.reset()
    ends, bricks = [], []
    info, step = None, 0
    while info is None:
        step += 1
        _, reward, done, info = one.step(one.env.action_space.sample())
        ends += [step] * done
        bricks += [step] * int(reward)
    rects = [
        {name: it.get(name) for name in ("class", "x", "width")}
        for it in xml.parse(PICTURES / "lives.svg").iter()
        if it.tag.endswith("rect")
    ]
    marks = [int(it["x"]) for it in rects if it["width"] == "4"]
    boxes = [it for it in rects if it["class"] == "box"]
    rights = [int(it["x"]) + int(it["width"]) for it in boxes]
    scale = 464 / step
    assert marks == [round(scale * brick) for brick in bricks]
    assert rights == [1 + round(scale * end) for end in ends]
    drawn = (PICTURES / "lives.svg").read_text()
    assert all(f">{end}<" in drawn for end in ends)
    assert len(ends) == drawn.count(">life ") == 5


def test_the_first_to_finish_are_drawn_as_they_finish():
    """Played on a clock, the example has the means that it tells."""
    clock, done = 0, []
    while len(done) < len(LANES):
        clock += 1
        for lane in LANES:
            ends = np.cumsum([length for length, _ in lane]).tolist()
            if clock in ends:
                done.append(lane[ends.index(clock)][1])
    drawn = (PICTURES / "lanes.svg").read_text()
    assert f"= {np.mean(done):.1f} points" in drawn
    assert f"= {np.mean([lane[0][1] for lane in LANES]):.1f} points" in drawn
    assert f"({' + '.join(map(str, done))}) / 3" in drawn


def test_the_race_is_drawn_as_it_was_recorded():
    """Each bar is where its times are, and eight games are played in both."""
    race = read("race")
    assert race["machine"]["cores"] == 2  # as its words say
    played = measured()["benchmark"]["agent"]["columns"]["Breakout"]
    ours, each = (played[it]["speed"] for it in ("games", "games_each"))
    eight, two = (race[it]["program"][-1][1] for it in ("workers", "games"))
    assert abs(eight / two - np.median(np.array(ours) / each)) < 0.1
    drawn = xml.parse(PICTURES / "race.svg").iter()
    bars = [it for it in drawn if it.get("class") in ("ink", "game", "ours")]
    bars = [it for it in bars if it.tag.endswith("rect")]
    for name, ink in ("workers", "game"), ("games", "ours"):
        assert len(race[name]["games"]) == 8
        for spans, kind in (
            (race[name]["program"], "ink"),
            (race[name]["games"], ink),
        ):
            for start, end in spans:
                bar = bars.pop(0)
                assert bar.get("class") == kind
                assert abs(float(bar.get("x")) - 84 - 130 * start) < 0.06
                width = max(1, 130 * (end - start) - 1)
                assert abs(float(bar.get("width")) - width) < 0.06
    assert not bars


# The still pictures


def test_stills_can_be_seen_on_any_page():
    """Pictures are on a dark ground, diagrams are light and dark."""
    for path in PICTURES.glob("*.svg"):
        text = path.read_text()
        root = xml.fromstring(text)
        assert int(root.get("width")) <= 480
        assert "#0c0d10" in text or "prefers-color-scheme" in text
        for element in root.iter():
            for key, size in ("x", "width"), ("y", "height"):
                at = float(element.get(key, 0))
                assert 0 <= at <= float(root.get(size)), path


def test_drawings_have_the_letters_that_they_need():
    """All that the fonts of the page have; an image can't ask for those."""

    def known(file):
        return set(TTFont(file).getBestCmap())

    fonts = {path.stem: known(path) for path in FONTS.glob("*-all.woff2")}
    for path in [*PICTURES.glob("*.svg"), *CHARTS.glob("*.svg")]:
        svg = path.read_text()
        data = re.findall("font/woff2;base64,(.*?)\\)", svg)
        had = [known(io.BytesIO(base64.b64decode(one))) for one in data]
        texts = xml.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
        used = {ord(letter) for one in texts for letter in one.text or ""}
        assert len(used) > 3
        assert used & fonts["sans-all"] <= set().union(*had), path


# In a browser


@pytest.fixture
def visit(open_page):
    """Open the page of a width, where nothing moves unless it is asked to."""

    def visit(width=1280, motion="reduce", **options):
        return open_page(ADDRESS, width, reduced_motion=motion, **options)

    return visit


def look_at(page, name):
    """Bring a figure into view, where it begins; return it."""
    figure = page.locator(f"#{name}")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".says")).not_to_be_empty()
    return figure


def at_each_step(figure, expression):
    """What an expression in JavaScript is at each step of a figure."""
    return figure.evaluate(
        """(figure, expression) => {
        const slider = figure.querySelector("input[type=range]"), seen = [];
        for (let at = Number(slider.min); at <= slider.max; at++) {
          slider.value = at;
          slider.dispatchEvent(new Event("input"));
          seen.push(eval(expression));
        }
        return seen; }""",
        expression,
    )


CANVASES = """[...figure.querySelectorAll("canvas")]
    .filter((canvas) => canvas.offsetParent)
    .map((canvas) => canvas.toDataURL())"""


def decoded(urls):
    """Pictures of their addresses; None for what is blank."""
    for url in urls:
        data = base64.b64decode(url.partition(",")[2])
        rgba = cv2.imdecode(
            np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED
        )
        yield rgba[..., 2::-1] if rgba[..., 3].any() else None


def pictures(figure):
    """The pictures that a figure shows, at each step."""
    return map(decoded, at_each_step(figure, CANVASES))


def check(seen, made):
    """The pictures that are seen are those that were made."""
    for one, other in zip(seen, made, strict=True):
        if other is not None and other.ndim == 2:
            other = other[..., None].repeat(3, axis=2)
        assert np.array_equal(one, other)


def test_a_step_is_what_was_played(visit):
    """A frame that was never played is blank."""
    figure = look_at(visit(), "step-figure")
    seen = list(pictures(figure))
    says = at_each_step(figure, SAYS)
    for i, step in enumerate(PLAYED[1:]):
        told = "Reward {reward}, done {done}."
        assert says[i].endswith(told.format_map(step))
        frames = in_colour([screen for screen, _ in step["frames"]])
        missing = [None] * (4 - len(frames))
        check(seen[i], [*frames, *missing, *step["stack"]])
    assert len(seen) == len(PLAYED) - 1
    assert len(PLAYED[LOST_AT]["frames"]) == 1


def test_the_fourth_frame_shows_no_rock_and_the_third_no_ship():
    frames = frames_of("Asteroids", [THRUST] * 4 * FLICKER)
    third, fourth = np.array(frames[4 * FLICKER - 2 :])
    drawn = (PICTURES / "maximum.svg").read_text()
    made = [third, fourth, np.maximum(third, fourth)]
    for url, screen in zip(
        re.findall('href="data:.*?,(.*?)"', drawn), made, strict=True
    ):
        png = np.frombuffer(base64.b64decode(url), np.uint8)
        seen = cv2.imdecode(png, cv2.IMREAD_GRAYSCALE)
        assert np.array_equal(seen, screen[PART])
    # Below the score nothing is in both; the ship is small.
    third, fourth = third[20:] > 0, fourth[20:] > 0
    assert not (third & fourth).any()
    assert 0 < fourth.sum() < 60 < 10 * fourth.sum() < third.sum()


def test_a_pixel_is_what_opencv_makes_of_two_frames(visit):
    """Each of those that are shown, by keyboard."""
    figure = look_at(visit(), "pixel-figure")
    [seen] = decoded(figure.evaluate(f"(figure) => {CANVASES}"))
    picture = PLAYED[STEP]["picture"]
    check([seen], [picture[24:66, :42]])
    grays = [gray for _, gray in kept(PLAYED[STEP])]
    resized = np.array([small(gray) for gray in grays])
    grays.append(np.maximum(*grays))
    exact = cv2.resize(
        grays[2].astype(np.float64), (84, 84), interpolation=cv2.INTER_AREA
    )
    told = figure.evaluate("""(figure) => {
        const field = figure.querySelector(".field"), told = [];
        const press = (key) => field.dispatchEvent(
          new KeyboardEvent("keydown", { key }));
        const tell = () => told.push([
          figure.querySelector(".says").textContent,
          figure.querySelector("output").textContent,
          [...figure.querySelectorAll(".patch em")].map((it) => it.innerText),
          figure.querySelector(".patch i").getAttribute("style")]);
        tell();
        for (let i = 0; i < 84; i++) { press("ArrowLeft"); press("ArrowUp"); }
        for (let row = 0; row < 42; row++) {
          for (let column = 0; column < 42; column++) {
            tell();
            press(row % 2 ? "ArrowLeft" : "ArrowRight");
          }
          press("ArrowDown");
        }
        return told; }""")
    places = []
    for says, stored, numbers, border in told:
        numbers_told = map(float, re.findall(r"\d+(?:\.\d+)?", says))
        row, column, mean, said = numbers_told
        row, column = int(row), int(column)
        places.append((column, row))
        assert int(stored) == said == picture[row, column]
        assert abs(mean - exact[row, column]) < 0.0501
        # The border is around what is covered of three by three pixels.
        left, top, width, height = map(
            float, re.findall(r"calc\(([\d.e-]+)\*", border)
        )
        x, y = column * 160 / 84 - left, row * 2.5 - top
        assert np.allclose([x, y], np.round([x, y]))
        assert width == 160 / 84 and height == 2.5
        assert 0 <= left <= left + width < 3 + 1e-9
        assert 0 <= top <= top + height <= 3
        x, y = round(x), round(y)
        made = [gray[y : y + 3, x : x + 3].ravel() for gray in grays]
        assert [*map(int, numbers)] == np.concatenate(made).tolist()
    assert places[0] == PIXEL and len(set(places)) == 42 * 42
    column, row = PIXEL
    third, fourth = resized[:, row, column]
    dimmed, bright = max(third, fourth), picture[row, column]
    notes = Path(__file__).with_name("notes.md").read_text()
    told = f"be max({third}, {fourth}) = {dimmed} in place of {bright}"
    assert told in notes


def test_a_pixel_is_touched(visit):
    page = visit(390, has_touch=True)
    figure = look_at(page, "pixel-figure")
    box = figure.locator(".field").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 4
    page.touchscreen.tap(x + 1, y + 4)
    expect(figure.locator(".says")).to_contain_text("Row 35, column 21:")


def test_a_small_picture_that_is_touched_is_large(visit):
    """And goes on to move, until it is touched again."""
    page = visit(390, has_touch=True)
    canvas = look_at(page, "step-figure").locator(".stack canvas").last
    for times in 3, 1:
        canvas.tap()
        assert canvas.bounding_box()["width"] == times * 84
        page.locator("#step-figure input").press("ArrowRight")
        assert canvas.bounding_box()["width"] == times * 84


def test_most_is_expected_when_the_ball_is_behind_the_wall():
    agent = read("agent")
    behind = unpack(agent["screens"])[:, 32:57, 8:152]  # its colour numbers
    black = agent["rgb"].index([0, 0, 0])
    values = [step[4] for step in agent["decisions"]]
    most = int(np.argmax(values))
    assert (behind[most] != black).any()
    assert (behind[: most - 5] == black).all()
    top = int((behind != black).any(axis=(1, 2)).argmax())
    paddle = unpack(agent["screens"])[:, 190, 8:152] != black
    widths = paddle.sum(axis=1)
    assert widths[: top + 1].min() > widths[top + 5 :].max()


def moments(name):
    """What a recording of an agent has.

    For each step its number, decision and pictures, and whether it loses a
    life.
    """
    agent = read(name)
    rgb = np.array(agent["rgb"])
    screens = unpack(agent["screens"])
    older, frames = np.split(unpack(agent["frames"], 84, 84), [3])
    stack = [None, *older]
    found = []
    for i, decision in enumerate(agent["decisions"]):
        *_, first, _, _ = decision
        stack = [frames[i]] * 4 if first else [*stack[1:], frames[i]]
        seen = [rgb[screens[i]], *stack]
        after = agent["decisions"][i + 1 : i + 2]
        lost = any(first for *_, first, _, _ in after)
        found.append((agent["start"] + i + 1, decision, seen, lost))
    return found


def filmed():
    """The young agent, and the other one from 120 steps before it expects
    most.
    """
    trained = moments("agent")
    most = np.argmax([decision[4] for _, decision, *_ in trained])
    return [*moments("young"), *trained[most - 120 :]]


def test_the_agents_see_what_was_recorded(visit):
    figure = look_at(visit(), "agent-figure")
    shown = filmed()
    for seen, (*_, wanted, _) in zip(pictures(figure), shown, strict=True):
        check(seen, wanted)
    values = [decision[4] for _, decision, *_ in shown]
    axis = figure.locator(".trace span").all_inner_texts()
    assert axis == [f"{np.ceil(max(values)):.0f}", "0"]
    told = at_each_step(figure, "figure.querySelector('.value').textContent")
    assert told == [f"{value:.2f}" for value in values]
    ages = at_each_step(figure, "figure.querySelector('.age').textContent")
    young, trained = (round(read(it)["trained"] / 1e6, 1) for it in AGENTS)
    late = len(shown) - len(moments("young"))
    assert ages[:-late] == [f"Trained {young:g} M steps"] * (len(ages) - late)
    assert ages[-late:] == [f"Trained {trained:g} M steps"] * late
    for says, (_, decision, _, lost) in zip(
        at_each_step(figure, SAYS), shown, strict=True
    ):
        action, reward, *_ = decision
        assert says.startswith(
            f"It samples {read('agent')['actions'][action]}"
        )
        assert (f"scores {reward}" in says) == (reward > 0)
        assert ("loses a life" in says) == lost


def test_after_another_action_the_ball_is_lost():
    """The same game up to there: in it the ball is hit, and lives remain."""
    film, missed = read("agent"), read("missed")
    at = to_learn_from(film)
    same = {"env_id", "trained", "seed", "actions"}
    assert all(film[key] == missed[key] for key in same)
    hit = film["decisions"][at + 1 : at + 5]
    for decisions, lives in (
        (hit, [5] * 4),
        (missed["decisions"], [5, 5, 4, 4]),
    ):
        assert [decision[2] for decision in decisions] == lives
        assert len(decisions) == 4
    points = sum(reward for _, reward, *_ in film["decisions"][: at + 1])
    assert missed["before"] == film["before"] + points
    drawn = (PICTURES / "move.svg").read_text()
    before = film["decisions"][at]
    assert film["actions"][before[0]] == "LEFT" and before[1] == 0
    for name, *steps in (
        ("before", before, before),
        ("after", hit[0], missed["decisions"][0]),
    ):
        values = " | ".join(f"{step[4]:.2f}" for step in steps)
        assert f"| value {name} | {values} |" in NOTES
    # Near by are the paddle and the ball or, where it is missed, the paddle.
    after = unpack(film["screens"])[at - 1 : at + 2]
    black = film["rgb"].index([0, 0, 0]), missed["rgb"].index([0, 0, 0])
    seen = [screen[NEAR] != black[0] for screen in after]
    seen.append(unpack(missed["screens"])[0][NEAR] != black[1])
    assert [len(objects(one[..., None])) for one in seen] == [2, 2, 2, 1]
    assert drawn.count('class="line past"') == 3
    assert drawn.count('class="line arrow"') == 3


def test_what_is_left_if_nothing_moves():
    """A bar for each game; those with four pictures are the published ones."""
    found = measured()["still"]
    assert found["moving"] == measured()["agent"]["scores"]["served"]
    drawn = (PICTURES / "still.svg").read_text()
    bars = re.findall(r'height="([\d.]+)" class="ours"', drawn)
    scores = [*found["moving"], *found["still"]]
    assert len(bars) == len(scores) == 60
    tall = 108 / max(scores)
    assert np.allclose([float(bar) / tall for bar in bars], scores, atol=0.5)
    for name in "moving", "still":
        assert f">mean {np.mean(found[name]):.0f} points</text>" in drawn


def test_the_trained_agent_is_the_published_one():
    trained, recorded = measured()["agent"], read("agent")
    assert recorded["trained"] == trained["steps"]
    assert recorded["score"] == trained["film"]["reward"]


# Guesses

ROUNDS = {
    "one picture": lambda step: [],
    "four pictures": lambda step: step["stack"],
    "four frames in a row, 1/60 s apart": lambda step: [
        small(gray) for _, gray in step["frames"]
    ],
}
WHY = {
    "one picture": "One shows where the ball is, but not where it flies.",
    "four pictures": "Four show both.",
    "four frames in a row, 1/60 s apart": "In these the ball moves by one to"
    " three pixels, in a stack by four times as many.",
}


def test_the_race_goes_as_it_was_recorded(visit):
    """What is still to come is covered, and the sentence counts the rest."""
    figure = look_at(visit(), "race-figure")
    race = read("race")
    sides = [race[name] for name in ("workers", "games")]
    ends = [side["program"][-1][1] for side in sides]
    busy = [
        np.ptp(side["games"], axis=1).sum() / end / race["machine"]["cores"]
        for side, end in zip(sides, ends, strict=True)
    ]
    covered = at_each_step(
        figure,
        """[...figure.querySelectorAll(".race i")].map((it) =>
        480 * (it.getBoundingClientRect().left -
          it.parentElement.getBoundingClientRect().left) /
          it.parentElement.offsetWidth)""",
    )
    for at, told in enumerate(at_each_step(figure, SAYS), 1):
        now = 0.03 * at
        lines = 84 + 130 * np.minimum(now, ends)
        assert np.allclose(covered[at - 1], lines, atol=1)
        if now >= max(ends):
            eight, two = ends
            wanted = (
                f"Two workers: {two:.2f}\u00a0ms, the cores busy with games "
                f"{percent(busy[1])} of the time. Eight: {eight:.2f}\u00a0ms, "
                f"{percent(busy[0])}."
            )
        else:
            many, few = (
                sum(end <= now for _, end in side["games"]) for side in sides
            )
            does = "are done" if ends[1] <= now else f"have played {few}"
            wanted = f"have played {many} of 8 games, two workers {does}."
        assert wanted in told
        assert ("done" in told) == (min(ends) <= now < max(ends))


@pytest.mark.parametrize("guess, told", [(0, "No. Two"), (1, "Yes. Two")])
def test_who_is_first_is_guessed(visit, guess, told):
    """Until then, or for a quarter of a minute, no game is done."""
    page = visit(motion="no-preference")
    page.clock.install()
    figure = look_at(page, "race-figure")
    slider = figure.locator("input[type=range]")
    says, choice = figure.locator(".says"), figure.locator(".asked button")
    page.clock.run_for(14_000)
    expect(says).to_have_text("Guess: which is done first?")
    expect(slider).to_have_value("3")
    choice.nth(guess).click()
    expect(choice.first).to_be_hidden()
    expect(figure.locator(".play")).to_be_focused()
    page.clock.run_for(10_000)
    expect(says).to_contain_text(told)
    expect(figure.locator(".play")).to_have_text("Play")
    page.clock.run_for(60_000)
    expect(says).to_contain_text(told)


@pytest.mark.parametrize(
    "touched, width", [(True, 1280), (True, 390), (False, 1280)]
)
def test_the_race_begins_without_a_guess(visit, touched, width):
    """After a while, or when the blurred words after it are touched."""
    page = visit(width=width, motion="no-preference")
    page.clock.install()
    after = page.locator(".row:has(#race-figure) .after")
    after.dispatch_event("click")  # too early: nothing is loaded yet
    figure = look_at(page, "race-figure")
    expect(figure.locator(".controls")).to_be_hidden()
    if touched:
        after.click()
    page.clock.run_for(1_000 if touched else 16_000)
    expect(figure.locator(".controls")).to_be_visible()
    expect(figure.locator(".says")).to_contain_text("have played")
    expect(figure.locator(".asked button").first).to_be_hidden()


# Whether part of a picture is blurred or cut off, and asks to be touched.
COVERED = """(it) => {
  const css = (part) => getComputedStyle(it, part);
  const clip = getComputedStyle(it.querySelector("img")).clipPath;
  const hidden = css("::after").content !== "none" || / [^0]/.test(clip);
  const asks = css("::before").content.includes("Guess, or show me");
  if (hidden !== asks) throw Error(`${hidden}, ${asks}`);
  return hidden;
}"""


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize(
    "done, told",
    [("wrong", "No. "), ("right", "Yes. "), ("touched", ""), ("nothing", "")],
)
def test_a_figure_that_asks_tells_afterwards(visit, name, done, told):
    """When it was guessed, or the blurred caption touched, or in a while."""
    page = visit(motion="no-preference")
    page.clock.install()
    figure = look_at(page, name)
    says, caption = figure.locator(".says"), figure.locator("figcaption")
    height = "(one) => one.offsetHeight"
    before = figure.evaluate(height)
    page.clock.run_for(14_000)
    expect(says).to_contain_text("?")
    expect(caption).to_have_css("filter", "blur(4px)")
    assert figure.locator(".answer").evaluate(COVERED)
    if done == "nothing":
        page.clock.run_for(2_000)
    elif done == "touched":
        caption.click()
    else:
        right = "[value=right]" if done == "right" else ":not([value])"
        figure.locator(f".asked button{right}").first.click()
        expect(says).to_be_focused()
    figure.locator(".answer").click()
    expect(says).to_have_text(told + ASKING[name])
    expect(caption).to_have_css("filter", "none")
    expect(figure.locator("button").first).to_be_hidden()
    whole = re.compile(r"none|inset\(0px\)")
    expect(figure.locator("img")).to_have_css("clip-path", whole)
    assert not figure.locator(".answer").evaluate(COVERED)
    assert figure.evaluate(height) == before


def test_a_table_names_the_actions_once_they_were_guessed(visit):
    """It would tell before which of them hits the ball."""
    page = visit()
    figure = look_at(page, "move")
    heads = page.locator(".row:has(#move) + .row th")
    named = "(all) => all.map((it) => getComputedStyle(it, '::after').content)"
    assert heads.evaluate_all(named) == ["none"] * 3
    figure.locator(".asked button").first.click()
    assert heads.evaluate_all(named) == ["none", '"(LEFT)"', '"(NOOP)"']
    assert heads.nth(1).inner_text().strip() == "the sampled one"


def kill_in_figure(figure, kills):
    """Kill workers with the buttons; return all kills, by step of the film."""
    slider = figure.locator("input[type=range]")
    planned = read("eight")["killed"]
    killed = {planned: {1}} if kills[0][0] > planned else {}
    for at, worker in kills:
        slider.fill(str(at - 1))
        figure.locator(".screen button").nth(worker).click()
        expect(slider).to_have_value(str(at))
        killed.setdefault(at, set()).add(worker)
    return killed


@pytest.mark.parametrize(
    "kills", [[(20, 0), (50, 1), (50, 0), (120, 1)], [(95, 0), (95, 1)]]
)
def test_killed_workers_are_those_of_games(visit, kills):
    """Real ones are killed in the same steps, and play the same games.

    The film kills one by itself, unless its reader has been the first.
    """
    figure = look_at(visit(), "kill-figure")
    recorded = read("eight")
    every = recorded["every"]
    actions = np.array([list(one) for one in recorded["actions"]], int)
    last = actions.shape[1] // every
    killed = kill_in_figure(figure, kills)
    seen, says = list(pictures(figure)), at_each_step(figure, SAYS)
    told = figure.locator(".screen p span")
    options = dict(on_life_loss="continue", noop_max=30, fire_on_reset=True)
    with game.Games(8, processes=2, **options) as games:
        workers = sorted(
            multiprocessing.active_children(), key=lambda it: it.pid
        )
        obs, infos = games.reset()
        begun = np.zeros(8, int)
        for step in range(every * (last - 1) + 1):
            at, rest = divmod(step, every)
            if rest == 0:
                check(seen[at], obs[:, -1])
                recent = [
                    kill for kill in killed if kill - 1 <= at < kill + 59
                ]
                if "restarted" in infos:
                    [first, *more] = {*np.flatnonzero(infos["restarted"]) // 4}
                    who = "Both workers" if more else f"Worker {first}"
                assert (who if recent else "All eight") in says[at]
                assert ("wait" in says[at]) == (
                    len(killed.get(at + 1, ())) == 1
                )
            dying = killed.get((step + 1) // every + 1, set())
            if (step + 1) % every == 0:
                for worker in dying:
                    workers[worker].kill()
            chosen = actions[np.arange(8), step - begun]
            obs, *_, infos = games.step(chosen)
            if "restarted" in infos:
                begun[infos["restarted"]] = step + 1
                new = {*multiprocessing.active_children()} - {*workers}
                new = sorted(new, key=lambda it: it.pid)
                for worker, process in zip(sorted(dying), new, strict=True):
                    workers[worker] = process
    both = kills[1][0]
    figure.locator("input[type=range]").fill(f"{both}")
    games = [f"games {4 * i} to {4 * i + 3}, step" for i in range(2)]
    assert told.all_inner_texts() == [f"killed: {it} 0" for it in games]
    figure.locator("input[type=range]").fill(f"{both + 1}")
    wanted = [f"replaced: {it} {every}" for it in games]
    assert told.all_inner_texts() == wanted


def asked(figure, name):
    """The step that a guess is about, by what is shown of it.

    That is the newest picture, large, and below it the four of a round, or
    of those again the newest.
    """
    urls = figure.evaluate(f"(figure) => {CANVASES}")
    seen = [one[..., 0].tolist() for one in decoded(urls)]
    found = []
    for at in RISES + FALLS:
        step = PLAYED[at]
        four = ROUNDS[name](step)
        shown = [*four[-1:], *four] or 2 * [step["picture"]]
        widths = 36, *4 * [28]
        parts = [
            part(one, step, width).tolist()
            for one, width in zip(shown, widths, strict=False)
        ]
        if parts == seen:
            found.append(at)
    [at] = found
    return at


def bricks(figure, name):
    """What the bricks of a round say: "hit", "miss" or nothing yet."""
    wall = figure.locator(".tally p").nth(list(ROUNDS).index(name))
    return wall.locator("i").evaluate_all("(all) => all.map(i => i.className)")


@pytest.mark.parametrize("width", [390, 1280])
def test_thirty_guesses(visit, width):
    """By key and by click; six are right, then ten, then five."""
    page = visit(width, "no-preference")
    page.clock.install()
    figure = look_at(page, "guess")
    expect(figure.locator(".still")).to_be_visible()
    height = figure.evaluate("(one) => one.offsetHeight")
    seen, begin = [], figure.locator(".next")
    for name, rights in zip(ROUNDS, [6, 10, 5], strict=True):
        if seen:
            begin.click()
            expect(figure.locator(".says")).to_have_text(f"Now with {name}.")
        for i in range(10):
            seen.append(asked(figure, name) if seen else GUESS)
            way = "up" if seen[-1] in RISES else "down"
            key, right = ("Arrow" + way.title(), way[0])[i % 2], i < rights
            if i in (0, 2):
                figure.locator(f"[value={way}]").click()
            else:
                page.keyboard.press(key if right else "ud"[way == "up"])
            word = "Yes" if right else "No"
            says = f"{word}: it flew on {way}."
            expect(figure.locator(".says")).to_have_text(says)
            if len(seen) == 1:
                page.clock.run_for(700)
            page.clock.run_for(2000)
            if i < 9:
                says += " And this one?"
                expect(figure.locator(".says")).to_have_text(says)
        assert bricks(figure, name) == ["hit"] * rights + ["miss"] * (
            10 - rights
        )
        told = f": {rights} of 10 (chance: 5). {WHY[name]}"
        expect(figure.locator(".says")).to_contain_text(told)
        assert figure.evaluate("(one) => one.offsetHeight") == height
    assert len(set(seen)) == 30
    for i in 0, 10, 20:
        assert len(set(RISES) & set(seen[i : i + 10])) == 5
    assert all("" not in bricks(figure, name) for name in ROUNDS)
    expect(begin).to_be_focused()
    page.keyboard.press("Enter")
    expect(figure.locator(".says")).to_contain_text("With one picture.")
    assert all(bricks(figure, name) == [""] * 10 for name in ROUNDS)


def test_the_first_guess_may_be_a_key(visit):
    page = visit()
    figure = look_at(page, "guess")
    figure.locator("[value=up]").focus()
    at = page.evaluate("scrollY")
    page.keyboard.press("ArrowDown")
    expect(figure.locator(".says")).to_contain_text("No: it flew on up.")
    assert bricks(figure, "one picture") == ["miss"] + [""] * 9
    assert page.evaluate("scrollY") == at


@pytest.mark.parametrize("width", [390, 1280])
def test_who_has_guessed_enough_goes_on(visit, width):
    """From the third guess of a round on; the next begins at once."""
    figure = look_at(visit(width), "guess")
    height = figure.evaluate("(one) => one.offsetHeight")
    enough = figure.locator(".enough")
    first, second, third = ROUNDS
    for name in first, second:
        for i in range(4):
            if i < 3:
                expect(enough).to_be_hidden()
            figure.locator("[value=up]").click()
            laid = figure.locator(".tally i:not([class=''])")
            expect(laid).to_have_count(i + 1 + 4 * (name == second))
            assert not any(bricks(figure, name)[i + 1 :])
        expect(enough).to_be_visible()
        rights = bricks(figure, name).count("hit")
        expect(figure.locator(".says")).to_contain_text("And this one?")
        assert figure.evaluate("(one) => one.offsetHeight") == height
        after = third if name == second else second
        expect(enough).to_have_text("Next round")
        enough.click()
        expect(enough).to_be_hidden()
        told = f": {rights} of 4 (chance: 2). Now with {after}."
        expect(figure.locator(".says")).to_contain_text(told)
        assert figure.evaluate("(one) => one.offsetHeight") == height
    assert bricks(figure, third) == [""] * 10
    for i in range(3):
        expect(enough).to_be_hidden()
        figure.locator("[value=up]").click()
        laid = figure.locator(".tally i:not([class=''])")
        expect(laid).to_have_count(9 + i)
    expect(enough).to_have_text("End")
    enough.click()
    expect(figure.locator(".says")).to_contain_text("of 3 (chance: 1.5). In")
    expect(figure.locator(".next")).to_have_text("Once more")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_answer_comes_by_itself(open_page, motion):
    """Three pictures and two words; at once for less motion."""
    picture = open_page(
        (PICTURES / "guess.svg").as_uri(), reduced_motion=motion
    )
    shown = """[...document.querySelectorAll(".later")]
        .map((one) => getComputedStyle(one).opacity)"""
    calm = motion == "reduce"
    assert picture.evaluate(shown) == 5 * ["1" if calm else "0"]
    picture.evaluate("document.getAnimations().forEach((it) => it.finish())")
    assert picture.evaluate(shown) == 5 * ["1"]


# Films


@pytest.mark.parametrize("name", FILMS)
def test_films_move_by_slider(visit, name):
    """The number has its unit, and the sentence is read out."""
    figure = look_at(visit(), name)
    expect(figure.locator(".play")).to_have_text("Play")  # and nothing moves
    numbers = at_each_step(
        figure, "figure.querySelector('.number').textContent"
    )
    wanted = [f"step {i + 1}" for i in range(len(numbers))]
    if name == "race-figure":
        wanted = [f"{0.03 * (i + 1):.2f}\u00a0ms" for i in range(100)]
    if name == "kill-figure":
        every = read("eight")["every"]
        wanted = [f"step {every * i}" for i in range(len(numbers))]
    assert numbers == wanted
    assert all(at_each_step(figure, SAYS))
    expect(figure.locator(".says")).to_have_attribute("aria-live", "polite")


def test_ticks_are_where_something_happens(visit):
    page = visit()
    happens = [bool(step["reward"] or step["done"]) for step in PLAYED[1:]]
    lost = [step["done"] for step in PLAYED[1:]]
    scored = [decision[1] for _, decision, *_ in filmed()]
    balls = [ball for *_, ball in filmed()]
    for name, ticks, red in (
        ("step-figure", happens, lost),
        ("agent-figure", np.logical_or(balls, scored), balls),
    ):
        figure = look_at(page, name)
        places = figure.locator(".ticks i").evaluate_all(
            "(all) => all.map((it) => parseFloat(it.style.left))"
        )
        there = 100 * np.flatnonzero(ticks) / (len(ticks) - 1)
        assert np.allclose(places, there, atol=1e-3) and len(places)
        assert figure.locator(".ticks .lost").count() == sum(red) > 0


@pytest.mark.parametrize("name", FILMS)
def test_films_play_in_view_stop_and_begin_anew(visit, name):
    page = visit(motion="no-preference")
    figure = look_at(page, name)
    play = figure.locator(".play")
    slider = figure.locator("input[type=range]")
    expect(play).to_have_text("Pause", timeout=40_000)  # the race waits
    expect(slider).not_to_have_value(slider.input_value())
    expect(figure.locator(".says")).to_have_attribute("aria-live", "off")
    page.evaluate("scrollTo(0, 0)")
    expect(play).to_have_text("Play")
    figure.scroll_into_view_if_needed()
    expect(play).to_have_text("Pause")
    slider.press("End")
    expect(play).to_have_text("Play")
    play.press(" ")
    expect(slider).not_to_have_value(slider.get_attribute("max"))
    play.press(" ")
    expect(play).to_have_text("Play")


@pytest.mark.parametrize("name", ["race-figure", "kill-figure"])
def test_what_was_chosen_is_seen_to_the_end(visit, name):
    """The film stops there; who starts it again sees it from its start."""
    page = visit()
    page.clock.install(time=0)
    figure = look_at(page, name)
    page.clock.pause_at(10**6)
    play = figure.locator(".play")
    slider = figure.locator("input[type=range]")
    if name == "kill-figure":
        figure.get_by_role("button", name="Kill it").first.click()
    slider.press("End")
    slider.press("ArrowLeft")
    play.press(" ")
    page.clock.run_for(60_000)
    expect(slider).to_have_value(slider.get_attribute("max"))
    expect(play).to_have_text("Play")
    play.press(" ")
    page.clock.run_for(1000)
    expect(slider).not_to_have_value(slider.get_attribute("max"))


def test_who_kills_sees_it_go_on(visit):
    """Also where the reader has taken hold of the film."""
    page = visit(motion="no-preference")
    first = page.get_by_role("button", name="Kill it").first
    expect(first).to_be_disabled()  # nothing plays yet
    figure = look_at(page, "kill-figure")
    play = figure.locator(".play")
    figure.locator("input[type=range]").press("ArrowRight")
    expect(play).to_have_text("Play")
    first.click()
    expect(play).to_have_text("Pause")


@pytest.mark.parametrize("name", sorted({*FILMS} - {"race-figure"}))
def test_the_end_of_a_film_is_shown_for_two_seconds(visit, name):
    """Unless it is started there."""
    page = visit()
    page.clock.install(time=0)
    figure = look_at(page, name)
    page.clock.pause_at(10**6)  # later than now, and still from here on
    play = figure.locator(".play")
    slider = figure.locator("input[type=range]")
    slider.press("End")
    play.press(" ")
    page.clock.run_for(1000)
    expect(slider).not_to_have_value(slider.get_attribute("max"))
    slider.press("End")
    slider.press("ArrowLeft")
    play.press(" ")
    page.clock.run_for(2000)
    expect(slider).to_have_value(slider.get_attribute("max"))
    page.clock.run_for(1000)
    expect(slider).not_to_have_value(slider.get_attribute("max"))


@pytest.mark.parametrize("name", FIGURES)
def test_what_stands_under_a_film_holds_for_all_of_it(visit, name):
    """Only what moves with it names a step."""
    figure = look_at(visit(), name)
    caption = figure.locator("figcaption").text_content()
    assert caption and not re.search(r"(?i)\bstep \d", caption)


@pytest.mark.parametrize("width", [360, 390, 800, 1280, 1920])
def test_a_figure_keeps_its_height_and_whole_pixels(visit, width):
    """Whether it has begun or not, and at whatever step."""
    page = visit(width)
    for name in FIGURES:
        height = page.locator(f"#{name}").evaluate("(one) => one.offsetHeight")
        figure = look_at(page, name)
        if name in FILMS:
            heights = at_each_step(figure, "figure.offsetHeight")
            assert set(heights) == {height}, name
        assert figure.evaluate("(one) => one.offsetHeight") == height
        if width == 390:  # all of it on a phone's screen
            assert height <= 600, name
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("""
        [...document.querySelectorAll(".moves canvas")]
        .filter((it) => it.checkVisibility({ visibilityProperty: true }))
        .every((it) => it.offsetWidth % it.width === 0 ||
          getComputedStyle(it).objectFit === "none")""")


def test_in_print_there_are_stills_alone(visit):
    """After the guesses have begun, too."""
    page = visit(794)
    page.locator("#guess [value=up]").click()
    expect(page.locator("#guess .still")).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator(".stage:visible")).to_have_count(0)
    for still in page.locator(".still img").all():
        expect(still).to_be_visible()
