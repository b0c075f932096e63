"""Tests of the figure of the maximum."""

import numpy as np

from asking import look_at, pictures


def test_rocks_are_there_with_the_maximum_alone(visit):
    figure = look_at(visit(), "maximum")
    [both] = pictures(figure, ".small")
    figure.get_by_label("The maximum").uncheck()
    [one] = pictures(figure, ".small")
    assert (one > both).sum() == 0
    assert np.count_nonzero(one[..., 0]) < np.count_nonzero(both[..., 0]) / 2
