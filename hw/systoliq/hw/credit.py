"""A credit counter: how many of something there are, and from a register whether there are any."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value, signed

__all__ = ["Credit"]


class Credit:
    """Counts up to ``most``; ``any`` says that there is one. ``give`` adds one a cycle, ``take`` (only where there is
    one) removes one; ``give`` shows in ``any`` a cycle later.

    One less than the count is kept, so that its sign is ``any``: no comparison stands between register and use.
    """

    def __init__(self, m: Module, most: int, *, name: str, full: bool, give: Value, take: Value) -> None:
        less_one = Signal(signed(most.bit_length() + 1), name=f"{name}_less_one", init=most - 1 if full else -1)
        self.any = Signal(name=f"{name}_any")
        m.d.comb += self.any.eq(~less_one[-1])
        m.d.sync += less_one.eq(less_one + Cat(give ^ take, take & ~give).as_signed())  # 1, 0 or -1
