"""Multipliers: the product of `latency` cycles ago, of every set of cells and at every place where operands are cut."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.multiplier import LIMB_BITS, Multiplier, WideMultiplier

from .bench import corner_of, traces, with_models

CYCLES = 120


def check(blocks, cells="portable", folder=None):
    rng = random.Random(cells)
    stimuli = [
        [{name: corner_of(rng, len(port), signed=port.shape().signed) for name, port in ports} for _ in range(CYCLES)]
        for ports in ([("a", block.a), ("b", block.b)] for block in blocks)
    ]
    shown = traces(blocks, stimuli, cells=cells, folder=folder)
    for block, given, lines in zip(blocks, stimuli, shown, strict=True):
        found = [line["product"] for line in lines[block.latency :]]
        assert found == [line["a"] * line["b"] for line in given[: CYCLES - block.latency]], vars(block)


@pytest.mark.parametrize("cells", with_models("portable", "ecp5", "ice40", "gowin"))
def test_multiplier(tmp_path, cells):
    check([Multiplier(*bits, cells=cells) for bits in [(2, 3), (9, 8), (16, 16)]], cells, tmp_path)


def test_multiplier_of_one_register():
    block = Multiplier(8, 18, cells="portable", pipelined=False)
    assert block.latency == 1
    check([block])


# Around one and two limbs, and a few bits beyond two: see `WideMultiplier`.
SIZES = {
    "portable": [(1, 1), (32, 24), (40, 33)],
    "ecp5": [(18, 17), (18, 18), (19, 17), (26, 24), (35, 34), (36, 18), (38, 34), (39, 20), (33, 5), (25, 1)],
    "ecp5-lut": [(8, 8), (25, 12), (26, 20)],
    "gowin": [(9, 8), (18, 17), (19, 17), (26, 24), (35, 34), (38, 34), (39, 20), (25, 1)],
    "ice40": [(16, 15), (17, 16), (31, 30), (32, 24), (34, 30), (25, 12), (20, 1), (32, 4)],
}


@pytest.mark.parametrize("cells", with_models(*SIZES))
def test_wide_multiplier(tmp_path, cells):
    each = [(bits, pipelined) for bits in SIZES[cells] for pipelined in (True, False)]
    check([WideMultiplier(*bits, cells=cells, pipelined=pipelined) for bits, pipelined in each], cells, tmp_path)


@pytest.mark.parametrize(("cells", "limb"), [item for item in LIMB_BITS.items() if item[0] != "ecp5-lut"])
def test_each_operand_that_is_cut_takes_an_addition(cells, limb):
    one = WideMultiplier(limb + 1, limb, cells=cells).latency
    assert WideMultiplier(limb + 2, limb, cells=cells).latency == one + 1
    assert WideMultiplier(limb + 2, limb + 1, cells=cells).latency == one + 2
    assert WideMultiplier(2 * limb + 3, limb + 1, cells=cells).latency == one + 3
    assert WideMultiplier(2 * limb + 3, limb + 1, cells=cells, pipelined=False).latency == one + 1


@pytest.mark.parametrize("cells", ["ecp5", "ice40"])
def test_few_bits_take_no_cell(cells):
    blocks = [WideMultiplier(24, bits, cells=cells) for bits in (1, 4, 5)]
    assert [(block.count, block.cells) for block in blocks] == [(0, "portable"), (0, "portable"), (2, cells)]
