"""A credit counter: how many of something there are, and from a register whether there are any."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed

__all__ = ["Credit"]


class Credit:
    """Counts up to ``most``; ``any``, a register, says that there is one, and ``next`` that ``any`` will be 1 a cycle
    later. ``give`` adds one a cycle, ``take`` (only where there is one) removes one.

    Two less than the count is kept, so that its sign shows what a ``take`` leaves: no sum stands before ``any``.
    """

    def __init__(self, m: Module, most: int, *, name: str, full: bool, give: Value, take: Value) -> None:
        count = most if full else 0
        less_two = Signal(signed(most.bit_length() + 1), name=f"{name}_less_two", init=count - 2)
        self.any = Signal(name=f"{name}_any", init=count > 0)
        self.next = Signal(name=f"{name}_next")
        m.d.comb += self.next.eq(give | Mux(take, ~less_two[-1], self.any))
        m.d.sync += [
            self.any.eq(self.next),
            less_two.eq(less_two + Cat(give ^ take, take & ~give).as_signed()),  # 1, 0 or -1
        ]
