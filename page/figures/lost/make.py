"""The life of a worker that is lost, and of its replacement."""

from draw.drawing import Drawing

PROGRAM, LOST, OTHER = 4, 188, 340  # where the columns begin
MIDDLE = 68  # of a column


def draw_lost() -> str:
    d = Drawing(470, screen=False)
    for x, name in (
        (PROGRAM, "the program"),
        (LOST, "games 0 to 3"),
        (OTHER, "games 4 to 7"),
    ):
        d.text(x + MIDDLE, 22, name, "strong mid")
    program, lost, other = (x + MIDDLE for x in (PROGRAM, LOST, OTHER))

    d.box(PROGRAM, 34, 136, 30)
    d.text(program, 54, "step", "code mid")
    d.arrow((program + 68, 44), (lost, 44), (lost, 84))
    d.arrow((program + 68, 54), (other, 54), (other, 84))
    d.box(LOST, 84, 136, 56)
    d.text(lost, 107, "plays", "mid")
    d.text(lost, 129, "✕ is killed", "strong mid")
    d.box(OTHER, 84, 136, 56)
    d.text(other, 107, "plays", "mid")
    d.text(other, 129, "answers", "mid")

    d.text(PROGRAM, 168, "The pipe breaks, or the timeout is over:")
    d.box(PROGRAM, 180, 136, 30)
    d.text(program, 200, "_lose", "code mid")
    d.arrow((program + 68, 195), (LOST, 195))
    d.text(LOST + 6, 200, "it is closed", "quiet")

    d.box(PROGRAM, 226, 136, 30)
    d.text(program, 246, "_start", "code mid")
    d.arrow((program + 68, 241), (LOST, 241))
    d.box(LOST, 226, 136, 56)
    d.text(lost, 249, "a new worker", "mid")
    d.text(lost, 271, "is started", "mid")
    d.text(other, 249, "waits", "quiet mid")

    d.box(PROGRAM, 298, 160, 30)
    d.text(PROGRAM + 80, 318, "_reset_to_seeds", "code mid")
    d.arrow((PROGRAM + 160, 313), (LOST, 313))
    d.box(LOST, 298, 136, 56)
    d.text(lost, 321, "its games", "mid")
    d.text(lost, 343, "start over", "mid")
    d.arrow((lost, 354), (lost, 376), (program, 376), (program, 392))

    d.text(PROGRAM, 412, "The step returns: for games 0 to 3 a reward of 0,")
    d.text(PROGRAM, 434, "truncated and restarted; for games 4 to 7 what they")
    d.text(PROGRAM, 456, "have played.")
    return d.svg()
