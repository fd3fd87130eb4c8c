"""Steady: a pipeline without a stall behind streams, whatever stalls them; a result a cycle at full rate."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.delay import delay
from systoliq.hw.fifo import Fifo
from systoliq.hw.network.credit_pipeline import credit_pipeline

from . import stage_bench as bench

COUNT = 80


class Sum(wiring.Component):
    """The sums of two streams, `latency` cycles later."""

    def __init__(self, latency, depth):
        self.latency = latency
        self.fifo = Fifo(unsigned(7), depth=depth, cells="portable")
        given = In(stream.Signature(unsigned(6)))
        super().__init__({"i_0": given, "i_1": given, "o": Out(stream.Signature(unsigned(7)))})

    def elaborate(self, platform):
        m = Module()
        result = delay(m, self.i_0.payload + self.i_1.payload, self.latency, name="sum")
        sources = [wiring.flipped(self.i_0), wiring.flipped(self.i_1)]
        credit_pipeline(m, platform, sources, self.fifo, result, latency=self.latency)
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m


def words(seed):
    return [random.Random(seed + i).getrandbits(6) for i in range(COUNT)]


def phase(seed, **more):
    a, b = words(seed), words(seed + 1000)
    return {"given": {"i_0": a, "i_1": b}, "wanted": {"o": COUNT}, **more}, [x + y for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("pace", bench.PACES, ids=str)
@pytest.mark.parametrize(("latency", "depth"), [(1, 8), (4, 8), (12, 16)])
def test_sums(latency, depth, pace):
    given, expected = phase(1, comes=pace[0], goes=pace[1])
    assert bench.Bench(Sum(latency, depth), seed=latency).simulate(given)["o"] == expected


@pytest.mark.parametrize(("latency", "depth"), [(1, 8), (4, 8), (12, 16)])
def test_a_result_a_cycle(latency, depth):
    given, expected = phase(2)
    run = bench.Bench(Sum(latency, depth))
    assert run.simulate(given)["o"] == expected
    first = run.times["o"][0]
    assert run.times["o"] == list(range(first, first + COUNT))


def test_reset_forgets_what_is_under_way():
    for cycles in range(3, 20, 3):
        cut, _ = phase(3, cycles=cycles, goes=0.2)
        again, expected = phase(4, goes=0.8)
        assert bench.Bench(Sum(4, 8), seed=cycles).simulate(cut, again)["o"] == expected


def test_shallow_fifo_is_refused():
    block = Sum(5, 8)
    with pytest.raises(ValueError, match="the FIFO must be at least 9 deep, not 8"):
        block.elaborate(None)
