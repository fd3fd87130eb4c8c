"""The timeline: steps wait for their causes, for each other and for room."""

from __future__ import annotations

import numpy as np

from systoliq.hw.timeline import Timeline


def test_steps_are_a_gap_apart():
    line = Timeline()
    given = line.steps(4, start=0)
    made = line.steps(4, gap=3)
    made.after(given, 2)
    line.solve()
    assert given.cycles.tolist() == [0, 1, 2, 3]
    assert made.cycles.tolist() == [2, 5, 8, 11]


def test_a_delay_for_each_step_and_steps_that_do_not_wait():
    line = Timeline()
    given = line.steps(2, start=10)
    made = line.steps(4, gap=0)
    made.after_some(given, np.array([0, 1, 2, 3]), np.array([0, -1, 1, 0]))
    line.solve()
    assert made.cycles.tolist() == [10, 10, 13, 13]


def test_room_is_awaited_against_the_flow():
    """Two places, each free a cycle after the beat in it has left, which takes five."""
    line = Timeline()
    taken = line.steps(6, start=0)
    left = line.following(taken, 5)
    taken.after(left, 1, lag=2)
    line.solve()
    assert taken.cycles.tolist() == [0, 1, 6, 7, 12, 13]


def test_offers_like_others_begin_with_them():
    line = Timeline()
    given = line.steps(2, start=7)
    other = line.steps(2)
    other.offered_like(given)
    line.solve()
    assert other.cycles.tolist() == [7, 8]
