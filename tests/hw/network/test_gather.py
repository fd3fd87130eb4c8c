"""Gather: picked elements of each block, by numpy's indexing, whatever stalls; a beat a cycle."""

from __future__ import annotations

import numpy as np
import pytest
from amaranth.hdl import signed

from systoliq.hw.network.gather import HANDOVER, Gather, smallest_block

from . import stage_bench as bench

BLOCKS = {  # lanes, elements of a block, indices
    "one element": (1, 1, [0]),
    "the same": (2, 6, [*range(6)]),
    "the second half": (2, 8, [4, 5, 6, 7]),
    "reversed beats": (2, 6, [4, 5, 2, 3, 0, 1]),
    "reversed elements": (2, 6, [5, 4, 3, 2, 1, 0]),
    "shuffled channels": (4, 8, [0, 4, 1, 5, 2, 6, 3, 7]),
    "several times": (1, 3, [0, 0, 1, 1, 1, 2]),
    "one of many": (3, 30, [7, 7, 29]),
    "a long block": (1, 70, [*range(69, -1, -1)]),
    "a block of which only two are held": (1, 130, [*range(129, -1, -1)]),
    "lanes that are no power of two": (3, 9, [0, 3, 6, 1, 4, 7, 2, 5, 8]),
}
COUNT = 7


def block(name, cells="portable"):
    lanes, elements, indices = BLOCKS[name]
    return Gather(signed(8), lanes=lanes, block=elements, indices=indices, cells=cells, kind="gather")


def traffic(name, rng):
    """Beats in and out; last with every third block."""
    lanes, elements, indices = BLOCKS[name]
    data = rng.integers(0, 256, (COUNT, elements))
    return beats(data, lanes), beats(data[:, indices], lanes)


def beats(data, lanes):
    found = []
    for number, each in enumerate(data):
        words = [sum(int(byte) << 8 * lane for lane, byte in enumerate(row)) for row in each.reshape(-1, lanes)]
        words[-1] |= (number % 3 == 2) << 8 * lanes
        found += words
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pace", bench.PACES, ids=str)
@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name, pace):
    given, wanted = traffic(name, np.random.default_rng(len(name)))
    phase = {"given": {"i": given}, "wanted": {"o": len(wanted)}, "comes": pace[0], "goes": pace[1]}
    assert bench.Bench(block(name), seed=1).simulate(phase)["o"] == wanted


@pytest.mark.parametrize("cells", ["portable", "ice40"])
@pytest.mark.parametrize("name", BLOCKS)
def test_a_beat_a_cycle(name, cells):
    made = block(name, cells)
    given, wanted = traffic(name, np.random.default_rng(3))
    run = bench.Bench(made)
    assert run.simulate({"given": {"i": given}, "wanted": {"o": len(wanted)}})["o"] == wanted
    taken, left = made.beats
    assert run.times["o"][0] <= taken - 1 + made.latency
    between = max(taken, left) + (HANDOVER if made.slots == 2 else 0)
    assert run.times["o"][-1] <= (COUNT - 1) * between + taken + left + made.latency


def test_reset_begins_a_block():
    name = "shuffled channels"
    given, wanted = traffic(name, np.random.default_rng(4))
    for cycles in range(1, 40, 6):
        cut = {"given": {"i": given[:1] * 60}, "wanted": {"o": 500}, "cycles": cycles, "goes": 0.6}
        again = {"given": {"i": given}, "wanted": {"o": len(wanted)}, "goes": 0.8}
        assert bench.Bench(block(name), seed=cycles).simulate(cut, again)["o"] == wanted


def test_smallest_blocks():
    channels = np.arange(60).reshape(10, 6)  # pixels, channels
    assert smallest_block(channels[:, [0, 3, 1, 4, 2, 5]].reshape(-1), 60, 1)[0] == 6
    assert smallest_block(channels[:, 2:4].reshape(-1), 60, 2)[0] == 6
    assert smallest_block(channels.reshape(-1), 60, 1)[0] == 1
    assert smallest_block(channels.reshape(-1), 60, 3)[0] == 3
    assert smallest_block(channels[::-1].reshape(-1), 60, 2)[0] == 60
    assert smallest_block(channels[:3].reshape(-1), 60, 1)[0] == 60
    assert smallest_block(channels.reshape(5, 2, 6)[:, ::-1].reshape(-1), 60, 6)[0] == 12
    with pytest.raises(ValueError, match="lanes must divide"):
        smallest_block(channels[:3].reshape(-1), 60, 4)
