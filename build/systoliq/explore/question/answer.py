"""Answer to a question: its candidates with their verdicts, the chosen one, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network

from ...design import Design
from ...design.network.frequency import Frequency
from ...errors import InputError, need
from .check import Checked
from .designs import design_of_json
from .options import Sized
from .placing import Measured

__all__ = ["LARGER", "TOO_SLOW", "Answer", "Candidate"]

TOO_SLOW, LARGER = "ruled out: too slow at the model's best", "ruled out: larger"


@dataclass(kw_only=True, eq=False)
class Candidate:
    """The smallest plan of a time an image; `mhz` as expected, `most_mhz` at the model's best; placed or not, or it
    `failed` to be.
    """

    sized: Sized
    mhz: float
    most_mhz: float
    placed: Measured | None = None
    failed: bool = False
    verdict: str = ""

    @property
    def image_cycles(self) -> int:
        """From one image to the next."""
        return self.sized.image_cycles

    @property
    def throughput(self) -> float:
        """Images a second: measured where it was placed, else expected."""
        mhz = self.mhz if self.placed is None or not self.placed.fmax_mhz else self.placed.fmax_mhz
        return mhz * 1e6 / self.image_cycles

    @property
    def most(self) -> float:
        """Images a second that it may reach: no more than were measured."""
        return self.throughput if self.placed is not None else self.most_mhz * 1e6 / self.image_cycles

    @property
    def untried(self) -> bool:
        """True if place and route has not been tried."""
        return self.placed is None and not self.failed

    @property
    def row(self) -> dict[str, Any]:
        """Its figures: estimates, or measured where it was placed."""
        measured = self.placed
        names = ("lut_sites", "dsp", "ram")
        sizes = {name: self.sized.total(name) if measured is None else int(getattr(measured, name)) for name in names}
        return {
            "image_cycles": self.image_cycles,
            **sizes,
            "estimated_lut_sites": self.sized.total("lut_sites"),
            "multipliers": self.sized.plan.multipliers,
            "mhz": self.mhz if measured is None else measured.fmax_mhz,
            "images_per_s": self.throughput,
            "most_images_per_s": self.most,
            "placed": measured is not None,
            "verdict": self.verdict,
        }


@dataclass(kw_only=True, eq=False)
class Answer:
    """Result of a question: `candidates`, the smallest first; `chosen` of them, and whether it is `proven` the smallest
    within the models' errors. `stopped` says why the search ended before that; `checked` what cosimulation of the
    chosen one found, where it was asked for.
    """

    subject: Network | MatMulLayer
    target: str
    objective: str
    required: float | None
    frequency: Frequency
    candidates: list[Candidate]
    chosen: Candidate | None = None
    proven: bool = False
    stopped: str = ""
    plans: int = 0
    front: list[Candidate] = field(default_factory=list)
    checked: Checked | None = None

    @property
    def passed(self) -> bool:
        """False if cosimulation of the selected plan found a difference."""
        return self.checked is None or self.checked.passed

    def design(self, candidate: Candidate | None = None) -> Design:
        """The design of a candidate, by default the chosen one; it can be written at once."""
        which = candidate or self.chosen
        if which is None:
            raise InputError("throughput must have been asked for, or a candidate given: nothing was chosen")
        return design_of_json(self.subject, which.sized.plan.as_json(), self.target)

    @property
    def table(self) -> Any:
        """The candidates as a polars DataFrame."""
        polars = need("polars", "polars", "explore", extra="explore")
        return polars.DataFrame([candidate.row for candidate in self.candidates], infer_schema_length=None)
