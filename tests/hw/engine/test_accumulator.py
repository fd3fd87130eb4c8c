"""The accumulator: sums of each row of A, as often and as close as its contract allows."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.block_ram import BlockRam
from systoliq.hw.engine.accumulator import Accumulator
from systoliq.hw.engine.weight_array import PARTIAL_BITS

from ..bench import corner_of, trace, with_models, wrapped

CYCLES = 400


@pytest.mark.parametrize("cells", [*with_models("portable", "ecp5"), "ice40"])
@pytest.mark.parametrize("depth", [5, 8, 64])
@pytest.mark.parametrize("reset_at", [None, 200])
def test_each_row_gathers_its_own_sum(tmp_path, cells, depth, reset_at):
    block, rng = Accumulator(depth, cells=cells), random.Random(depth)
    after = BlockRam.latency_of(cells)
    lines = [{"valid": 0, "rst": cycle == reset_at} for cycle in range(CYCLES + after + 2)]
    partials = [corner_of(rng, PARTIAL_BITS) for _ in range(CYCLES + after + 2)]
    came, total, sums, shown_sum, control = {}, {}, {}, None, []
    for cycle in range(CYCLES):
        if reset_at is not None and cycle in range(reset_at - after - 1, reset_at + 1):
            came.clear()
            total.clear()  # no memory is kept over a reset: every row begins anew
            control.append((0, 0, 0))
            continue
        rows = [row for row in range(depth) if cycle - came.get(row, -99) > Accumulator.again]
        row = rng.choice(rows) if rows else 0
        valid = bool(rows) and rng.random() < 0.7
        first = valid and (row not in total or rng.random() < 0.2)
        lines[cycle] |= {"valid": valid, "first": first, "row": row}
        control.append((valid, first, row))
        if valid:
            came[row] = cycle
            total[row] = wrapped((0 if first else total[row]) + partials[cycle + after], PARTIAL_BITS)
            sums[cycle + after + 1] = total[row]
    for line, partial in zip(lines, partials, strict=True):
        line["partial"] = partial
    model = "portable" if cells == "ice40" else cells
    for cycle, line in enumerate(trace(block, lines, cells=model, folder=tmp_path)[:CYCLES]):
        shown_sum = None if reset_at == cycle else sums.get(cycle, shown_sum)
        if shown_sum is not None:
            assert line["sum"] == shown_sum, cycle
        if cycle and control[cycle - 1][0] and cycle - 1 != reset_at:
            assert tuple(line[f"{name}_next"] for name in ("valid", "first", "row")) == control[cycle - 1]
        elif cycle:
            assert not line["valid_next"]
    assert len(sums) > CYCLES / 5
