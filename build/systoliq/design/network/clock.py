"""Expected clock of a plan on a part, by the model of designs that were placed and routed before: an estimate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from systoliq.hw.network.operators import operator_of

from .estimate import Estimate
from .frequency import Frequency, known_frequency
from .plan import Plan, StagePlan

__all__ = ["ExpectedClock", "expected_clock", "traits_of"]


@dataclass(frozen=True, kw_only=True)
class ExpectedClock:
    """`mhz` of a plan, as the `model` expects it of designs of its size."""

    mhz: float
    model: Frequency

    def line(self, image_cycles: int) -> str:
        """The estimate in words, with its error."""
        model = self.model
        return (
            f"expected clock, an estimate: about {self.mhz:.0f} MHz, {self.mhz * 1e6 / image_cycles:.0f} images a "
            f"second; {model.points} placed designs differ from it by {model.median:.0%} in the median, "
            f"{model.worst:.0%} at worst"
        )


def expected_clock(plan: Plan, estimates: Collection[Estimate], target: str) -> ExpectedClock | None:
    """Return the expected clock of `plan`, whose stages have the sizes `estimates`, on the part `target`.

    Returns None without estimates, or without a model for the part's family.
    """
    model = known_frequency(target)
    if model is None or not estimates:
        return None
    lut_sites, ram = (sum(getattr(each, name) for each in estimates) for name in ("lut_sites", "ram"))
    return ExpectedClock(mhz=model.mhz(lut_sites, plan.dsp, ram, **traits_of(plan.stages)), model=model)


def traits_of(stages: Sequence[StagePlan]) -> dict[str, bool]:
    """Return the inputs of the frequency model besides sizes."""
    return {
        "windows": any(operator_of(stage.node).window_memory(stage.parallelism) for stage in stages),
        "row_sums": any(operator_of(stage.node).needs_row_sums for stage in stages),
    }
