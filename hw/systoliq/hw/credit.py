"""A credit counter: a count, and a register that is 1 while the count is not 0."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed

__all__ = ["Credit"]


class Credit:
    """Counts up to ``most``; the register ``any`` is 1 while the count is not 0, and ``next`` is the value of ``any`` a
    cycle later. ``give`` adds one per cycle; ``take`` (only while ``any``) removes one.

    A ``take`` may be known late in a cycle, and then decides about ``any`` alone: the count follows a cycle later, less
    two, so that its sign shows whether a ``take`` leaves 0. ``kept`` and ``left`` are ``next`` without and with a
    ``take``, and do not depend on it: who decides by a late ``take`` chooses last.
    """

    def __init__(self, m: Module, most: int, *, name: str, full: bool, give: Value, take: Value) -> None:
        count = most if full else 0
        earlier = Signal(signed(most.bit_length() + 1), name=f"{name}_earlier", init=count - 2)  # a cycle ago
        change = Signal(signed(2), name=f"{name}_change")  # since then: 1, 0 or -1
        less_two = Signal.like(earlier, name=f"{name}_less_two")
        self.any = Signal(name=f"{name}_any", init=count > 0)
        self.next = Signal(name=f"{name}_next")
        m.d.comb += [
            less_two.eq(earlier + change),
            self.next.eq(give | Mux(take, ~less_two[-1], self.any)),
        ]
        self.kept = give | self.any
        self.left = give | ~less_two[-1]
        m.d.sync += [
            self.any.eq(self.next),
            earlier.eq(less_two),
            change.eq(Cat(give ^ take, take & ~give).as_signed()),
        ]
