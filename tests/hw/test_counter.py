"""Counter: goes round at every modulus."""

from __future__ import annotations

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from systoliq.hw.counter import successor

from .bench import trace


class Counter(wiring.Component):
    def __init__(self, modulus):
        self.modulus = modulus
        super().__init__({"count": Out(16)})

    def elaborate(self, platform):
        m = Module()
        count = Signal(range(self.modulus))
        m.d.sync += count.eq(successor(count, self.modulus))
        m.d.comb += self.count.eq(count)
        return m


@pytest.mark.parametrize("modulus", [1, 2, 3, 7, 8, 9, 31])
def test_counts_round_and_round(modulus):
    shown = [line["count"] for line in trace(Counter(modulus), [{}] * 70)]
    assert shown == [cycle % modulus for cycle in range(70)]
