"""Read-only memory: the word at every address, so many cycles later, in lookup tables, block RAM and DP16KD."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.rom import FEW, Rom

from .bench import trace, with_models

SIZES = [
    (1, 5), (2, 70), (FEW, 8),
    (FEW + 1, 8), (1000, 40), (1025, 9), (2048, 10), (4096, 5), (8192, 3), (16384, 2),
]  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "latency"), [("portable", 2), ("xilinx", 2), ("ice40", 1), ("ecp5", 2), ("ecp5-pair", 2)]
)
def test_many_words_have_a_register_where_the_cells_do(cells, latency):
    assert Rom.latency_of(FEW, cells) == Rom([0] * FEW, 8, cells=cells, kind="rom").latency == 1
    assert Rom.latency_of(FEW + 1, cells) == Rom([0] * (FEW + 1), 8, cells=cells, kind="rom").latency == latency


@pytest.mark.parametrize("cells", with_models("portable", "ecp5"))
@pytest.mark.parametrize(("count", "width"), SIZES)
def test_the_word_at_every_kind_of_address(tmp_path, count, width, cells):
    rng = random.Random(count)
    words = [rng.getrandbits(width) for _ in range(count)]
    bits = [1 << bit for bit in range(14) if 1 << bit < count]
    order = [count - 1, 0, *bits, *(rng.randrange(count) for _ in range(60))]
    rom = Rom(words, width, cells=cells, kind="rom")
    shown = trace(rom, [{"address": address} for address in order], cells=cells, folder=tmp_path)
    for cycle in range(rom.latency, len(order)):
        assert shown[cycle]["word"] == words[order[cycle - rom.latency]], cycle
