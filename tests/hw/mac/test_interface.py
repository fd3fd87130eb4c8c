"""The interface of the multiply-accumulate: which form stands behind which cells, and what it may ask for."""

from __future__ import annotations

import pytest

from systoliq.golden import IntFormat
from systoliq.hw import ArrayConfig
from systoliq.hw.cells import CELLS
from systoliq.hw.mac import Mac, operand_layout


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_clear_comes_before_the_sum_that_it_begins(cells, depth):
    config = ArrayConfig(cells=cells, depth=depth)
    assert 0 <= Mac.clear_delay_of(config) < Mac.latency_of(config)


def test_form_follows_from_the_cells():
    skewed = {cells for cells in CELLS if Mac.skew_of(ArrayConfig(cells=cells, depth=2))}
    assert skewed == {"xilinx", "dsp48e2", "dsp48e2-pair"}
    paired = {cells for cells in CELLS if Mac.columns_of(ArrayConfig(cells=cells)) == 2}
    assert paired == {"dsp48e2-pair", "ecp5-pair"}


def test_operands_stand_side_by_side_the_first_in_the_lowest_bits():
    layout = operand_layout(IntFormat(5, signed=True), 3)
    assert list(layout.from_bits(0b11111_00010_10000)) == [-16, 2, -1]
    assert list(operand_layout(IntFormat(5, signed=False), 2).from_bits(0b11111_10000)) == [16, 31]
