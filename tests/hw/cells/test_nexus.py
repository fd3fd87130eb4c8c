"""The cell of Lattice Nexus by our model: sums of up to four products that begin anew, modulo their width."""

from __future__ import annotations

import pytest
from amaranth.hdl import Const, signed

from systoliq.hw.mac.nexus import PRODUCTS, WIDTH, multaddsub9x9wide

from ..bench import traces, with_models
from .cell_bench import Cell, random_lines

TOTAL_BITS = 24


def pins(count, bits):
    return {f"{name}{i}": signed(bits) for name in "ab" for i in range(count)}


def block(count, bits):
    def build(m, cell):
        operands = ([getattr(cell, f"{name}{i}") for i in range(count)] for name in "ab")
        m.submodules.cell = multaddsub9x9wide(*operands, cell.clear, cell.total)

    return Cell({**pins(count, bits), "clear": 1}, {"total": signed(TOTAL_BITS)}, build)


def wrapped(number):
    return (number + (1 << TOTAL_BITS - 1)) % (1 << TOTAL_BITS) - (1 << TOTAL_BITS - 1)


@pytest.mark.parametrize("cells", with_models("nexus"))
def test_sum_of_products_of_three_cycles_ago(tmp_path, cells):
    sizes = [(1, 8), (3, WIDTH), (PRODUCTS, 5), (PRODUCTS, WIDTH)]
    given = [random_lines({**pins(*size), "clear": 1}, 80, 1) for size in sizes]
    for lines in given:
        lines[0]["clear"] = 1  # makes the sum known
    shown = traces([block(*size) for size in sizes], given, cells=cells, folder=tmp_path)
    for (count, _), lines, found in zip(sizes, given, shown, strict=True):
        total, expected = 0, []
        for line in lines:
            total = (0 if line["clear"] else total) + sum(line[f"a{i}"] * line[f"b{i}"] for i in range(count))
            expected.append(wrapped(total))
        assert [line["total"] for line in found[3:]] == expected[:-3]


@pytest.mark.parametrize(("pairs", "bits"), [(5, 8), (1, 10)])
def test_operands_that_a_cell_has_no_room_for_are_refused(pairs, bits):
    operands = [Const(1, signed(bits))] * pairs
    with pytest.raises(ValueError, match="operands must be up to 4 pairs of at most 9 bits"):
        multaddsub9x9wide(operands, operands, Const(0), Const(0, TOTAL_BITS))
