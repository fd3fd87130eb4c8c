"""ECP5's block RAM of one cell: every width, every address, and the register behind it."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.cells.ecp5_ram import WIDTHS, dp16kd

from ..bench import traces, with_models
from .cell_bench import Cell

PORTS = ("write", "write_address", "data", "read", "read_address", "show")


def build(m, block):
    m.d.comb += block.word.eq(dp16kd(m, **{name: getattr(block, name) for name in PORTS}))


@pytest.mark.parametrize("cells", with_models("ecp5"))
def test_each_width_with_words_at_both_ends_and_at_every_address_bit(tmp_path, cells):
    rng = random.Random(5)
    blocks, stimuli, wanted = [], [], []
    for depth, width in WIDTHS.items():
        bits = (depth - 1).bit_length()
        sizes = {"write": 1, "write_address": bits, "data": width, "read": 1, "read_address": bits, "show": 1}
        blocks.append(Cell(sizes, {"word": width}, build))
        places = [0, depth - 1, *(1 << bit for bit in range(14) if 1 << bit < depth)]
        places += [1] * (16 - len(places))
        words = {place: rng.getrandbits(width) for place in places}
        lines = [{"write": 1, "write_address": place, "data": word, "read": 0} for place, word in words.items()]
        lines += [lines[-1]] * (16 - len(lines))
        for place in places:
            hidden = rng.choice([other for other in words if other != place])
            lines += [
                {"write": 0, "read": 1, "read_address": place, "show": 0},
                {"read": 0, "show": 1},  # on to the output
                {"read": 1, "read_address": hidden, "show": 0},  # read, and not shown
                {"read": 0},
            ]
        stimuli.append(lines)
        wanted.append({16 + 4 * i + 3: words[place] for i, place in enumerate(places)})
    shown = traces(blocks, stimuli, cells=cells, folder=tmp_path)
    for block, each, lines in zip(blocks, wanted, shown, strict=True):
        assert {cycle: lines[cycle]["word"] for cycle in each} == each, len(block.word)
