"""The sum of one operand alone is what the multiply-accumulate makes of it and ones, cycle for cycle."""

from __future__ import annotations

import pytest

from systoliq.golden import INT8, IntFormat
from systoliq.hw import ArrayConfig
from systoliq.hw.mac import Mac, OperandSum

from ..bench import traces, with_models, wrapped
from .mac_bench import length_of, operand_sets, shown_sums, sums

COUNT = 60


def stimulus(config, operand, sets, length):
    for cycle in range(length):
        begins = cycle - Mac.clear_delay_of(config)
        beats = [min(max(cycle - i * Mac.skew_of(config), 0), COUNT - 1) for i in range(config.depth)]
        clear = 0 <= begins < COUNT and sets[begins][2]
        yield {operand: [sets[beat][0][i] for i, beat in enumerate(beats)], "clear": clear}


@pytest.mark.parametrize("cells", with_models("portable", "xilinx", "ice40", "gowin", "ecp5", "ecp5-alu", "dsp48e2"))
@pytest.mark.parametrize(("operand", "fmt"), [("a", INT8), ("b", IntFormat(5, signed=True))], ids=["a", "b"])
def test_sum_is_that_of_products_with_ones(tmp_path, cells, operand, fmt):
    configs = [ArrayConfig(depth=depth, cells=cells, a=fmt, b=fmt) for depth in (1, 2, 3, 8)]
    length = length_of(configs, COUNT)
    sets = [
        [(a, [[1] * config.depth], clear) for a, _, clear in operand_sets(config, COUNT, config.depth)]
        for config in configs
    ]
    stimuli = [list(stimulus(config, operand, each, length)) for config, each in zip(configs, sets, strict=True)]
    blocks = [OperandSum(config, operand) for config in configs]
    for config, each, lines in zip(configs, sets, traces(blocks, stimuli, cells=cells, folder=tmp_path), strict=True):
        found = [wrapped(shown, 32) for shown in shown_sums(config, lines, COUNT)]
        assert found == sums(each, 0, OperandSum.BITS)[Mac.spread_of(config) :], config
