"""The delay line, portable and of DP16KD cells by our model: what came so many cycles ago."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import signed

from systoliq.hw.delay_line import DelayLine

from .bench import traces, with_models

CYCLES = 300
LENGTHS = [2, 3, 15, 31, 32, 33, 34, 80]  # on both sides of where it goes from lookup tables into memory cells


def check(cells, folder, run_by, reset_at):
    rng = random.Random(reset_at)
    lines = [{"i": rng.randrange(-256, 256), "rst": cycle == reset_at} for cycle in range(CYCLES)]
    stimuli = [[dict(line) for line in lines] for _ in LENGTHS]
    if run_by != "portable":  # one design, which is reset once
        lines, stimuli = lines, [[{"i": line["i"]} for line in lines] for _ in LENGTHS]
    blocks = [DelayLine(signed(9), cycles=cycles, cells=cells) for cycles in LENGTHS]
    for cycles, shown in zip(LENGTHS, traces(blocks, stimuli, cells=run_by, folder=folder), strict=True):
        begins = (reset_at + 1 if run_by == "portable" else 0) + cycles
        found = [line["o"] for line in shown[begins:]]
        assert found == [line["i"] for line in lines[begins - cycles : CYCLES - cycles]], cycles


@pytest.mark.parametrize("cells", [*with_models("portable", "ecp5"), "ice40"])
@pytest.mark.parametrize("reset_at", [0, 45])
def test_shows_the_word_of_cycles_ago_from_that_many_after_reset_on(tmp_path, cells, reset_at):
    check(cells, tmp_path, "portable" if cells == "ice40" else cells, reset_at)


def test_a_delay_line_has_a_least_length():
    with pytest.raises(ValueError, match="cycles must be at least 2, not 1"):
        DelayLine(9, cycles=1, cells="portable")
