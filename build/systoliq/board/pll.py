"""PLL settings: the clocks that a family's PLL makes of an oscillator, and the fastest not above a frequency."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from amaranth.hdl import Instance, IOPort, Signal

__all__ = ["Pll", "Setting"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A setting of a PLL: the clock that comes out, in Hz, and the dividers that make it."""

    hz: float
    dividers: tuple[int, ...] = ()

    @property
    def mhz(self) -> float:
        """The clock in MHz."""
        return self.hz / 1e6


@dataclass(frozen=True, kw_only=True)
class Pll:
    """A family's PLL.

    ``settings`` gives all for an oscillator in Hz. ``instance`` makes the cell from the oscillator's pin or signal, a
    setting, the output clock and the lock signal. ``pad``: the oscillator's pin itself is its input.
    """

    settings: Callable[[float], Iterable[Setting]]
    instance: Callable[[IOPort | Signal, float, Setting, Signal, Signal], Instance]
    pad: bool = False

    def at_most(self, oscillator: float, hz: float) -> Setting | None:
        """The fastest setting not above `hz`, of equal ones that with the smallest dividers; None where all are."""
        found = [each for each in self.settings(oscillator) if each.hz <= hz]
        return max(found, key=lambda each: (each.hz, [-divider for divider in each.dividers]), default=None)
