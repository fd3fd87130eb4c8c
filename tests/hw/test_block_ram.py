"""Block RAM, portable and of DP16KD cells by our model, against what was written."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import unsigned

from systoliq.hw.block_ram import BlockRam

from .bench import traces, with_models

CYCLES = 500


def stimulus(block, rng):
    """Writes and reads of a few words, both ends among them; no word is read in the cycle in which it is written."""
    places = sorted({0, block.depth - 1, *(rng.randrange(block.depth) for _ in range(10))})
    lines = []
    for _ in range(CYCLES):
        line = {
            "write": rng.random() < 0.5,
            "write_address": rng.choice(places),
            "write_data": rng.getrandbits(block.width),
            "read": rng.random() < 0.7,
            "read_address": rng.choice(places),
            "show": rng.random() < 0.8,
        }
        line["read"] &= not (line["write"] and line["write_address"] == line["read_address"])
        lines.append(line)
    return lines


def words(block, lines):
    """What `read_data` shows in each cycle; None where it is not known."""
    memory, inner, outer = {}, None, None
    for line in lines:
        yield inner if block.latency == 1 else outer
        outer = inner if line["show"] else outer
        inner = memory.get(line["read_address"]) if line["read"] else inner
        if line["write"]:
            memory[line["write_address"]] = line["write_data"]


def check(blocks, cells, folder):
    stimuli = [stimulus(block, random.Random(block.depth)) for block in blocks]
    shown = traces(blocks, stimuli, cells=cells, folder=folder)
    for block, given, lines in zip(blocks, stimuli, shown, strict=True):
        known = {cycle: word for cycle, word in enumerate(words(block, given)) if word is not None}
        assert len(known) > CYCLES / 2
        assert {cycle: lines[cycle]["read_data"] for cycle in known} == known, (block.width, block.depth)


SIZES = [(70, 64), (32, 1024), (20, 2048), (7, 4096), (3, 16384), (40, 16), (9, 100), (5, 1), (6, 33)]


@pytest.mark.parametrize(("cells", "latency"), [("portable", 2), ("ice40", 1), ("ecp5", 2), ("ecp5-alu", 2)])
def test_latency_follows_from_the_cells(cells, latency):
    assert BlockRam.latency_of(cells) == BlockRam(8, depth=64, cells=cells).latency == latency
    assert BlockRam(8, depth=16, cells=cells, registered=False).latency == 1


@pytest.mark.parametrize("cells", [*with_models("portable", "ecp5"), "ice40"])
def test_words_that_were_written_are_read(tmp_path, cells):
    run_by = "portable" if cells == "ice40" else cells  # it has no cell of its own
    check([BlockRam(unsigned(width), depth=depth, cells=cells) for width, depth in SIZES], run_by, tmp_path)


@pytest.mark.parametrize("cells", with_models("portable", "ecp5"))
def test_few_words_without_a_register(tmp_path, cells):
    sizes = [(8, 2), (33, 16), (9, 31), (8, 64), (5, 100)]
    blocks = [BlockRam(unsigned(width), depth=depth, cells=cells, registered=False) for width, depth in sizes]
    check(blocks, cells, tmp_path)


def test_show_left_open_is_1():
    block = BlockRam(unsigned(8), depth=4, cells="portable")
    lines = [{"write": 1, "write_address": 2, "write_data": 77}, {"write": 0, "read": 1, "read_address": 2}, {}, {}]
    assert traces([block], [lines])[0][3]["read_data"] == 77
