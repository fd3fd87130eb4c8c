"""Report of a bitstream, as one object."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

__all__ = ["REPORT_FILE", "BitstreamReport"]

REPORT_FILE = "report.json"
"""Name of the file with the report, which is the sidecar of a bitstream."""


@dataclass(frozen=True, kw_only=True)
class BitstreamReport:
    """Figures of one design on one board.

    ``resources`` has, for each kind of site in use, by nextpnr's name, how many are used and how many there are.
    ``first_mhz`` is the frequency that place and route reached for a request of ``asked_mhz``. ``clock_mhz`` is the
    PLL's output (or the oscillator if ``pll`` is None), not above ``first_mhz``. ``reached_mhz`` is the frequency
    reached for that clock. Paths to and from cells of the kinds in ``untimed`` are not timed.
    """

    name: str
    board: str
    part: str
    file: str
    fingerprint: str
    oscillator_mhz: float
    asked_mhz: float
    first_mhz: float
    clock_mhz: float
    reached_mhz: float
    pll: tuple[int, ...] | None
    baud: int
    divisor: int
    seed: int
    resources: dict[str, tuple[int, int]]
    untimed: tuple[str, ...]
    seconds: dict[str, float]
    tools: tuple[str, ...]

    @property
    def slack_ns(self) -> float:
        """Time that the slowest path leaves of a cycle of the clock."""
        return 1000 / self.clock_mhz - 1000 / self.reached_mhz

    @property
    def baud_error(self) -> float:
        """Share by which the line is faster than its name."""
        return self.clock_mhz * 1e6 / self.divisor / self.baud - 1

    def as_json(self) -> dict[str, Any]:
        """All figures, also those that follow from others."""
        return dataclasses.asdict(self) | {"slack_ns": round(self.slack_ns, 3), "baud_error": round(self.baud_error, 5)}

    def rows(self) -> list[tuple[str, str]]:
        """The report as lines of a label and a text."""
        clock = f"{self.clock_mhz:.3f} MHz"
        clock += f" from the PLL's dividers {', '.join(map(str, self.pll))}" if self.pll else ", the oscillator's own"
        used = [f"{kind} {used} of {room}" for kind, (used, room) in self.resources.items()]
        return [
            ("board", f"{self.board}: {self.part}"),
            ("bitstream", self.file),
            ("design", f"{self.name}, fingerprint {self.fingerprint}"),
            ("place and route", f"{self.first_mhz:.1f} MHz where {self.asked_mhz:g} were asked for"),
            ("clock", clock),
            ("slack", f"{self.slack_ns:.2f} ns: {self.reached_mhz:.1f} MHz reached for that clock, seed {self.seed}"),
            *((f"not timed: {kind}", "no path to or from it is in these MHz") for kind in self.untimed),
            ("line", f"{self.baud} baud, {self.divisor} cycles a bit, {self.baud_error:+.2%}"),
            ("resources", "; ".join(used)),
            ("seconds", ", ".join(f"{stage} {time:.1f}" for stage, time in self.seconds.items())),
        ]
