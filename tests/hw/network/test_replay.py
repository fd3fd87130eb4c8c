"""Replay: blocks several times, by Python's lists, whatever stalls; a beat a cycle, once a block is whole."""

from __future__ import annotations

import pytest
from amaranth.hdl import signed

from systoliq.hw.network.replay import Replay

from . import stage_bench as bench

SIZES = [(1, 2), (1, 5), (3, 2), (2, 2), (7, 3), (16, 2), (20, 2)]
BLOCKS = 6


def block(beats, times, cells="portable"):
    return Replay(signed(8), lanes=2, beats=beats, times=times, cells=cells)


def traffic(beats, times, blocks=BLOCKS):
    """Beats in and out; last with every third block."""
    given, wanted = [], []
    for number in range(blocks):
        part = [(number * beats + i) * 0x101 & 0xFFFF for i in range(beats)]
        last = (number % 3 == 2) << 16
        given += [*part[:-1], part[-1] | last]
        wanted += [*(part * times)[:-1], part[-1] | last]
    return given, wanted


@pytest.mark.parametrize("pace", bench.PACES, ids=str)
@pytest.mark.parametrize(("beats", "times"), SIZES)
def test_blocks(beats, times, pace):
    given, wanted = traffic(beats, times)
    phase = {"given": {"i": given}, "wanted": {"o": len(wanted)}, "comes": pace[0], "goes": pace[1]}
    assert bench.Bench(block(beats, times), seed=beats).simulate(phase)["o"] == wanted


@pytest.mark.parametrize("cells", ["portable", "ice40"])
@pytest.mark.parametrize(("beats", "times"), SIZES)
def test_a_beat_a_cycle(beats, times, cells):
    given, wanted = traffic(beats, times)
    run = bench.Bench(block(beats, times, cells))
    run.simulate({"given": {"i": given}, "wanted": {"o": len(wanted)}})
    first = run.times["o"][0]
    assert first <= beats + 3  # once it is whole
    assert run.times["o"] == list(range(first, first + len(wanted)))


def test_reset_begins_a_block():
    given, wanted = traffic(5, 3)
    for cycles in range(1, 40, 6):
        cut = {"given": {"i": [0x7F] * 60}, "wanted": {"o": 500}, "cycles": cycles, "goes": 0.6}
        again = {"given": {"i": given}, "wanted": {"o": len(wanted)}, "goes": 0.8}
        assert bench.Bench(block(5, 3), seed=cycles).simulate(cut, again)["o"] == wanted
