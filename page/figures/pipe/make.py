"""What goes where in a step of eight games, on two cores."""

from draw.drawing import Drawing


def draw_pipe() -> str:
    d = Drawing(330, screen=False)
    d.box(4, 4, 472, 56)
    d.text(16, 26, "the program", "strong")
    d.text(16, 48, "obs, rewards, … = games.step(actions)", "code")
    for worker in range(2):
        x = 4 + 158 * worker
        d.arrow((x + 14, 60), (x + 14, 122))
        d.arrow((x + 96, 122), (x + 96, 60))
        d.text(x + 22, 96, "actions", "quiet")
        d.text(x + 104, 96, "done", "quiet")
        d.box(x, 122, 148, 128)
        d.text(x + 12, 144, f"worker {worker}", "strong")
        for i in range(4):
            d.box(x + 12 + 32 * i, 156, 28, 28)
            d.text(x + 26 + 32 * i, 176, str(4 * worker + i), "quiet mid")
        d.text(x + 12, 210, "its share, one", "quiet")
        d.text(x + 12, 232, "after the other", "quiet")
        y = 300 - 20 * worker
        d.arrow((x + 74, 250), (x + 74, y), (328, y))
    d.box(328, 122, 148, 190)
    for i, line in enumerate(
        ["shared memory", "observations", "rewards", "ends, scores"]
    ):
        d.text(340, 144 + 26 * i, line, "" if i else "strong")
    d.text(90, 320, "results, written in place", "quiet")
    d.arrow((440, 122), (440, 60))
    d.text(432, 96, "a copy", "quiet end")
    return d.svg()
