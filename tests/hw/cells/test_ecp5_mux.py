"""ECP5's wide multiplexers by our models: the word at the index, with a lookup table for each two words."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from systoliq.hw.cells.ecp5_mux import ecp5_mux
from systoliq.hw.verilog import emit_verilog

from ..bench import traces, with_models
from .cell_bench import Cell, random_lines

COUNTS = (2, 3, 4, 5, 6, 7, 8)
BITS = 3
_INPUTS = {"LUT4": (), "PFUMX": ("BLUT", "ALUT"), "L6MUX21": ("D0", "D1")}
_BELOW = {"PFUMX": "LUT4", "L6MUX21": "PFUMX"}
_INSTANCE = re.compile(r"(LUT4|PFUMX|L6MUX21)(?: #\(.*?\))? \w+ \((.*?)\);", re.DOTALL)


def mux(m, block):
    words = [block.words.word_select(i, BITS) for i in range(len(block.words) // BITS)]
    m.d.comb += block.word.eq(ecp5_mux(m, words, block.index, name="word"))


@pytest.mark.parametrize("cells", with_models("ecp5"))
def test_word_at_the_index(tmp_path, cells):
    inputs = [{"words": BITS * count, "index": (count - 1).bit_length()} for count in COUNTS]
    blocks = [Cell(each, {"word": BITS}, mux) for each in inputs]
    given = [random_lines(each, 100, 4) for each in inputs]
    for count, lines, shown in zip(COUNTS, given, traces(blocks, given, cells=cells, folder=tmp_path), strict=True):
        for line, found in zip(lines, shown, strict=True):
            if line["index"] < count:
                assert found["word"] == line["words"] >> BITS * line["index"] & (1 << BITS) - 1, (count, line)


@pytest.mark.parametrize("count", COUNTS)
def test_each_multiplexer_has_two_of_the_level_below(count):
    """As nextpnr demands it: it packs no lookup table behind a multiplexer that has none at its other input."""
    inputs = {"words": BITS * count, "index": (count - 1).bit_length()}
    text = emit_verilog(Cell(inputs, {"word": BITS}, mux), "mux")
    cells = [(kind, dict(re.findall(r"\.(\w+)\((.*?)\)[,\n]", body))) for kind, body in _INSTANCE.findall(text)]
    tables = 1 << max((count - 1).bit_length() - 1, 0)
    counts = Counter(kind for kind, _ in cells)
    assert counts == Counter({"LUT4": BITS * tables, "PFUMX": BITS * (tables // 2), "L6MUX21": BITS * (tables // 4)})
    driver = {ports["Z"]: kind for kind, ports in cells}
    for kind, ports in cells:
        for port in _INPUTS[kind]:
            assert driver[ports[port]] == _BELOW[kind]
