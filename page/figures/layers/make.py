"""The network, from the console's screens to the buttons, with each shape."""

from draw.drawing import Drawing

ROW = 34
STAGES = [
    ("two screens, the last of four", "(210, 160) each", False),
    ("the brighter pixels of both", "(210, 160)", False),
    ("resized", "(84, 84)", False),
    ("with the three pictures before", "(4, 84, 84)", False),
    ("32 filters of 8×8, every 4 pixels", "(32, 20, 20)", True),
    ("64 filters of 4×4, every 2", "(64, 9, 9)", True),
    ("64 filters of 3×3", "(64, 7, 7)", True),
    ("all of these in one layer", "(512,)", True),
]


def draw_layers() -> str:
    height = 52 + ROW * (len(STAGES) + 2)
    d = Drawing(height, screen=False)
    d.text(16, 24, "a step of Game", "strong")
    y = 34
    for number, (what, shape, is_network) in enumerate(STAGES):
        if is_network and not STAGES[number - 1][2]:
            d.text(16, y + 22, "the network, 1.7 million weights", "strong")
            y += ROW
        d.box(4, y, 472, ROW - 6)
        d.text(16, y + 20, what)
        d.text(464, y + 20, shape, "code end")
        y += ROW
    for x, what, shape in (
        (4, "policy: a button each", "(4,)"),
        (244, "value", "(1,)"),
    ):
        d.arrow((x + 116, y - 6), (x + 116, y + 10))
        d.box(x, y + 10, 232, ROW - 6)
        d.text(x + 12, y + 30, what)
        d.text(x + 220, y + 30, shape, "code end")
    return d.svg()
