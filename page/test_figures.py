"""
Tests of the figures: what they show is what `Game` and `Games` return.

    pip install -r requirements.txt --group page    # and a system's Chromium
    python -m pytest page/test_figures.py
"""

import base64
import json
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import facts
import game
import recordings
import weave
from measured import measured

HERE = Path(__file__).resolve().parent
MOVING = ["step", "rules", "modes", "agent"]
FILMS = ["moving", "rules-figure", "modes-figure", "agent-figure"]
STILL = [*MOVING, "slots", "maximum", "bands", "pipe", "turns"]


def read(name):
    return json.loads((HERE / f"data/{name}.json").read_text())


RECORDING = read("recording")
ACTIONS = [step[0] for step in RECORDING["steps"]]


# The recordings


def test_recordings_are_what_the_script_makes(monkeypatch, tmp_path):
    monkeypatch.setattr(recordings, "DATA", tmp_path)
    played = list(recordings.play())
    recordings.record(played)
    recordings.record_modes(played)
    recordings.record_rules(played)
    recordings.record_pipe(lambda actions: {})
    for name in "recording", "modes", "rules", "pipe":
        made = json.loads((tmp_path / f"{name}.json").read_text())
        assert made.items() <= read(name).items(), name


def test_bytes_are_those_of_today():
    pipe = read("pipe")
    rows = np.transpose(pipe["actions"])[:5]
    assert list(facts.play_as_games(rows)) == pipe["bytes"]["ours"][:5]
    obs = pipe["bytes"]["labml"][0][0] / len(pipe["actions"])
    assert 4 * 84 * 84 * 8 < obs < 4 * 84 * 84 * 8 + 500  # float64, and a rest
    assert pipe["shared"] == 8 * 4 * 84 * 84


def rows_of_the_ball(obs_4):
    """In which row each picture has the ball, between bricks and paddle."""
    field = obs_4[:, 38:75, 5:79].astype(float)
    weight = field.sum(axis=(1, 2))
    return (field.sum(axis=2) * np.arange(37)).sum(axis=1) / weight


def test_answers_to_which_way_are_right():
    one = game.Game(0)
    one.reset()
    seen = [None, *(one.step(action)[0] for action in ACTIONS)]
    for at, rises in RECORDING["ways"]:
        down = np.diff(rows_of_the_ball(seen[at]))
        assert (down < 0).all() if rises else (down > 0).all(), at
    rising = [rises for _, rises in RECORDING["ways"]]
    assert min(sum(rising), len(rising) - sum(rising)) >= 50


# The still pictures


@pytest.mark.parametrize("name", STILL)
def test_stills_are_light_and_dark(name):
    text = (weave.DOCS / f"figures/{name}.svg").read_text()
    root = xml.fromstring(text)
    assert root.get("width") == "480" and "prefers-color-scheme" in text
    _, _, width, height = map(float, root.get("viewBox").split())
    for element in root.iter():
        for key, most in ("x", width), ("y", height):
            assert 0 <= float(element.get(key, 0)) <= most


# In a browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page with nothing but the figures that move."""
    to_html = weave.markdown_to_html({})
    main = "<h1>Figures</h1>" + "".join(
        to_html(f'![Still.](figures/{name}.svg "A caption.")')
        for name in MOVING
    )
    folder = tmp_path_factory.mktemp("figures")
    for name in "figures", "data":
        (folder / name).symlink_to(weave.DOCS / name)
    path = folder / "index.html"
    path.write_text(weave.page("Figures", f'<div class="note">{main}</div>'))
    return path.as_uri()


@pytest.fixture
def visit(open_page, address):
    """Open the page of a width, where nothing moves unless it is asked to."""

    def visit(width=1280, motion="reduce", **options):
        return open_page(address, width, reduced_motion=motion, **options)

    return visit


def look_at(page, name):
    """Bring a figure into view, where it begins; return it."""
    figure = page.locator(f"#{name}")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".number")).not_to_be_empty()
    return figure


def pictures(page, expression):
    """The pictures that a script has, as `uint8 (..., 84, 84)`."""
    found = page.evaluate(
        """(expression) => {
        const text = (part) => part instanceof Uint8Array
            ? btoa(String.fromCharCode(...part)) : part && [...part].map(text);
        return text(eval(expression)); }""",
        expression,
    )

    def decode(part):
        if isinstance(part, str):
            return np.frombuffer(base64.b64decode(part), np.uint8)
        return part and [decode(one) for one in part]

    return decode(found)


def test_a_step_is_what_game_returns(visit):
    page = visit()
    look_at(page, "moving")
    stacks = pictures(page, "moving.steps.map((_, i) => moving.stack(i))")
    one = game.Game(0)
    one.reset()
    for action, stack in zip(ACTIONS, stacks, strict=True):
        assert (one.step(action)[0].reshape(4, -1) == stack).all()


def unlike(screens):
    """The last two frames, shrunk before the maximum."""
    return np.maximum(*map(recordings.small, screens[-2:]))


def alike(screens):
    """The last two frames as they should be."""
    return recordings.small(np.maximum(*screens[-2:]))


def played_by_game(actions, **options):
    one = game.Game(0, **options)
    one.reset()
    return [one.step(action)[0] for action in actions]


def broken_in_python(rule):
    """At each step the pictures with a rule kept and with it broken."""
    played = list(recordings.play())[1:]
    idle = [0 if action == recordings.FIRE else action for action in ACTIONS]
    match rule:
        case "maximum":
            first, last = recordings.ASTEROIDS
            thrust = [recordings.THRUST] * last
            frames = recordings.frames_of("Asteroids", thrust)
            for i in range(first, last):
                kept = alike(frames[: i + 1])
                yield [kept], [recordings.small(frames[i])]
        case "order":
            first, last = recordings.DEMONS
            shots = [i // 16 % 4 for i in range(4 * last)]
            frames = recordings.frames_of("DemonAttack", shots)
            for i in range(first, last + 1):
                yield [alike(frames[: 4 * i])], [unlike(frames[: 4 * i])]
        case "frames":
            for i, stack in enumerate(played_by_game(ACTIONS[:99])):
                frames = [gray for _, gray in played[i]["frames"]]
                if i >= 39:
                    yield stack, list(map(recordings.small, frames))
        case "fire":
            idle = idle[: recordings.WITHOUT_FIRE]
            both = map(played_by_game, (ACTIONS, idle))
            for kept, broken in zip(*both, strict=False):
                yield kept[3:], broken[3:]
        case "life":
            modes = [
                played_by_game(ACTIONS, on_life_loss=mode)
                for mode in ("restart", "ignore")
            ]
            first = recordings.MODES_STEPS[0] - 1
            steps = slice(first, recordings.MODES_STEPS[-1])
            yield from zip(*(mode[steps] for mode in modes), strict=True)


@pytest.mark.parametrize(
    "rule", ["maximum", "order", "frames", "fire", "life"]
)
def test_a_broken_rule_is_what_numpy_and_opencv_make(visit, rule):
    page = visit()
    figure = look_at(page, "rules-figure")
    figure.locator(f"input[value={rule}]").check()
    slider = figure.locator("input[type=range]")
    first, last = map(slider.get_attribute, ("min", "max"))
    told = pictures(
        page,
        f"Array.from({{ length: {last} - {first} + 1 }}, (_, i) =>"
        f' rules.see("{rule}", i + {first}))',
    )
    made = list(broken_in_python(rule))
    assert len(made) == len(told)
    differ = []
    for ours, theirs in zip(made, told, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert np.array_equal(np.reshape(one, (len(one), -1)), other)
        differ.append(np.sum(np.not_equal(*ours)))
    assert np.count_nonzero(differ) >= len(made) / 2
    if rule == "maximum":  # now the rocks are gone and now the ship
        assert np.array_equal(np.array(differ) > 200, [False, True] * 30)


def test_thirty_starts_make_as_many_games_as_were_counted(visit):
    page = visit()
    look_at(page, "rules-figure")
    env, ale = recordings.make(recordings.BREAKOUT)
    games = {}
    held = [action for action in ACTIONS[:60] for _ in range(4)]
    for count in range(1, 31):
        ale.reset_game()
        frames = recordings.frames(env, [0] * count + held)
        frames = [frame.tobytes() for frame in frames][count:]
        games.setdefault(tuple(frames), []).append(count)
    assert page.evaluate("rules.games()") == list(games.values())
    assert len(games) == measured()["noop_starts"]
    starts, none = pictures(page, 'rules.see("noops", 1)')
    played = [frames[: 4 * recordings.STARTED] for frames in games]
    for start, frames in zip(starts, played, strict=True):
        last = [np.frombuffer(frame, np.uint8) for frame in frames[-2:]]
        screens = [frame.reshape(210, 160) for frame in last]
        assert (alike(screens).ravel() == start).all()
    one = played_by_game(ACTIONS[: recordings.STARTED])[-1][3]
    assert (one.ravel() == none[0]).all()


@pytest.mark.parametrize("right", [True, False])
def test_one_picture_is_a_quiz(visit, right):
    page = visit(390, has_touch=True)
    figure = look_at(page, "rules-figure")
    figure.get_by_label("one picture").tap()
    says = figure.locator(".says")
    for i in range(1, 5):
        assert figure.locator(".sides .absent").count() == 4
        asked = page.evaluate("rules.asked()")
        assert [asked["at"], asked["up"]] in RECORDING["ways"]
        rises = asked["up"] == right
        button = figure.get_by_text("It rises" if rises else "It falls")
        if i % 2:
            button.tap()
        else:
            button.focus()
            page.keyboard.press("Enter")
        assert figure.locator(".sides .absent").count() == 0
        word, count = ("Right", i) if right else ("Wrong", 0)
        assert says.inner_text().startswith(f"{word}: in step {asked['at']}")
        assert f"right in {count} of {i} round" in says.inner_text()
        page.keyboard.press("Enter")  # the focus is on the next round


def test_rules_by_keyboard(visit):
    page = visit()
    figure = look_at(page, "rules-figure")
    seen, radios = set(), figure.locator("input[type=radio]")
    radios.first.focus()
    for i in range(radios.count()):
        expect(radios.nth(i)).to_be_checked()
        shown = figure.locator(".side:last-child span").inner_text()
        seen.add((shown, figure.locator(".says").inner_text()))
        page.keyboard.press("ArrowRight")
    assert len(seen) == radios.count() == 7


@pytest.mark.parametrize("which, mode", list(enumerate(recordings.MODES)))
def test_a_mode_is_what_game_returns(visit, which, mode):
    page = visit()
    look_at(page, "modes-figure")
    played = f"modes.played[{which}]"
    stacks = pictures(page, f"{played}.map(({{ stack }}) => stack)")
    finals = pictures(page, f"{played}.map(({{ final }}) => final)")
    screens = pictures(page, f"{played}.map(({{ screen }}) => screen)")
    facts = page.evaluate(
        f"{played}.map(({{ reward, done, lives, info }}) =>"
        " [reward, Boolean(done), lives, info])"
    )
    rgb = np.array(read("modes")["rgb"])
    first = page.evaluate("modes.first")
    one = game.Game(0, on_life_loss=mode)
    one.reset()
    for action in ACTIONS[: first - 1]:
        one.step(action)
    for i, told in enumerate(facts):
        obs_4, reward, done, info = one.step(ACTIONS[first - 1 + i])
        lives = one.env.unwrapped.ale.lives()
        assert told == [reward, done, lives, info]
        assert (rgb[screens[i]].reshape(210, 160, 3) == one.render()).all()
        if i >= 3:
            assert (obs_4.reshape(4, -1) == stacks[i]).all()
        assert (finals[i] is not None) == done
        if done:
            assert (one.final_obs.reshape(4, -1) == finals[i]).all()
    assert sum(done for _, done, *_ in facts) == (mode != "ignore")


def test_the_agent_sees_what_was_recorded(visit):
    page = visit()
    look_at(page, "agent-figure")
    agent = read("agent")
    frames = list(recordings.unpack(agent["frames"], 84, 84))
    screens = list(recordings.unpack(agent["screens"]))
    assert len(frames) == len(screens) == len(agent["decisions"])
    told = pictures(page, "agent.frames")
    assert (np.array(told) == np.reshape(frames, (len(frames), -1))).all()
    for at in 30, 10, 11, 49:
        assert page.evaluate(f"[...agent.screenAt({at})]") == [
            *screens[at].ravel()
        ]
    chances = np.array([step[5] for step in agent["decisions"]])
    assert np.allclose(chances.sum(axis=1), 1, atol=0.03)
    assert str(agent["score"]) in page.locator("#agent-score").inner_text()


@pytest.mark.parametrize("name", FILMS)
def test_films_move_by_keyboard_and_marks(visit, name):
    """Each step has its own words, which are read out."""
    figure = look_at(visit(), name)
    expect(figure.locator(".play")).to_have_text("Play")  # and nothing moves
    slider, says = figure.locator("input[type=range]"), figure.locator(".says")
    slider.press("Home")
    expect(slider).to_have_value(slider.get_attribute("min"))
    told = figure.evaluate("""(figure) => {
        const slider = figure.querySelector("input[type=range]"), told = [];
        for (let at = +slider.min; at <= +slider.max; at++) {
          slider.value = at;
          slider.dispatchEvent(new Event("input"));
          told.push(figure.querySelector(".says").textContent);
        }
        return told;
    }""")
    assert len(set(told)) == len(told) and all(told)
    expect(says).to_have_attribute("aria-live", "polite")
    for mark in figure.locator(".marks button").all():
        mark.click()
        assert mark.inner_text().endswith(f" {slider.input_value()}")


@pytest.mark.parametrize("name", FILMS)
def test_films_play_in_view_stop_and_begin_anew(visit, name):
    page = visit(motion="no-preference")
    figure = look_at(page, name)
    play = figure.locator(".play")
    slider = figure.locator("input[type=range]")
    expect(play).to_have_text("Pause")
    expect(slider).not_to_have_value(slider.input_value())
    expect(figure.locator(".says")).to_have_attribute("aria-live", "off")
    page.evaluate("document.body.style.paddingTop = '3000px'; scrollTo(0, 0)")
    expect(play).to_have_text("Play")
    figure.scroll_into_view_if_needed()
    expect(play).to_have_text("Pause")
    slider.press("End")
    expect(play).to_have_text("Play")
    play.press(" ")
    expect(slider).not_to_have_value(slider.get_attribute("max"))
    play.press(" ")
    expect(play).to_have_text("Play")


@pytest.mark.parametrize("width", [360, 390, 800, 1280, 1920])
def test_a_figure_keeps_its_height_and_whole_pixels(visit, width):
    """Whether it has begun or not, and at whatever step of whatever rule."""
    page = visit(width)
    for name in FILMS:
        figure = page.locator(f"#{name}")
        height = figure.evaluate("(one) => one.offsetHeight")
        look_at(page, name)
        assert figure.evaluate("""(figure) => {
            const slider = figure.querySelector("input[type=range]");
            const heights = new Set();
            const radios = figure.querySelectorAll("[name=rule]");
            for (const radio of radios.length ? radios : [null]) {
              radio?.click();
              for (let at = +slider.min; at <= +slider.max; at++) {
                slider.value = at;
                slider.dispatchEvent(new Event("input"));
                heights.add(figure.offsetHeight);
              }
              figure.querySelector(".answers:not([hidden]) :enabled")?.click();
              heights.add(figure.offsetHeight);
            }
            return [...heights];
        }""") == [height], name
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("""
        [...document.querySelectorAll(".moves canvas:not(#where)")]
        .filter((canvas) => canvas.offsetParent)
        .every((canvas) => canvas.offsetWidth % canvas.width === 0)""")
