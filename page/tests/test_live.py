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
from playwright.sync_api import Error, expect

from conftest import decoded, look_at, until
from draw.published import ask
from draw.recordings import (
    BREAKOUT,
    FIRE,
    LEFT,
    NOOP,
    RIGHT,
    colours,
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
    see = "(count) => Agent.see(new Uint8Array(count))"
    with pytest.raises(Error, match=r"Agent\.load"):
        page.evaluate(see, 4 * 84 * 84)
    told = page.evaluate("""async () => {
        const told = [];
        await Agent.load((share) => told.push(share));
        return told; }""")
    assert told == sorted(set(told)) and told[0] == 0
    assert [url for url in asked if "network" in url]
    with pytest.raises(Error, match="84·84 bytes are needed, not 7056"):
        page.evaluate(see, 84 * 84)


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


def seen(figure, selector):
    """The picture in a canvas, in RGB."""
    url = figure.locator(f"{selector} canvas").first.evaluate(
        "(canvas) => canvas.toDataURL()"
    )
    return decoded(url)[..., :3]


def grays(figure):
    """The gray values of the last two frames of the game in a figure."""
    values = figure.evaluate(
        "(figure) => figure.playing().shown.map((it) => [...grayOf(it)])"
    )
    return np.array(values, np.uint8).reshape(2, 210, 160)


def given(figure):
    """The four pictures that the agent is given."""
    return figure.locator(".given canvas").evaluate_all(
        "all => all.map((canvas) => canvas.toDataURL())"
    )


def test_a_reader_plays_and_sees_what_the_module_would_make(visit):
    """Colors, grays, the brighter of two frames, shrunk by means."""
    figure = look_at(visit(), "play")
    views = figure.get_by_role("radio")
    views.last.check()
    expect(figure.locator(".start")).to_be_hidden()
    for _ in range(12):  # until the ball flies
        figure.get_by_role("button", name="nothing").click()
    third, fourth = grays(figure)
    assert (third != fourth).any()
    picture = small(np.maximum(third, fourth))
    assert (seen(figure, ".field") == picture[..., None]).all()
    views.nth(4).check()  # which starts a new game
    picture = small(grays(figure)[1])
    four = seen(figure, ".field")[..., 0]
    for part in four[:84, :84], four[:84, 86:], four[86:, :84], four[86:, 86:]:
        assert (part == picture).all()
    views.nth(1).check()
    fourth = grays(figure)[1]
    assert (seen(figure, ".field") == fourth[..., None]).all()
    views.nth(0).check()
    shown = seen(figure, ".field")
    rgb = map(tuple, colours().rgb.tolist())
    known = dict(zip(rgb, colours().gray, strict=True))
    used, where = np.unique(shown.reshape(-1, 3), axis=0, return_inverse=True)
    gray = np.array([known[tuple(rgb)] for rgb in used.tolist()])
    assert (gray[where].reshape(210, 160) == fourth).all()


@pytest.mark.parametrize("way", ["mouse", "touch", "keys"])
def test_a_reader_moves_the_paddle(visit, way):
    """The game begins when it is asked to, whatever moves the paddle."""
    width = 390 if way == "touch" else 1280
    page = visit(width=width, has_touch=way == "touch")
    figure = look_at(page, "play")
    field = figure.locator(".field")
    if way == "touch":
        field.tap()
    else:
        figure.get_by_role("button", name="Play", exact=True).click()
        expect(figure.get_by_role("button", name="Pause")).to_be_visible()
    if way == "mouse":
        field.hover()
    if way == "keys":
        page.keyboard.down("ArrowLeft")
    until(page, "play", "breakout.paddle < 80")


def test_the_first_ball_can_be_hit(visit):
    """Even by who does nothing; the ones after it fly as the console's."""
    hits = visit().evaluate("""() => {
        return Array.from({ length: 20 }, (_, seed) => {
          const game = new Breakout(randomFrom(seed), { easy: true });
          while (game.lives === 5) game.frame(0);
          return game.hits; }); }""")
    assert min(hits) >= 1


def test_the_agent_plays_the_same_game(visit):
    """When it is asked to; it can be paused, and its score counts."""
    page = visit()
    figure = look_at(page, "play")
    figure.get_by_role("button", name="Let the agent play").click()
    until(page, "play", "count > 40")
    figure.get_by_role("button", name="Pause the agent").click()
    frames = "(figure) => figure.playing().count"
    stopped = figure.evaluate(frames)
    page.wait_for_timeout(300)
    assert figure.evaluate(frames) == stopped
    figure.get_by_role("button", name="Let the agent play").click()
    until(page, "play", "breakout.score > 0")
    expect(figure.locator(".its")).not_to_have_text("0")
    expect(figure.locator(".value")).to_have_text(re.compile(r"\d\.\d"))
    page.reload()
    kept = page.evaluate("JSON.parse(localStorage.results)")
    assert kept["agent"][0] > 0


# Inside the network


def test_filters_are_lit_before_the_network_comes(visit):
    """By a recorded answer, which is the network's own."""
    page = visit()
    figure = look_at(page, "network")
    until(page, "network", "answer")
    assert seen(figure, ".filters").any()
    recorded, own = figure.evaluate("""async (figure) => {
        const game = figure.playing();
        const { odds, value } = game.answer;
        await Agent.load();
        game.look();
        const now = game.answer;
        return [[value, ...odds], [now.value, ...now.odds]]; }""")
    assert np.allclose(recorded, own, atol=0.001)


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


# What if nothing moves


def test_a_reader_takes_the_motion_away(visit):
    """While it plays, by a switch, and gives it back."""
    page = visit()
    figure = look_at(page, "still")
    play = figure.locator(".play")
    expect(play).to_be_visible()
    expect(figure.get_by_role("checkbox")).to_be_hidden()
    figure.locator("summary").click()
    play.click()
    until(page, "still", "breakout.ball?.y > 130")
    figure.get_by_role("checkbox").check()
    page.wait_for_timeout(200)
    play.click()
    assert len(set(given(figure))) == 1
    figure.get_by_role("checkbox").uncheck()
    assert len(set(given(figure))) == 4
