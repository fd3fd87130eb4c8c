"""ECP5's adder beside its multipliers: sums of one or two products, kept or begun anew."""

from __future__ import annotations

import pytest
from amaranth.hdl import signed

from systoliq.hw.cells.ecp5_alu import HELD_BITS, alu54b

from ..bench import traces, with_models, wrapped
from .cell_bench import Cell, random_lines

CYCLES = 120
SIZES = [(1, 4, 4, 12), (2, 9, 9, 32), (2, 18, 18, 48), (1, 18, 18, HELD_BITS), (2, 5, 17, 24)]


@pytest.mark.parametrize("cells", with_models("ecp5-alu"))
@pytest.mark.parametrize("keeps", [False, True])
def test_sum_of_products_of_three_cycles_ago(tmp_path, cells, keeps):
    def build(m, block):
        count = 2 if hasattr(block, "a1") else 1
        a, b = ([getattr(block, f"{side}{i}") for i in range(count)] for side in "ab")
        for name, instance in alu54b(a, b, block.total, keep=block.keep if keeps else None).items():
            m.submodules[name] = instance

    inputs = [
        {f"{side}{i}": signed(bits) for i in range(count) for side, bits in (("a", a), ("b", b))} | {"keep": 1}
        for count, a, b, _ in SIZES
    ]
    blocks = [Cell(each, {"total": signed(size[-1])}, build) for each, size in zip(inputs, SIZES, strict=True)]
    given = [random_lines(each, CYCLES, 4) for each in inputs]
    for lines in given:
        lines[1]["keep"] = 0  # with the first operands: what was held before is not known
    shown = traces(blocks, given, cells=cells, folder=tmp_path)
    for (count, _, _, bits), lines, found in zip(SIZES, given, shown, strict=True):
        total = 0
        for t in range(CYCLES - 3):
            product = sum(lines[t][f"a{i}"] * lines[t][f"b{i}"] for i in range(count))
            total = wrapped((total if keeps and lines[t + 1]["keep"] else 0) + product, bits)
            assert found[t + 3]["total"] == total, (count, bits, t)


def test_what_does_not_fit_is_refused():
    block = Cell({"a": signed(19), "b": signed(4)}, {"total": signed(HELD_BITS + 1)}, None)
    with pytest.raises(ValueError, match="there must be one or two pairs of operands, not 3 and 3 operands"):
        alu54b([block.b] * 3, [block.b] * 3, block.b)
    with pytest.raises(ValueError, match="operands must have at most 18 bits, not 19"):
        alu54b([block.a], [block.b], block.b)
    with pytest.raises(ValueError, match="total must have at most 52 bits, not 53"):
        alu54b([block.b], [block.b], block.total)
