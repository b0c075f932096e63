"""
Tests of the agent that plays in the page: what it sees, answers and scores.

    pip install -r requirements.txt --group page-tests  # and a Chromium
    python -m pytest page/tests/test_live.py

The network in the page is compared with PyTorch's, and the pictures of the
small Breakout with those that OpenCV makes of the same screens.
"""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from asking import look_at, until
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
    read_film,
    small,
    unpack,
)

FILM = read_film("agent/agent")
FRAMES = unpack(FILM.frames, 84, 84)
SHADES = np.array([0, 142, 148, 131, 129, 110, 85, 127, 124], np.uint8)


@pytest.fixture
def page(visit):
    return visit()


def test_the_network_waits_to_be_asked_for(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_timeout(300)
    assert not [url for url in asked if "network" in url]
    page.evaluate("() => Agent.load()")
    assert [url for url in asked if "network" in url]


def test_the_weights_of_the_page_are_those_of_the_published_agent():
    for name, text in weights.scripts().items():
        assert (SITE / name).read_text() == text, name


def test_the_network_answers_as_that_of_pytorch(page):
    """On real observations, from all of the film."""
    steps = range(0, len(FILM.decisions), 40)
    observations = np.array([FRAMES[at : at + 4] for at in steps])
    answers = page.evaluate(
        """async (all) => {
            await Agent.load();
            return all.map((one) => Agent.see(Uint8Array.from(one))); }""",
        observations.reshape(len(steps), -1).tolist(),
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
            return Array.from(screenOf(game.breakout.state())); });
          return [screens.slice(2), game.pictures.map((it) => [...it])];
        }); }""")
    made = []
    for screens, pictures in steps:
        third, fourth = SHADES[screens].reshape(2, 210, 160)
        made.append(small(np.maximum(third, fourth)))
        seen = np.array(pictures, np.uint8).reshape(4, 84, 84)
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
        for seed in (0, 1, 1)
    ]
    moving = page.evaluate("""() => {
        const game = new AgentGame(0);
        while (game.breakout.lives && game.breakout.score < 60) game.play();
        return game.breakout.score; }""")
    assert max(still) < 30 < moving
    assert still[1] == still[2]  # of the same seed


# Play it, then let it play


def mine(figure, condition):
    """Wait until something is so of the reader's own game."""
    figure.page.wait_for_function(
        f"""() => {{
            const {{ count, breakout }} = $("play").mine();
            return {condition}; }}"""
    )


def given(figure):
    """The four pictures that the agent is given."""
    return figure.locator(".given canvas").evaluate_all(
        "all => all.map((canvas) => canvas.toDataURL())"
    )


@pytest.mark.parametrize("way", ["mouse", "touch", "keys"])
def test_a_reader_moves_the_paddle(visit, way):
    """The game begins when it is asked to, whatever moves the paddle."""
    width = 390 if way == "touch" else 1280
    page = visit(width=width, has_touch=way == "touch")
    figure = look_at(page, "play")
    field = figure.locator(".field")
    if way == "touch":
        field.tap()
    elif way == "keys":
        field.press("Enter")
        page.keyboard.down("ArrowLeft")
    else:
        figure.get_by_role("button", name="Play", exact=True).click()
        field.hover()
    mine(figure, "breakout.paddle < 80")


def test_both_start_with_the_wall_that_is_chosen_and_the_same_serves(visit):
    page = visit()
    figure = look_at(page, "play")
    figure.get_by_role("radio", name="a hole in the wall").check()
    same = figure.evaluate("""(figure) => {
        const games = [figure.mine(), figure.playing()];
        return games.map(({ breakout }) => {
          const { bricks, random } = breakout;
          return [...bricks, random(), random()]; }); }""")
    assert same[0] == same[1]
    assert 0 < sum(same[0][:108]) < 108


def test_the_agent_gets_behind_the_wall_soon(page):
    """From the one with a hole: within ten seconds at four times the speed."""
    frames = page.evaluate("""async () => {
        await Agent.load();
        const game = new AgentGame(2, { hole: true });
        let frames = 0;
        while (!(game.breakout.ball?.y < WALL.top - 4) && frames < 2400) {
          game.play();
          frames += 1;
        }
        return frames; }""")
    assert frames < 2400


def test_the_agent_plays_beside_the_reader(visit):
    """When it is asked to; it can be paused, and its score counts."""
    page = visit()
    figure = look_at(page, "play")
    letit = figure.locator(".plays .play")
    letit.click()
    until(page, "play", "count > 40")
    letit.click()
    frames = "(figure) => figure.playing().count"
    stopped = figure.evaluate(frames)
    page.wait_for_timeout(300)
    assert figure.evaluate(frames) == stopped
    letit.click()
    until(page, "play", "breakout.score > 0")
    expect(figure.locator(".its .points")).not_to_have_text("0")
    page.reload()
    kept = page.evaluate("JSON.parse(localStorage['breakout-annotated'])")
    assert kept["agent"][0] > 0


# Put the ball there


@pytest.mark.parametrize("way", ["mouse", "keys"])
def test_a_reader_drags_the_ball(visit, way):
    """The pictures follow, and the network answers."""
    page = visit()
    figure = look_at(page, "network")
    page.evaluate("() => Agent.load()")
    figure.get_by_role("button", name="Step").click()
    pictures, value = given(figure), figure.locator(".value").inner_text()
    ball = figure.locator(".handle.ball")
    if way == "keys":
        for _ in range(6):
            ball.press("ArrowUp")
    else:
        ball.hover()
        page.mouse.down()
        page.mouse.move(600, 300)
        page.mouse.up()
    page.wait_for_timeout(100)
    assert not set(given(figure)) & set(pictures)
    assert figure.locator(".value").inner_text() != value


def test_a_reader_turns_the_way_of_the_ball(visit):
    """It comes from elsewhere, and stays where it is."""
    page = visit()
    figure = look_at(page, "network")
    page.evaluate("() => Agent.load()")
    flown = """(figure) => figure.playing().pairs.map(([, { ball }]) =>
        [ball.x, ball.y])"""
    before = np.array(figure.evaluate(flown))
    for _ in range(12):
        figure.locator(".handle.way").press("ArrowRight")
    after = np.array(figure.evaluate(flown))
    assert np.allclose(before[-1], after[-1])
    one, other = (way[-1] - way[-2] for way in (before, after))
    assert np.allclose(one, -other, atol=0.1)  # half a turn
    expect(figure.locator(".value")).to_have_text(re.compile(r"\d"))


# Take it away


def test_a_reader_takes_the_motion_away(visit):
    """While it plays, by a switch, and gives it back; both are counted."""
    page = visit()
    figure = look_at(page, "away")
    play, switch = figure.locator(".play"), figure.get_by_role("switch")
    play.click()
    until(page, "away", "breakout.score > 0")
    switch.check()
    expect(figure.locator(".now")).to_have_text(re.compile("without"))
    points = figure.locator(".tally tbody td").first
    moving = points.inner_text()
    assert int(moving) > 0
    balls = figure.locator(".tally tr").nth(2).locator("td").nth(1)
    expect(balls).not_to_have_text("0")
    assert points.inner_text() == moving
    until(page, "away", "count > 8")  # its pictures differ after a serve
    play.click()
    assert len(set(given(figure))) == 1
    switch.uncheck()
    assert len(set(given(figure))) > 1
