"""
Tests of the agent that plays in the page: what it sees, answers and scores.

    pip install -r requirements.txt --group page-tests  # and a Chromium
    python -m pytest page/tests/test_live.py

The network in the page is compared with PyTorch's, and the pictures of the
small Breakout with those that OpenCV makes of the same screens.
"""

import base64

import numpy as np
import pytest

from paths import ROOT, SITE
from record import weights
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
    assert (SITE / "data/network.js").read_text() == weights.script()


def test_the_network_answers_as_that_of_pytorch(page):
    """On real observations, of a game by the rule."""
    import torch

    import ppo

    steps = range(0, len(PICTURES) - 3, 15)
    observations = np.array([PICTURES[at : at + 4] for at in steps])
    answers = page.evaluate(
        """async (all) => {
            await Agent.load();
            return all.map((one) => Agent.see(
              Uint8Array.from(atob(one), (c) => c.charCodeAt(0)))); }""",
        [base64.b64encode(one).decode() for one in observations],
    )
    network = ppo.Agent(4)
    weights = torch.load(ROOT / "examples/breakout.pt", "cpu")
    network.load_state_dict(weights)
    with torch.no_grad():
        policy, values = network(torch.as_tensor(observations))
    seen = [answer["odds"] for answer in answers]
    valued = [answer["value"] for answer in answers]
    assert np.abs(seen - policy.probs.numpy()).max() < 0.02
    assert np.abs(valued - values.numpy()).max() < 0.1


def test_a_picture_is_what_the_module_would_make(page):
    """Of the last two frames of a step: the brighter gray, shrunk once."""
    steps = page.evaluate("""() => {
        const game = new Live.AgentGame(0);
        game.serving = false; // whose end would fill the stack,
        game.fire = () => {}; // as would the next serve
        return Array.from({ length: 60 }, (_, step) => {
          const screens = [0, 1, 2, 3].map(() => {
            game.frame([5, -5, 0][step % 3]);
            return Live.screenOf(game.breakout.state()); });
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
            const serve = Live.SERVES.findIndex(({ x }) => x === served);
            const game = new Live.Breakout(() => serve / Live.SERVES.length);
            game.wait = 0;
            return actions.map((action) => {
              game.frame(Live.MOVES[action]);
              return [game.ball.x, game.ball.y, game.paddle]; }); }""",
        [actions, there[0][0]],
    )
    assert np.abs(np.array(here) - there).max() < 3
    turns = np.diff(np.sign(np.diff(np.array(there)[:, 1])))
    assert np.count_nonzero(turns) > 5  # at bricks and at the paddle


def test_the_agent_chases_what_falls(page):
    """And needs motion: its points are fewer then, the same for a seed."""
    play = """async (change) => {
        const one = await Agent.play(3, { change, balls: 3, longest: 500 });
        return [one.points, one.balls, one.hit]; }"""
    alone = page.evaluate(play, None)
    falling = page.evaluate(play, "large")
    assert page.evaluate(play, "large") == falling
    assert falling[0] < alone[0] / 2
    assert page.evaluate(play, "copies")[0] < alone[0] / 2
    assert alone[1] == falling[1] == 3
    assert alone[2] > falling[2]
