"""The rounding shift of the requantizer: the part that is exchanged between its exact and its plain forms.

Only the integer part is shifted. What lies below it and above it stays: masks that follow the shift say which of its
bits matter.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.requantization import Rounding

from .delay import delay
from .float32 import FLOAT32_BITS, places_lost

__all__ = ["RoundingShift"]

_MOVES = 3  # powers of two that the integer part moves by in a cycle; one fewer where one cycle is not enough
_GROUP = 8  # masked bits that are tested in a cycle; half of them if the value is wide, and the rest in a second cycle


class RoundingShift(wiring.Component):
    """``value / 2**(least + extra)``: its integer part ``floor``, and whether it rounds ``up`` to the next integer.

    ``extra``, up to ``most - least``, is sampled a cycle before its ``value``; the outputs come ``latency`` cycles
    after that, which is 1 where it is not ``pipelined``. ``floor`` is the low end of the integer part. Where ``beyond``
    is set that is not all of it, and ``negative`` is its sign.

    * ``NEAREST``: half to even on the exact value.
    * ``NEAR_TIE``: as float32 multiplication followed by half-to-even rounds. A value whose distance from a tie is at
      most half the last place of its float32 is that tie, because the float32 product is; see docs/exactness.md.
    * ``FLOOR``: never up.
    """

    def __init__(
        self, rounding: Rounding, value_bits: int, *, least: int, most: int, floor_bits: int, pipelined: bool = True
    ) -> None:
        self.rounding = rounding
        self._each = each = int(pipelined)
        self.least = least
        self.span = most - least
        self.kind = f"round_{rounding.value.replace('-', '_')}"
        self._rounds = rounding is not Rounding.FLOOR
        self._within_bits = min(value_bits, floor_bits + most)  # of values that are not beyond
        self._inexact = rounding is Rounding.NEAR_TIE and self._within_bits > FLOAT32_BITS + 1  # for float32
        moving_bits = self.span.bit_length()
        self._wide = each * (moving_bits > _MOVES)
        self._moves = _MOVES - self._wide
        self._moving = -(-moving_bits // self._moves) * each
        self._searching = 2 * self._inexact * each  # for the places that float32 has not
        super().__init__(
            {
                "value": In(signed(value_bits)),
                "extra": In(unsigned(max(self.span.bit_length(), 1))),
                "floor": Out(signed(floor_bits)),
                "up": Out(1),
                "beyond": Out(1),
                "negative": Out(1),
            }
        )

    @property
    def latency(self) -> int:
        """Cycles: integer part and, in parallel, [places beyond float32's precision,] bits below it; [decision]."""
        looking = self._rounds * (1 + self._wide)
        return max(self._moving, self._searching + looking) + self._rounds if self._each else 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        searching, decided = self._searching, self._rounds * self._each
        waits = self.latency - decided - self._moving  # so long has the integer part time
        begins = min(waits, searching)
        # Two places below the value's: where nothing moves there is a half, and something below it that is not set.
        values = [Cat(Const(0, 2), self.value).as_signed()]
        for age in range(searching):
            values.append(delay(m, values[age], 1, name=f"value_{age}").as_signed())
        extras: list[Value] = [self.extra]
        for age in range(max(searching, begins + 1)):
            extras.append(delay(m, extras[age], 1, name=f"extra_{age}"))
        half_place = self.least + 1
        whole = self._move(m, values[begins] >> half_place, extras[begins + 1])
        whole = delay(m, whole, waits - begins, name="whole")
        half, odd, floor = whole[0], whole[1], whole[1:]

        value = values[searching]
        passed = ~(Const((1 << self.span) - 1, self.span) << extras[searching])[: self.span]
        passed = delay(m, passed, 1, name="passed")

        def below(place: int) -> Value:
            """Bit k: whether place k is below ``place`` once that has moved by ``extra``."""
            return Cat(Const((1 << place) - 1, place), passed, Const(0, len(value)))[: len(value)]

        unlike = value[:-1] ^ value[1:]  # seen from above, the leading bit is the first that is unlike its neighbour
        beyond = unlike & ~below(half_place + len(self.floor))
        since = self.latency - searching
        m.d.comb += [
            self.floor.eq(delay(m, floor, decided, name="floor")),
            self.beyond.eq(self._any_of(m, beyond, since, "beyond")),
            self.negative.eq(delay(m, value[-1], since, name="negative")),
        ]
        if not self._rounds:
            return m

        # One half is 0.1000...; 0.0111... is just below it
        fraction = below(half_place)  # the places below the half
        if self._inexact:
            # Near a tie, the leading bit is the half or above it, and the rounding of bits beyond does not matter.
            always = Const((1 << max(half_place - FLOAT32_BITS + 1, 0)) - 1, len(value))
            lost = always | places_lost(m, values[0][: self._within_bits + 2], registered=self._each > 0)
            lost = delay(m, lost, self._each, name="lost")
            below_last = lost >> 1  # below half of the last place of the float32
            near = fraction & ~below_last
            some_set = self._any_of(m, value & near, since - decided, "some_set")
            some_clear = self._any_of(m, ~value & near, since - decided, "some_clear")
            # Exactly half a last place away is near too: from below by that pattern, from above if no other bit is set.
            others_set = self._any_of(m, value & fraction & ~(lost & ~below_last), since - decided, "others_set")
            tie = Mux(half, ~some_set | ~others_set, ~some_clear)
        else:
            tie = half & ~self._any_of(m, value & fraction, since - decided, "some_set")
        m.d.comb += self.up.eq(delay(m, Mux(tie, odd, half), decided, name="up_register"))
        return m

    def _any_of(self, m: Module, bits: Value, cycles: int, name: str) -> Value:
        """True if any of ``bits`` is set, ``cycles`` later: groups of bits are tested before the first register."""
        group = _GROUP >> self._wide
        groups = Cat(bits[i : i + group].any() for i in range(0, len(bits), group))
        found = delay(m, groups, min(cycles, 1), name=f"{name}_in").any()
        return delay(m, found, max(cycles - 1, 0), name=name)

    def _move(self, m: Module, value: Value, extra: Value) -> Value:
        """The low end of ``value / 2**extra``, as wide as ``floor`` and the half below it."""
        bits = self.span.bit_length()
        whole = Signal(signed(len(self.floor) + (1 << bits)), name="whole_0")
        m.d.comb += whole.eq(value)
        for i in reversed(range(bits)):
            moved = Signal(signed(len(self.floor) + (1 << i)), name=f"moved_{1 << i}")
            m.d.comb += moved.eq(Mux(extra[i], whole >> (1 << i), whole))
            whole = moved
            if i % self._moves == 0 and self._each:
                whole = delay(m, moved, 1, name=f"whole_{1 << i}").as_signed()
                extra = delay(m, extra, 1, name=f"extra_{1 << i}")
        return whole
