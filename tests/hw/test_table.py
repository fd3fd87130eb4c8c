"""The constant table: every name's number at every index, in lookup tables, block RAM, or as a constant."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import signed, unsigned

from systoliq.hw.rom import FEW
from systoliq.hw.table import ConstantTable

from .bench import corner_of, trace, with_models

SHAPES = {"bias": signed(9), "shift": unsigned(3), "zero": signed(4)}


@pytest.mark.parametrize("cells", with_models("portable", "ecp5"))
@pytest.mark.parametrize("count", [1, 2, 3, 37, FEW, FEW + 1, 1025])
def test_every_index_shows_its_numbers(tmp_path, count, cells):
    rng = random.Random(count)
    columns = {
        "bias": [corner_of(rng, 9) for _ in range(count)],
        "shift": [rng.randrange(8) for _ in range(count)],
        "zero": [-7] * count,
    }
    table = ConstantTable(columns, SHAPES, cells=cells, kind="constants")
    assert table.latency == (1 if count <= FEW else 2)
    order = [count - 1, 0, *(rng.randrange(count) for _ in range(60))]
    shown = trace(table, [{"index": index} for index in order], cells=cells, folder=tmp_path)
    for cycle in range(table.latency, len(order)):
        wanted = {name: values[order[cycle - table.latency]] for name, values in columns.items()}
        assert shown[cycle] == wanted, cycle
