"""Weight memory: the word a cycle after its address, and the address onward for the column to the right."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden import IntFormat
from systoliq.hw.mac import operand_layout
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


@pytest.mark.parametrize(("words", "depth", "columns"), [(1, 1, 1), (2, 3, 4), (5, 1, 3), (16, 4, 2)])
@pytest.mark.parametrize("operand", [IntFormat(8, signed=True), IntFormat(3, signed=False)], ids=str)
def test_column_c_shows_its_word_c_cycles_after_column_0(words, depth, columns, operand):
    rng = random.Random(words)
    values = [
        [[corner(rng, operand.min, operand.max) for _ in range(depth)] for _ in range(words)] for _ in range(columns)
    ]
    layout = operand_layout(operand, depth)
    chain = Chain([WeightColumn(layout, column, kind=f"weights_{c}") for c, column in enumerate(values)])
    addresses = [rng.randrange(words) for _ in range(40)]
    shown = trace(chain, [{"address": address} for address in addresses])
    for c in range(columns):
        for cycle in range(c + 1, len(addresses)):
            assert list(shown[cycle][f"word_{c}"]) == values[c][addresses[cycle - c - 1]]
