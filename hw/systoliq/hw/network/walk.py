"""A walk: nested loops whose place moves by one addition a step."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Const, Module, Signal, Value

from ..counter import Count, count

__all__ = ["Walk", "numbered"]


class Walk:
    """Nested loops of ``counts`` rounds, the innermost first, repeated forever; each ``step`` advances it.

    ``last[i]``, a register, says that loop i and all loops within it are in their last rounds; ``counts[i]`` is the
    `Count` of loop i.
    """

    def __init__(self, m: Module, counts: Sequence[int], *, step: Value, name: str) -> None:
        self._m = m
        self._rounds = tuple(counts)
        self._step = step
        self.counts: list[Count] = []
        self.last: list[Value] = []
        inner: Value = Const(1, 1)
        for level, rounds in enumerate(counts):
            self.counts.append(count(m, rounds, when=step & inner, name=f"{name}_{level}"))
            inner = self._last(level, name=f"{name}_{level}_ends")
            self.last.append(inner)

    def _last(self, level: int, *, name: str) -> Value:
        """``last[level]``: it is made ready a step before."""
        moving = [index for index in range(level + 1) if self._rounds[index] > 1]
        if not moving:
            return Const(1, 1)
        first, *others = moving
        if not others:
            return self.counts[first].last
        if level not in others:
            return self.last[level - 1]
        ends = Signal(name=name)
        comes = self.counts[first].value == self._rounds[first] - 2  # the last step but one
        for index in others:
            comes = comes & self.counts[index].last
        with self._m.If(self._step):
            self._m.d.sync += ends.eq(comes)
        return ends

    def place(self, moves: Sequence[int | Sequence[int]], start: int, bits: int, *, name: str) -> Signal:
        """A register of ``bits`` bits that is ``start`` plus each loop's round times its move, modulo 2^bits.

        A loop with several moves makes one after the other, one fewer than it has rounds. There may be one more of
        ``moves`` than loops, for an endless loop around them.
        """
        at = Signal(bits, name=name, init=start % (1 << bits))
        move = Signal(bits, name=f"{name}_move")
        back = 0  # start of a loop that ends
        conditions: list[Value] = [~self.last[0], *(~last for last in self.last[1:])]
        deltas: list[int | Signal] = []
        for level, (rounds, each) in enumerate(
            zip([*self._rounds, 1], [*moves, 0][: len(self._rounds) + 1], strict=True)
        ):
            if isinstance(each, int):
                deltas.append((each - back) % (1 << bits))
                back += (rounds - 1) * each
            else:
                numbers = [(number - back) % (1 << bits) for number in each]
                deltas.append(numbered(self._m, self.counts[level].value, numbers, bits=bits, name=f"{name}_{level}"))
                back += sum(each)
        with self._m.If(conditions[0]):
            self._m.d.comb += move.eq(deltas[0])
        for condition, delta in zip(conditions[1:], deltas[1:-1], strict=True):
            with self._m.Elif(condition):
                self._m.d.comb += move.eq(delta)
        with self._m.Else():
            self._m.d.comb += move.eq(deltas[-1])
        with self._m.If(self._step):
            self._m.d.sync += at.eq(at + move)
        return at


def numbered(m: Module, index: Value, numbers: Sequence[int], *, name: str, bits: int | None = None) -> Signal:
    """Return ``numbers[index]``, none negative; most numbers are equal."""
    usual = max(set(numbers), key=numbers.count) if numbers else 0
    number = Signal(range(max(numbers, default=0) + 1) if bits is None else bits, name=name)
    m.d.comb += number.eq(usual)
    with m.Switch(index):
        for place, each in enumerate(numbers):
            if each != usual:
                with m.Case(place):
                    m.d.comb += number.eq(each)
    return number
