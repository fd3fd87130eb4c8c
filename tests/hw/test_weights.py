"""Weight memory: the word a cycle after its address, and the address onward for the column to the right."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden import IntFormat
from systoliq.hw.mac import operand_layout
from systoliq.hw.rom import FEW
from systoliq.hw.weights import WeightColumn

from .bench import corner, trace


class Chain(wiring.Component):
    """Columns side by side, as a dense layer places them."""

    def __init__(self, columns):
        self.columns = columns
        words = {f"word_{c}": Out(column.word.shape()) for c, column in enumerate(columns)}
        super().__init__({"address": In(columns[0].address.shape()), **words})

    def elaborate(self, platform):
        m = Module()
        address = self.address
        for c, column in enumerate(self.columns):
            m.submodules[f"column_{c}"] = column
            m.d.comb += [column.address.eq(address), getattr(self, f"word_{c}").eq(column.word)]
            address = column.address_next
        return m


def values_of(rng, operand, words, depth, columns):
    return [
        [[corner(rng, operand.min, operand.max) for _ in range(depth)] for _ in range(words)] for _ in range(columns)
    ]


def check(layout, values, *, cells, latency):
    """Column c shows its word c cycles after column 0, which does so `latency` cycles after the address."""
    words = len(values[0])
    columns = [WeightColumn(layout, column, cells=cells, kind=f"weights_{c}") for c, column in enumerate(values)]
    assert {column.latency for column in columns} == {latency}
    rng = random.Random(words)
    addresses = [words - 1, 0, *(rng.randrange(words) for _ in range(40))]
    shown = trace(
        Chain(columns),
        [{"address": address} for address in addresses],
    )
    bits = layout.elem_shape.width
    for c, column in enumerate(values):
        for cycle in range(c + latency, len(addresses)):
            word = column[addresses[cycle - c - latency]]
            expected = sum((value % (1 << bits)) << bits * place for place, value in enumerate(word))
            assert shown[cycle][f"word_{c}"].as_bits() == expected, (c, cycle)


@pytest.mark.parametrize(("words", "depth", "columns"), [(1, 1, 1), (2, 3, 4), (5, 1, 3), (FEW, 4, 2)])
@pytest.mark.parametrize("operand", [IntFormat(8, signed=True), IntFormat(3, signed=False)], ids=str)
@pytest.mark.parametrize("cells", ["portable", "ice40", "ecp5"])
def test_few_words_come_a_cycle_after_their_address(words, depth, columns, operand, cells):
    values = values_of(random.Random(words), operand, words, depth, columns)
    check(operand_layout(operand, depth), values, cells=cells, latency=1)


@pytest.mark.parametrize(("cells", "latency"), [("portable", 3), ("xilinx", 3), ("ice40", 1)])
def test_many_words_have_a_register_where_the_cells_do(cells, latency):
    operand = IntFormat(8, signed=True)
    values = values_of(random.Random(3), operand, FEW + 1, 2, 2)
    check(operand_layout(operand, 2), values, cells=cells, latency=latency)
