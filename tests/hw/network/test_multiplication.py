"""Multiplication: golden's product of all pairs of bytes, in cells and in lookup tables; streams are tested with the
stages.
"""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Multiplication, Tensor
from systoliq.hw.network.multiplication import SteppedProduct

from ..bench import traces, with_models

MOST_LATENCY = 30
SCALES = [(0.031, 0.017, 0.043), (0.5, 0.5, 0.5), (0.25, 0.5, 32.0), (0.9, 0.002, 0.7), (0.03, 0.04, 40.0)]


def node(scales, form):
    """A golden multiplication of [1, 256, 256], and its operands: all pairs."""
    points = [form.min, form.min + 100, form.min + 131]
    a, b, y = (
        Tensor(name=name, shape=(1, 256, 256), format=form, scale=np.float32(scale), zero_point=point)
        for name, scale, point in zip("aby", scales, points, strict=True)
    )
    pairs = np.broadcast_arrays(a.codes[None, :, None], a.codes[None, None, :])
    return Multiplication(name="product", inputs=(a, b), output=y), pairs


@pytest.mark.sampled(99)
@pytest.mark.parametrize("cells", with_models("portable", "ecp5", "ecp5-lut", "ice40", "gowin"))
@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
def test_lane_gives_the_product_of_all_pairs(form, cells, tmp_path):
    """A part of them, and those beside which the result changes."""
    blocks, stimuli, expected = [], [], []
    for number, scales in enumerate(SCALES):
        golden, (a, b) = node(scales, form)
        y = golden.apply(a, b)[0].reshape(-1)
        points = tuple(each.zero_point for each in golden.inputs)
        steps = golden.steps
        block = SteppedProduct(steps, form, points, cells=cells, lane_cells=cells, kind=f"lane_{number}")
        order = np.concatenate([np.random.default_rng(0).permutation(65536)[:1500], next_to_steps(y)])
        codes = [[int(code) & 255 for code in each.reshape(-1)[order]] for each in (a, b)]
        stimuli.append([{"a": a, "b": b} for a, b in zip(*codes, strict=True)])
        stimuli[-1] += [{"a": 0, "b": 0}] * MOST_LATENCY
        blocks.append(block)
        expected.append([int(each) & 255 for each in y[order]])
    found = traces(blocks, stimuli, cells=cells, folder=tmp_path)
    for block, lines, right in zip(blocks, found, expected, strict=True):
        assert [line["y"] for line in lines[block.latency :][: len(right)]] == right


def next_to_steps(expected):
    """1000 pairs beside which the result changes."""
    places = np.flatnonzero(np.diff(expected.astype(int)))
    chosen = np.resize(np.random.default_rng(1).permutation(places), 500)
    return np.concatenate([chosen, chosen + 1])
