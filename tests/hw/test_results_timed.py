"""Times of results: a layer's beats leave as its cycles say."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, Dense
from systoliq.hw.hierarchy import mark_used
from systoliq.hw.timeline import Timeline


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
