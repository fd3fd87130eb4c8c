"""Countdown over a length in steps: the loops of tiling, without a divider."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value

__all__ = ["Countdown"]


class Countdown:
    """Walks from ``length`` down in steps of ``step``: ceil(length / step) rounds, over and over.

    ``left`` is what is left at the beginning of the round (at most ``length``), ``initial`` and ``final`` mark the
    first and last round, and ``taken`` = min(left, step) is what the round covers. Call `advance` where the round
    ends. The state is the part
    *done*, 0 at reset, so that ``length`` may change between walks.
    """

    def __init__(self, m: Module, length: Value, step: int, *, name: str) -> None:
        self._m = m
        self._step = step
        self._done = Signal(length.shape(), name=f"{name}_done")
        self.left = Signal(length.shape(), name=f"{name}_left")
        self.initial = Signal(name=f"{name}_initial")
        self.final = Signal(name=f"{name}_final")
        self.taken = Signal(range(step + 1), name=f"{name}_taken")
        m.d.comb += [
            self.left.eq(length - self._done),
            self.initial.eq(self._done == 0),
            self.final.eq(self.left <= step),
            self.taken.eq(Mux(self.final, self.left, step)),
        ]

    def advance(self) -> None:
        """End the round: statement for the current clocked context."""
        self._m.d.sync += self._done.eq(Mux(self.final, 0, self._done + self._step))
