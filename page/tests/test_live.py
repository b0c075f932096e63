"""
Tests of the agent that plays in the page: what it sees, answers and scores.

    pip install -r requirements.txt --group page-tests  # and a Chromium
    python -m pytest page/tests/test_live.py

The network in the page is compared with PyTorch's, and the pictures of the
small Breakout with those that OpenCV makes of the same screens.
"""

import base64
import functools
import re
from itertools import pairwise

import numpy as np
import pytest
from playwright.sync_api import expect

from paths import SITE
from record import weights
from record.published import ask
from record.recordings import (
    BREAKOUT,
    FIRE,
    LEFT,
    NOOP,
    RIGHT,
    make,
    play,
    small,
)

PICTURES = np.array([step.picture for step in play()])
SHADES = np.array([0, 142, 148, 131, 129, 110, 85, 127, 124], np.uint8)


@pytest.fixture
def page(visit):
    return visit()


def test_the_weights_of_the_page_are_those_of_the_published_agent():
    for name, text in weights.scripts().items():
        assert (SITE / name).read_text() == text, name


def test_the_network_answers_as_that_of_pytorch(page):
    """On real observations, of a game by the rule."""
    steps = range(0, len(PICTURES) - 3, 15)
    observations = np.array([PICTURES[at : at + 4] for at in steps])
    answers = page.evaluate(
        """async (all) => {
            await Agent.load();
            return all.map((one) => Agent.see(
              Uint8Array.from(atob(one), (c) => c.charCodeAt(0)))); }""",
        [base64.b64encode(one).decode() for one in observations],
    )
    expected = ask(observations)
    odds = [answer["odds"] for answer in answers]
    values = [answer["value"] for answer in answers]
    assert np.abs(odds - expected.chances).max() < 0.02
    assert np.abs(values - expected.values).max() < 0.1


def test_a_picture_is_what_the_module_would_make(page):
    """Of the last two frames of a step: the brighter gray, shrunk once."""
    steps = page.evaluate("""() => {
        const game = new SeenGame(0);
        return Array.from({ length: 60 }, (_, step) => {
          const screens = [0, 1, 2, 3].map(() => {
            game.frame([5, -5, 0][step % 3]);
            return screenOf(game.breakout.state()); });
          const text = (bytes) => String.fromCharCode(...bytes);
          return [screens.slice(2), game.pictures].map(
            (all) => all.map(text).join(""));
        }); }""")
    made = []
    for step in steps:
        screens, pictures = (
            np.frombuffer(text.encode("latin-1"), np.uint8) for text in step
        )
        third, fourth = SHADES[screens].reshape(2, 210, 160)
        made.append(small(np.maximum(third, fourth)))
        seen = pictures.reshape(4, 84, 84)
        assert (seen[-len(made) :] == made[-4:]).all()
    assert len({picture.tobytes() for picture in made}) > 30


def test_the_ball_flies_as_the_consoles(page):
    """And the paddle glides as there, by the same buttons."""
    env, ale = make(BREAKOUT)
    actions, there = [], []
    action = FIRE
    while len(actions) < 500:
        env.step(action)
        actions.append(action)
        ram = [int(byte) for byte in ale.getRAM()]
        ball, paddle = ram[99] - 49, ram[72] - 47
        there.append([ball, ram[101] + 9, paddle])
        ahead = ball - paddle - 8
        action = RIGHT if ahead > 5 else LEFT if ahead < -5 else NOOP
    here = page.evaluate(
        """([actions, served]) => {
            const serve = SERVES.findIndex(({ x }) => x === served);
            const game = new Breakout(() => serve / SERVES.length);
            game.wait = 0;
            return actions.map((action) => {
              game.frame(MOVES[action]);
              return [game.ball.x, game.ball.y, game.paddle]; }); }""",
        [actions, there[0][0]],
    )
    assert np.abs(np.array(here) - there).max() < 3
    turns = np.diff(np.sign(np.diff(np.array(there)[:, 1])))
    assert np.count_nonzero(turns) > 5  # at bricks and at the paddle


def test_the_agent_needs_motion(page):
    """Without it whole games have fewer points than a part of one with it."""
    still = [
        page.evaluate("(seed) => Agent.play(seed, { still: true })", seed)
        for seed in (2, 3, 3)
    ]
    moving = page.evaluate("""() => {
        const game = new AgentGame(0);
        while (game.breakout.lives && game.breakout.score <= 10) game.play();
        return game.breakout.score; }""")
    assert max(still) < 10 < moving
    assert still[1] == still[2]  # of the same seed


# The board

# Time goes by in steps of four frames, as fast as they can be played.
HASTY = """{
  let time = performance.now();
  const started = new Set();
  let number = 0;
  requestAnimationFrame = (tick) => {
    const one = ++number;
    started.add(one);
    setTimeout(() => started.delete(one) && tick(time += 4000 / 60));
    return one;
  };
  cancelAnimationFrame = (one) => started.delete(one);
}"""
# A bot that sees what is shown four steps, 0.27 s, late. It moves to where the
# ball will come down.
BOT = """() => {
  const canvas = document.querySelector("#hero .now canvas");
  const copy = new OffscreenCanvas(84, 84).getContext("2d",
    { willReadFrequently: true });
  const seen = [];
  const look = () => {
    requestAnimationFrame(look);
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, 84, 84);
    let ball = null;
    for (let y = 40; y < 74 && !ball; y++) {
      for (let x = 5; x < 79 && !ball; x++) {
        if (data[4 * (84 * y + x)] > 20) ball = [x + .5, y];
      }
    }
    seen.push(ball);
    const [before, then] = seen.slice(-6, -4);
    if (!then) return;
    let [x, y] = then;
    if (before && y > before[1]) {
      x += (76 - y) * (x - before[0]) / (y - before[1]);
      while (x < 4 || x > 80) x = x < 4 ? 8 - x : 160 - x;
    }
    const { left, top, width } = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent("pointermove", { bubbles: true,
      isPrimary: true, clientX: left + x * width / 84, clientY: top }));
  };
  look(); }"""


@pytest.fixture
def hasty(visit):
    """Visit the story, where time goes by fast."""
    return functools.partial(visit, script=HASTY)


def soon(page, condition):
    """Wait until something is so."""
    page.wait_for_function(f"() => {condition}")


def tallies(page):
    return page.evaluate("Board.tallies")


def line(page, who):
    return page.locator(f"#hero .who [value={who}]")


def test_the_board_plays_by_itself_until_it_is_your_turn(hasty):
    """The agent's ball is seen in flight, and without motion it misses one."""
    page = hasty(reduced_motion="no-preference")
    expect(page.locator("#hero .says")).to_contain_text("Your turn")
    assert page.evaluate("Board.who") == "it"
    assert tallies(page) == {
        "it": {"points": 0, "balls": 0},
        "still": {"points": 0, "balls": 1},
        "you": {"points": 0, "balls": 0},
    }
    flown = "Board.lines.it.game.breakout.flown"
    assert page.evaluate("Board.lines.it.game.breakout.hits")
    paused = page.evaluate(flown)
    line(page, "it").click()
    soon(page, f"{flown} > {paused}")


def test_only_whole_balls_count(hasty):
    """Points come with balls, whoever plays."""
    page = hasty()
    changes = page.evaluate("""async () => {
        const seen = [];
        for (const who of ["still", "it", "you", "still"]) {
          Board.who = who;
          const { balls } = Board.tallies.still;
          for (let i = 0; i < 40 || (who === "still" &&
              Board.tallies.still.balls === balls); i++) {
            await new Promise(requestAnimationFrame);
            seen.push(Board.tallies);
          }
        }
        return seen; }""")
    for one, other in pairwise(changes):
        for who in one:
            if one[who]["balls"] == other[who]["balls"]:
                assert one[who] == other[who]
    assert changes[-1]["still"]["balls"] >= 2
    assert changes[-1]["it"]["balls"] == 0  # its ball flies on


def test_the_three_games_begin_alike(visit):
    page = visit()
    soon(page, "Board.lines.you.game")
    same = page.evaluate("""() =>
        Object.values(Board.lines).map(({ game }) => {
          const { bricks, lives, random } = game.breakout;
          return [...bricks, lives, random(), random(), random()]; })""")
    assert same[0] == same[1] == same[2]


def test_nobody_else_can_play(page):
    page.evaluate("""() => {
        try { Board.who = "nobody"; } catch (error) { return; }
        throw new Error("nobody plays"); }""")


def test_a_bot_that_is_late_can_play(hasty):
    page = hasty()
    line(page, "you").click()
    page.evaluate(BOT)
    soon(page, "Board.lines.you.game.breakout.score >= 4")


@pytest.mark.parametrize("key, way", [("ArrowLeft", -1), ("ArrowRight", 1)])
def test_keys_alone_play(hasty, key, way):
    page = hasty()
    line(page, "you").press("Enter")
    paddle = "Board.lines.you.game.breakout.paddle"
    before = page.evaluate(paddle)
    page.keyboard.down(key)
    soon(page, f"({paddle} - {before}) * {way} > 40")


def test_a_finger_plays_on_the_picture(hasty):
    """It takes the place of the board, and all is on one screen."""
    page = hasty(width=390, height=844, has_touch=True)
    line(page, "you").tap()
    canvas = page.locator("#hero .now canvas")
    place = canvas.bounding_box()
    assert place["width"] >= 350
    lines = page.locator("#hero .who").bounding_box()
    header = page.locator("header").bounding_box()["height"]
    assert place["y"] > header
    assert lines["y"] + lines["height"] < 845  # it is scrolled by whole pixels
    expect(page.locator("#hero .screen")).to_have_css("touch-action", "none")
    page.touchscreen.tap(place["x"] + 330, place["y"] + 100)
    soon(page, "Board.lines.you.game.breakout.paddle > 120")


def test_who_wants_less_motion_presses_first(hasty):
    page = hasty()
    soon(page, "Agent.network")
    frame = "Board.lines.it.game.count"
    picture = "document.querySelector('#hero canvas').toDataURL()"
    before = page.evaluate(picture)
    page.wait_for_timeout(300)
    assert page.evaluate(picture) == before
    page.get_by_role("button", name="Begin").click()
    soon(page, f"{picture} !== {before!r}")
    line(page, "it").click()
    soon(page, f"{frame} > 8")


@pytest.mark.parametrize("touched", [".who [value=it]", ".court canvas"])
def test_a_touch_ends_the_scenes(hasty, touched):
    page = hasty(reduced_motion="no-preference")
    soon(page, "Agent.network")
    page.locator(f"#hero {touched}").click()
    soon(page, "Board.lines.it.game.breakout.flown > 400")
    assert page.evaluate("Board.who") == "it"
    assert tallies(page)["still"]["balls"] == 0


@pytest.mark.parametrize("way", ["press on the picture", "arrow"])
def test_a_reader_may_begin_without_the_line(hasty, way):
    """By a press whenever it comes, and by an arrow key when it is asked."""
    page = hasty(reduced_motion="no-preference")
    soon(page, "Agent.network")
    if way == "arrow":
        expect(line(page, "you")).to_have_class("asks")
        page.keyboard.press("ArrowLeft")
    else:
        page.locator("#hero .now canvas").click()
    soon(page, "Board.who === 'you'")


def test_who_stops_the_scenes_is_still_asked(hasty):
    page = hasty(reduced_motion="no-preference")
    soon(page, "Agent.network")
    page.locator("#hero .court canvas").click()
    expect(line(page, "you")).to_have_class("asks")


def test_a_line_pauses_what_it_plays(hasty):
    page = hasty()
    it = line(page, "it")
    it.click()
    frame = "Board.lines.it.game.breakout.flown"
    soon(page, f"{frame} > 8")
    it.click()
    paused = page.evaluate(frame)
    page.wait_for_timeout(300)
    assert page.evaluate(frame) == paused
    it.click()
    soon(page, f"{frame} > {paused}")


def test_three_balls_are_compared_and_sent(hasty):
    """The address opens with the sender's number, and has the same serves."""
    page = hasty()
    line(page, "you").click()
    send = page.get_by_role("button", name="Send this")
    expect(send).to_be_visible()
    yours = tallies(page)["you"]
    assert yours["balls"] == 3
    expect(page.get_by_text("It plays your serves.")).to_be_visible()
    soon(page, "Board.lines.still.isWhole")
    assert tallies(page)["still"]["balls"] == 3
    send.click()
    sent = page.locator("#hero input").input_value()
    mean = float(re.search(r"I got ([\d.]+) a ball", sent)[1])
    assert mean == pytest.approx(yours["points"] / 3, abs=0.05)
    address, anchor = sent.split()[-1].split("#")
    assert address == page.url

    other = hasty(anchor=f"#{anchor}")
    number = f"{mean:.1f}".removesuffix(".0")
    words = f"Somebody got {number} a ball, seeing what it sees."
    expect(other.get_by_text(words)).to_be_visible()
    seed = "Board.seed"
    assert other.evaluate(seed) == page.evaluate(seed)
    page.get_by_role("button", name="Again").click()
    soon(page, f"Board.seed !== {other.evaluate(seed)}")


@pytest.mark.parametrize("anchor", ["#got=<b>&serves=1", "#got=9", "#top"])
def test_an_address_of_somebody_else_says_nothing(hasty, anchor):
    page = hasty(anchor=anchor)
    soon(page, "Board.seed")
    expect(page.locator("#hero .sent")).to_be_hidden()
