"""Reference of an inference: what onnxruntime has for each tensor, by its own kernels and without their saturation."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import InputError
from .division import Division
from .operations import Array
from .report import OutputReport, StepReport, differing

__all__ = ["Reference"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """Tensors by name. `ends` are the outputs of the original model. `own` are the tensors between steps and the
    outputs of the lowered model. `exact` are the same tensors with products of uint8 by int8 rewritten as uint8 by
    uint8.
    """

    ends: Mapping[str, Array]
    own: Mapping[str, Array]
    exact: Mapping[str, Array]

    @classmethod
    def of(
        cls, division: Division, feed: Mapping[str, Array], ends: Mapping[str, Array], found: Mapping[str, Array]
    ) -> Reference:
        """Return the reference for the tensors `found`. `exact` is computed only if something differs from `own`."""
        own = exact = division.expected(feed)
        if any(differing(found[name], array) for name, array in [*own.items(), *ends.items()]):
            with contextlib.suppress(InputError):  # onnxruntime has no such kernel: nothing shows that it saturates
                exact = division.unsaturated(feed)
        return cls(ends=ends, own=own, exact=exact)

    def step(self, report: StepReport, name: str, found: Array) -> StepReport:
        """Return `report` with the comparison of its output `name`."""
        return dataclasses.replace(
            report,
            onnxruntime_mismatches=differing(found, self.exact[name]),
            onnxruntime_saturated=differing(self.own[name], self.exact[name]),
        )

    def output(self, name: str, found: Array) -> OutputReport:
        """Return the comparison of the model's output `name`: with its exact result, if its own is the lowered model's
        and saturates; with its own otherwise.
        """
        end, saturated = self.ends[name], 0
        if name in self.own and not differing(end, self.own[name]):
            saturated = differing(end, self.exact[name])
        right = self.exact[name] if saturated else end
        return OutputReport(elements=int(end.size), mismatches=differing(found, right), saturated=saturated)
