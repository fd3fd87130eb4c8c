"""The loops of tiling: a countdown over a length in steps, without a divider, and a pace."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

__all__ = ["Countdown", "Pace"]


class Countdown:
    """Walks from ``length`` down in steps of ``step``: ceil(length / step) rounds, over and over.

    ``load`` begins with the first round; ``length`` must be steady from the cycle before it on. ``left`` is the
    remaining length at the beginning of the round, ``initial`` and ``final`` mark the first and last round, and the
    round covers ``taken`` = min(left, step); bit i of ``inside`` is 1 if ``taken`` > i. Call `advance` at the end of a
    round. All but ``taken`` and ``inside`` are registers: every decision of an engine depends on them.

    If rounds take at least two cycles, ``slow`` lets ``left``, and with it ``taken`` and ``inside``, change in the
    second cycle of the round. ``late`` does so for any rounds, where no one looks at these: only ``initial`` and
    ``final`` wait for what ends a round.
    """

    def __init__(
        self,
        m: Module,
        length: Value,
        step: int,
        *,
        name: str,
        load: Value,
        slow: bool = False,
        late: bool = False,
    ) -> None:
        self._m = m
        self._slow = slow or late
        self._late = late
        self._ended = Signal(name=f"{name}_ended")  # the round of the cycle before
        self._length = length
        self._step = step
        self._short = Signal(name=f"{name}_short", reset_less=True)  # the first round is the last
        self._low = min(((4 if late else 3) * step).bit_length(), len(length))
        self._low_length = Signal(name=f"{name}_low_length", reset_less=True)
        self._low_left = Signal(name=f"{name}_low_left", reset_less=True)
        self.left = Signal(length.shape(), name=f"{name}_left", reset_less=True)
        self.initial = Signal(name=f"{name}_initial")
        self.final = Signal(name=f"{name}_final")
        self.taken = Signal(range(step + 1), name=f"{name}_taken")
        m.d.sync += [
            self._short.eq(length <= step),
            self._low_length.eq(self._is_low(length)),
            self._low_left.eq(self._is_low(self.left)),
        ]
        self._two_left: Value = self._low_left & (self.left[: self._low] <= 2 * self._step)
        if self._slow:
            starts_over = Signal(name=f"{name}_starts_over", reset_less=True)
            m.d.sync += [self._ended.eq(0), starts_over.eq(self.final)]
            with m.If(self._ended):
                self._next_left(starts_over)
        if late:
            double = Signal(name=f"{name}_double", reset_less=True)  # two rounds, at the most
            m.d.sync += double.eq(length <= 2 * step)
            behind = Mux(starts_over, double, self._low_left & (self.left[: self._low] <= 3 * step))
            self._two_left = Mux(self._ended, behind, self._two_left)
        m.d.comb += self.taken.eq(Mux(self.final, self.left, step))
        last = self.left[: step.bit_length()]
        self.inside = Cat(~self.final | (last > Const(i, len(last))) if i else Const(1, 1) for i in range(step))
        with m.If(load):
            m.d.sync += [
                self.left.eq(length),
                self.initial.eq(1),
                self.final.eq(self._short),
                self._low_left.eq(self._low_length),
            ]

    def advance(self) -> None:
        """End the round: statement for the current clocked context, which must not hold in a cycle of ``load``."""
        # Where two rounds are left, at most three were a cycle ago, or four in ``left`` if it is late: a register knows
        # that the upper bits are 0.
        self._m.d.sync += [
            self.initial.eq(self.final),
            self.final.eq(Mux(self.final, self._short, self._two_left)),
        ]
        if self._slow:
            self._m.d.sync += self._ended.eq(1)
        else:
            self._next_left(self.final)

    def _next_left(self, starts_over: Value) -> None:
        self._m.d.sync += [
            self.left.eq(Mux(starts_over, self._length, self.left - self._step)),
            self._low_left.eq(Mux(starts_over, self._low_length, self._is_low(self.left))),
        ]

    def _is_low(self, length: Value) -> Value:
        return ~length[self._low :].any()


class Pace:
    """``over`` is a register that is 0 in the ``cycles - 1`` cycles that follow one of ``begin``: what may come every
    ``cycles`` cycles waits for it. ``next`` is the value of ``over`` a cycle later.
    """

    def __init__(self, m: Module, cycles: int, *, name: str, begin: Value) -> None:
        self.over = Signal(name=f"{name}_over", init=1)
        self.next = Signal(name=f"{name}_next", init=1)
        left = Signal(range(max(cycles, 2)), name=f"{name}_left", reset_less=True)
        if cycles > 1:
            m.d.comb += self.next.eq(~begin & (self.over | (left == 1)))
            m.d.sync += self.over.eq(self.next)
            with m.If(begin):
                m.d.sync += left.eq(cycles - 1)
            with m.Elif(~self.over):
                m.d.sync += left.eq(left - 1)
