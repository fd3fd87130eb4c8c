"""Layouts of read-only memory: strips cover each bit once, and their cells have room for all words."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.rom_layout import DEEPEST, WIDE, rom_size, rom_strips, strip_bits

CELL_BITS = 18 * 1024


@pytest.mark.parametrize("seed", range(40))
def test_strips_hold_every_word(seed):
    rng = random.Random(seed)
    words, width = rng.randrange(65, 6000), rng.randrange(1, 400)
    end = 0
    for strip in rom_strips(words, width):
        assert strip.low == end
        end += strip.width
        if strip.depths:
            apart = strip.shared if strip.shared and len(strip.columns) * strip.shared <= WIDE else 0
            assert sum(strip.depths) + apart >= words
            assert strip.shared == apart
    assert end == width
    cells = rom_size(words, width).cells
    assert cells * CELL_BITS >= words * width or rom_size(words, width).tables


@pytest.mark.parametrize(("words", "bits"), [(512, 36), (640, 144), (768, 72), (1024, 36), (2560, 36), (2048, 36)])
def test_whole_strips_leave_no_cell_half_empty(words, bits):
    assert strip_bits(words) == bits
    assert rom_size(words, 10 * bits).cells * CELL_BITS == words * 10 * bits


def test_more_words_than_cells_hold():
    with pytest.raises(ValueError, match=f"words must be at most {DEEPEST}, not {DEEPEST + 1}"):
        list(rom_strips(DEEPEST + 1, 8))
