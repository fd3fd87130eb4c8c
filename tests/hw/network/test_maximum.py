"""Maximum: the greatest of so many beats, by Python's own, for signed and unsigned elements, whatever stalls."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import signed, unsigned

from systoliq.hw.network.maximum import Maximum

from ..bench import wrapped
from . import stage_bench as bench

LANES = 2


def traffic(shape, beats, seed, groups=12):
    """Words in and out: random elements, often alike or at an end; last with every third group."""
    rng = random.Random(seed)
    low = -(1 << shape.width - 1) if shape.signed else 0
    high = low + (1 << shape.width) - 1
    given, wanted = [], []
    for group in range(groups):
        rows = [[rng.choice([low, high, rng.randint(low, high)]) for _ in range(LANES)] for _ in range(beats)]
        end = group % 3 == 2
        given += [word(row, shape.width, end and i == beats - 1) for i, row in enumerate(rows)]
        wanted.append(word([max(column) for column in zip(*rows, strict=True)], shape.width, end))
    return given, wanted


def word(row, bits, last):
    return sum((value & (1 << bits) - 1) << bits * i for i, value in enumerate(row)) | last << bits * len(row)


@pytest.mark.parametrize("pace", bench.PACES, ids=str)
@pytest.mark.parametrize("beats", [1, 2, 9])
@pytest.mark.parametrize("shape", [signed(8), unsigned(8), signed(3)], ids=str)
def test_greatest(shape, beats, pace):
    given, wanted = traffic(shape, beats, 1)
    block = Maximum(shape, lanes=LANES, beats=beats)
    phase = {"given": {"i": given}, "wanted": {"o": len(wanted)}, "comes": pace[0], "goes": pace[1]}
    assert bench.Bench(block, seed=beats).simulate(phase)["o"] == wanted


def test_a_beat_a_cycle():
    given, wanted = traffic(signed(8), 3, 2)
    run = bench.Bench(Maximum(signed(8), lanes=LANES, beats=3))
    run.simulate({"given": {"i": given}, "wanted": {"o": len(wanted)}})
    first = run.times["o"][0]
    assert run.times["o"] == list(range(first, first + 3 * len(wanted), 3))


def test_reset_begins_a_group():
    given, wanted = traffic(signed(8), 4, 3)
    for cycles in range(1, 12, 2):
        cut = {"given": {"i": [127] * 40}, "wanted": {"o": 10}, "cycles": cycles, "goes": 0.3}
        again = {"given": {"i": given}, "wanted": {"o": len(wanted)}, "goes": 0.8}
        assert bench.Bench(Maximum(signed(8), lanes=LANES, beats=4), seed=cycles).simulate(cut, again)["o"] == wanted


def test_words_of_the_test():
    assert wrapped(word([-1], 8, last=False), 8) == -1
