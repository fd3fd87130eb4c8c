"""Read-only memory: the word at every address, so many cycles later, in lookup tables, block RAM and DP16KD."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.rom import FEW, Rom
from systoliq.hw.verilog import emit_verilog

from .bench import trace, with_models

SIZES = [
    (1, 5), (2, 70), (FEW, 8),
    (FEW + 1, 8), (1000, 40), (1025, 9), (2048, 10), (4096, 5), (8192, 3), (16384, 2),
    (FEW + 1, 37), (192, 51), (512, 36), (600, 144), (640, 100), (768, 72), (768, 40), (1100, 73), (2560, 36),
    (2600, 80),
]  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "latency"), [("portable", 2), ("xilinx", 2), ("ice40", 1), ("ecp5", 2), ("ecp5-pair", 2)]
)
def test_many_words_have_a_register_where_the_cells_do(cells, latency):
    assert Rom.latency_of(FEW, cells) == Rom([0] * FEW, 8, cells=cells, kind="rom").latency == 1
    assert Rom.latency_of(FEW + 1, cells) == Rom([0] * (FEW + 1), 8, cells=cells, kind="rom").latency == latency


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cells", with_models("portable", "ecp5"))
@pytest.mark.parametrize(("count", "width"), SIZES)
def test_the_word_at_every_kind_of_address(tmp_path, count, width, cells):
    rng = random.Random(count)
    words = [rng.getrandbits(width) for _ in range(count)]
    bits = [1 << bit for bit in range(14) if 1 << bit < count]
    borders = [*(bit - 1 for bit in bits), *range(0, count, 64)]
    order = [count - 1, 0, *bits, *borders, *(rng.randrange(count) for _ in range(60))]
    rom = Rom(words, width, cells=cells, kind="rom")
    shown = trace(rom, [{"address": address} for address in order], cells=cells, folder=tmp_path)
    for cycle in range(rom.latency, len(order)):
        assert shown[cycle]["word"] == words[order[cycle - rom.latency]], cycle


@pytest.mark.parametrize("cells", with_models("ecp5"))
def test_bits_that_never_change_are_no_memory(tmp_path, cells):
    words = [0x5A5 | at << 12 & 0x3F000 for at in range(100)]
    rom = Rom(words, 20, cells=cells, kind="rom")
    shown = trace(rom, [{"address": address} for address in range(100)], cells=cells, folder=tmp_path)
    assert [row["word"] for row in shown[2:]] == words[: len(shown) - 2]
    assert "DP16KD" not in emit_verilog(Rom([7] * 100, 20, cells=cells, kind="rom"), "rom")
