"""The timeline: steps wait for their causes, for each other and for room; a layer's beats leave as its cycles say."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, Dense
from systoliq.hw.hierarchy import mark_used
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


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("k", "n", "cols", "depth"), [(7, 5, 2, 1), (4, 6, 6, 1), (8, 3, 3, 4), (3, 9, 4, 3)])
def test_beats_of_a_layer_take_its_cycles(k, n, cols, depth, rows):
    """Several column tiles, the last one ragged, several lanes, a drain longer than a tile."""
    rng = np.random.default_rng(1)
    layer = MatMulLayer(
        b=rng.integers(-128, 128, (k, n)).astype(np.int8),
        a_scale=np.float32(0.5), b_scale=np.float32(0.25), y_scale=np.float32(8), a_zero_point=np.int8(0),
        b_zero_point=np.int8(0), y_zero_point=np.int8(0),
    )  # fmt: skip
    requantization = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    dense = Dense(layer, requantization, ArrayConfig(rows=rows, cols=cols, depth=depth))
    mark_used(dense)
    for groups in (1, 2, 9):
        line = Timeline()
        left = dense.timed(line, line.steps(groups * dense.schedule.beats, start=0))
        line.solve()
        assert left.cycles[-1] + 1 == dense.cycles(groups * rows)
