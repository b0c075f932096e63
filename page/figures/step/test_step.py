"""Tests of the figure of a step."""

import numpy as np
from playwright.sync_api import expect

from asking import check, look_at, pictures
from record.recordings import colours, read, small, unpack

BUTTONS = ["no button", "FIRE", "RIGHT", "LEFT"]


def test_a_figure_plays_by_itself_while_it_is_seen(visit):
    page = visit(reduced_motion="no-preference")
    figure = look_at(page, "step")
    slider = figure.locator(".slide input")
    before = slider.input_value()
    expect(slider).not_to_have_value(before)
    page.evaluate("scrollTo(0, 0)")
    expect(figure).not_to_be_in_viewport()
    page.wait_for_timeout(400)
    stopped = slider.input_value()
    page.wait_for_timeout(400)
    expect(slider).to_have_value(stopped)


def test_a_step_is_what_was_played(visit):
    """Its four frames, and the four pictures: each the brighter of two."""
    figure = look_at(visit(), "step")
    moment = read("step/moment")
    frames = unpack(moment["frames"]).reshape(-1, 4, 210, 160)
    made = [
        small(np.maximum(*colours().gray[step_frames[2:]]))
        for step_frames in frames
    ]
    for step in 4, moment["asked"] - moment["first"], len(frames) - 1:
        figure.locator(".slide input").fill(str(4 * (step - 3)))
        check(pictures(figure, ".frames"), colours().rgb[frames[step]])
        check(pictures(figure, ".stack"), made[step - 3 : step + 1])
        action = BUTTONS[moment["actions"][step]]
        expect(figure.locator(".action")).to_have_text(action)
