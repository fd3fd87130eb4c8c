"""Delay: the value of so many cycles ago; reset takes what is on its way where it is asked to."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.delay import delay

from .bench import trace

CYCLES = 40


class Delayed(wiring.Component):
    def __init__(self, cycles, reset_less):
        self.cycles, self.reset_less = cycles, reset_less
        super().__init__({"i": In(signed(9)), "o": Out(signed(9))})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(delay(m, self.i, self.cycles, name="delayed", reset_less=self.reset_less))
        return m


@pytest.mark.parametrize("cycles", [0, 1, 2, 7])
@pytest.mark.parametrize("reset_less", [True, False])
def test_value_comes_cycles_later_and_reset_forgets_tokens_only(cycles, reset_less):
    rng = random.Random(cycles)
    values = [rng.choice([-256, 255, *range(1, 9)]) for _ in range(CYCLES)]  # none of them 0
    reset = CYCLES // 2
    shown = trace(
        Delayed(cycles, reset_less), [{"i": value, "rst": cycle == reset} for cycle, value in enumerate(values)]
    )
    expected = [0] * cycles + values[: CYCLES - cycles]
    if not reset_less:
        expected[reset + 1 : reset + 1 + cycles] = [0] * cycles
    assert [line["o"] for line in shown] == expected


def test_what_is_yet_to_come_is_refused():
    with pytest.raises(ValueError, match="cycles of the delay 'early' must be at least 0, not -1"):
        delay(Module(), Signal(), -1, name="early")
