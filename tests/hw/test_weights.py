"""Weight memory: the word a cycle after its address, and the address onward for the column to the right."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden import IntFormat
from systoliq.hw.delay import delay
from systoliq.hw.mac import operand_layout
from systoliq.hw.rom import FEW
from systoliq.hw.weights import column_words, weight_memories

from .bench import corner, trace, with_models


class Chain(wiring.Component):
    """Memories side by side, as a dense layer places them."""

    def __init__(self, layout, values, cells):
        self.layout, self.values = layout, values
        self.memories = weight_memories(layout, values, cells=cells)
        words = {f"word_{c}": Out(layout.size) for c in range(len(values))}
        super().__init__({"address": In(range(max(len(values[0]), 2))), **words})

    def elaborate(self, platform):
        m = Module()
        address = self.address
        if self.memories:
            address = delay(m, address, self.memories[0].pieces[0].column, name="first")
        for memory in self.memories:
            m.submodules[memory.kind] = memory
            m.d.comb += memory.address.eq(address)
            address = memory.address_next
        for c, word in enumerate(column_words(self.layout, self.values, self.memories)):
            m.d.comb += getattr(self, f"word_{c}").eq(word)
        return m


def values_of(rng, operand, words, depth, columns):
    return [
        [[corner(rng, operand.min, operand.max) for _ in range(depth)] for _ in range(words)] for _ in range(columns)
    ]


def check(layout, values, *, cells, latency, folder=None):
    """Column c shows its word c cycles after column 0, which does so `latency` cycles after the address."""
    words = len(values[0])
    chain = Chain(layout, values, cells)
    assert {memory.latency for memory in chain.memories} == {latency}
    rng = random.Random(words)
    addresses = [words - 1, 0, *(rng.randrange(words) for _ in range(40))]
    runs_in = cells if folder else "portable"
    shown = trace(chain, [{"address": address} for address in addresses], cells=runs_in, folder=folder)
    bits = layout.elem_shape.width
    for c, column in enumerate(values):
        for cycle in range(c + latency, len(addresses)):
            word = column[addresses[cycle - c - latency]]
            expected = sum((value % (1 << bits)) << bits * place for place, value in enumerate(word))
            assert shown[cycle][f"word_{c}"] == expected, (c, cycle)
    return chain


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


@pytest.mark.parametrize("cells", with_models("ecp5"))
@pytest.mark.parametrize(("words", "depth", "columns"), [(FEW + 1, 1, 11), (160, 5, 3), (640, 2, 13), (768, 1, 13)])
def test_columns_share_the_memories_of_ecp5(tmp_path, words, depth, columns, cells):
    """Columns of the same words, such as that of row sums, are in none of them."""
    operand = IntFormat(8, signed=True)
    values = values_of(random.Random(3), operand, words, depth, columns)
    for place in (0, columns // 2):
        values[place] = [[place + 1] * depth] * words
    chain = check(operand_layout(operand, depth), values, cells=cells, latency=3, folder=tmp_path)
    assert len(chain.memories) < columns
    assert sum(len(memory.word) for memory in chain.memories) == (columns - 2) * depth * 8


def test_words_that_are_all_alike_have_no_memory():
    layout = operand_layout(IntFormat(8, signed=True), 2)
    assert not weight_memories(layout, [[[5, -3]] * 100] * 4, cells="ecp5")
