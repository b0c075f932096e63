"""
Tests of the agent that plays in the page: what it sees, answers and scores.

    pip install -r requirements.txt --group page-tests  # and a Chromium
    python -m pytest page/test_live.py

The network in the page is compared with PyTorch's, and the pictures of the
small Breakout with those that OpenCV makes of the same screens.
"""

import cv2
import numpy as np
import pytest

from published import ask
from recordings import read_film, unpack

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
    told = page.evaluate("""async () => {
        const told = [];
        await Agent.load((share) => told.push(share));
        return told; }""")
    assert told == sorted(set(told)) and told[0] == 0
    assert [url for url in asked if "network" in url]


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
        brighter = np.maximum(third, fourth)
        made.append(cv2.resize(brighter, (84, 84), interpolation=3))
        seen = np.array(pictures, np.uint8).reshape(4, 84, 84)
        assert (seen[-len(made) :] == made[-4:]).all()
    assert len({picture.tobytes() for picture in made}) > 30


def test_the_agent_needs_motion(page):
    """A whole game with four pictures, and games with the newest alone."""
    play = "([seed, still]) => Agent.play(seed, { still })"
    moving = page.evaluate(play, [0, False])
    still = [page.evaluate(play, [seed, True]) for seed in range(2)]
    assert max(still) < 30 < moving
    assert page.evaluate(play, [1, True]) == still[1]
