"""The whole way, from the screen to the agent and back, at one moment."""

from drawing import Drawing, bright
from recordings import read_film, unpack

AT = 153  # the moment of the film
ACTIONS = ["NOOP", "FIRE", "RIGHT", "LEFT"]


def draw() -> str:
    film = read_film("agent/agent")
    decision = film.decisions[AT]
    stack = unpack(film.frames, 84, 84)[AT : AT + 4]
    d = Drawing(340, large=True)

    for back in 15, 10, 5:  # the frames before
        d.box(8 + back, 26 - back, 84, 110, "screen line")
    d.image(8, 26, 84, 110, film.colours()[AT])
    d.text(8, 156, "four frames")
    d.arrow((120, 80), (184, 80))
    d.text(112, 106, "the brighter", "quiet")
    d.text(112, 124, "of two, gray", "quiet")
    d.image(200, 40, 80, 80, bright(stack[3]), "picture")
    d.text(200, 156, "a picture", "picture")
    d.arrow((292, 80), (344, 80))
    for i, picture in enumerate(stack):
        kind = "picture" if i == 3 else "line"
        d.image(356 + 12 * i, 22 + 12 * i, 80, 80, bright(picture), kind)
    d.text(360, 156, "the last four")

    d.arrow((412, 166), (412, 196))
    for layer in range(4):
        high = 104 - 22 * layer
        d.box(448 - 22 * layer, 254 - high / 2, 16, high, "box")
    d.text(372, 326, "the network")
    d.arrow((370, 254), (340, 254))
    for i, (name, chance) in enumerate(
        zip(ACTIONS, decision["chances"], strict=True)
    ):
        kind = "strong" if i == decision["action"] else ""
        y = 206 + 26 * i
        d.text(176, y + 13, name, kind)
        d.box(232, y, 100 * chance, 15, "ours" if kind else "quiet")
    d.text(176, 326, f"value {decision['value']:.1f}")
    d.arrow((164, 254), (50, 254), (50, 170))
    d.text(8, 280, f"{ACTIONS[decision['action']]}, held")
    d.text(8, 299, "for the next")
    d.text(8, 318, "four frames")
    return d.svg()
