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

from .bench import corner, trace, with_models


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


def check(layout, values, *, cells, latency, folder=None):
    """Column c shows its word c cycles after column 0, which does so `latency` cycles after the address."""
    words = len(values[0])
    columns = [WeightColumn(layout, column, cells=cells, kind=f"weights_{c}") for c, column in enumerate(values)]
    assert {column.latency for column in columns} == {latency}
    rng = random.Random(words)
    addresses = [words - 1, 0, *(rng.randrange(words) for _ in range(40))]
    run_by = cells if folder else "portable"  # no cells of the family in it
    shown = trace(Chain(columns), [{"address": address} for address in addresses], cells=run_by, folder=folder)
    bits = layout.elem_shape.width
    for c, column in enumerate(values):
        for cycle in range(c + latency, len(addresses)):
            word = column[addresses[cycle - c - latency]]
            expected = sum((value % (1 << bits)) << bits * place for place, value in enumerate(word))
            assert int(as_bits(shown[cycle][f"word_{c}"])) == expected, (c, cycle)


def as_bits(word):
    """A word of a trace: of Amaranth's simulator a constant of its layout, of Icarus a number."""
    return word if isinstance(word, int) else word.as_bits()


@pytest.mark.parametrize(("words", "depth", "columns"), [(1, 1, 1), (2, 3, 4), (5, 1, 3), (FEW, 4, 2)])
@pytest.mark.parametrize("operand", [IntFormat(8, signed=True), IntFormat(3, signed=False)], ids=str)
@pytest.mark.parametrize("cells", ["portable", "ice40", "ecp5"])
def test_few_words_come_a_cycle_after_their_address(words, depth, columns, operand, cells):
    values = values_of(random.Random(words), operand, words, depth, columns)
    check(operand_layout(operand, depth), values, cells=cells, latency=1)


@pytest.mark.parametrize(("cells", "latency"), [("portable", 2), ("xilinx", 2), ("ice40", 1)])
def test_many_words_have_a_register_where_the_cells_do(cells, latency):
    operand = IntFormat(8, signed=True)
    values = values_of(random.Random(3), operand, FEW + 1, 2, 2)
    check(operand_layout(operand, 2), values, cells=cells, latency=latency)


@pytest.mark.parametrize("cells", with_models("ecp5"))
@pytest.mark.parametrize(
    ("words", "operand", "depth"),
    [(FEW + 1, 8, 1), (1024, 8, 5), (1025, 8, 1), (2048, 3, 3), (4096, 5, 1), (8192, 2, 3), (16384, 2, 1)],
)
def test_ecp5_holds_many_words_in_its_cells(tmp_path, words, operand, depth, cells):
    form = IntFormat(operand, signed=True)
    values = values_of(random.Random(words), form, words, depth, 2 if words < 2000 else 1)
    check(operand_layout(form, depth), values, cells=cells, latency=2, folder=tmp_path)
