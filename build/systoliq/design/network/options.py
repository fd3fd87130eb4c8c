"""Options of a network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from systoliq.golden.requantization import Rounding

from ...errors import InputError
from ..choose import AUTO
from ..options import BUDGET, ONLY_NETWORK, Options

if TYPE_CHECKING:
    from ...synth.targets import Target

__all__ = ["NetworkOptions"]

_CLOCK_MHZ = 100.0  # that networks as large as the largest ECP5 reach (docs/networks.md)

_REFUSALS = dict.fromkeys(
    (
        "rows", "cols", "depth", "a_bits", "b_bits", "a_signed", "b_signed", "a_format", "b_format",
        "accumulator_bits", "multiplier_bits", "wrap",
    ),
    "cannot be used with a network: each stage has its own, by the plan",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False)
class NetworkOptions(Options):
    """Options of the hardware of a network; None selects the default.

    Parameters
    ----------
    requantizer
        rounding of all layers, see `choose_requantization`.
    cells
        cells that multiply and accumulate, one of `systoliq.hw.cells.CELLS`. "auto" selects for each stage the part's
        cells, two products per cell, or lookup tables.
    throughput
        required images per second at `clock_mhz`; `math.inf` for the most that fits the `part`.
    latency
        most microseconds from the first beat of an image to its last result, at `clock_mhz`: the smallest plan that was
        found for it; 0 for the fewest at the expected clock that were found within the `part`.
    multipliers, luts
        budget of multiplier cells, and of LUT sites for further products on ECP5 and iCE40.
    plan
        file with the plan of each stage.
    part
        part to build for, as a `Target` or by name, such as "ecp5-25k". Figures assume its clock, and the plan must fit
        it. Without other options of the plan, the network is the smallest that is fast enough.
    line_baud
        bits per second of a board's serial line, with a `part`; the network is built no faster than the line needs.
    """

    refusals: ClassVar[Mapping[str, str]] = _REFUSALS
    requantizer: str = Rounding.NEAR_TIE.value
    cells: str = "portable"
    throughput: float | None = None
    latency: float | None = None
    multipliers: int | None = None
    luts: int | None = None
    plan: Path | None = None
    part: Target | None = None
    line_baud: int | None = None

    def check_plan(self) -> None:
        """Raise InputError for two options that decide the plan, and for a budget of no multipliers."""
        if self.cells == AUTO and self.plan is not None:
            raise InputError("cells must be named where a plan is given, which has them, not auto")
        given = [name for name in ONLY_NETWORK if getattr(self, name) is not None]
        if len(given) > 1 and not set(given) <= set(BUDGET):
            raise InputError(
                f"only one of throughput, latency, multipliers and plan must be given, not {' and '.join(given)}"
            )
        if self.throughput == math.inf and self.part is None:
            raise InputError("a target must be given for the throughput max: the most that the target can compute")
        if self.latency == 0 and self.part is None:
            raise InputError("a target must be given for the latency min: the least that the target can reach")
        if self.multipliers == 0:
            raise InputError("multipliers must be positive, not 0")

    @property
    def clock_mhz(self) -> float:
        """The clock that figures of a network speak of before it is placed."""
        return min((self.part.mhz if self.part else 0) or _CLOCK_MHZ, _CLOCK_MHZ)
