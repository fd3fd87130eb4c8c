"""Costs of a network at given widths: its plan on a part, and the planner's estimates of the same plan narrowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from systoliq.golden.network import Network

from ...design import NetworkOptions
from ...design.network import NetworkDesign
from ...design.network.estimate import estimate
from ...design.network.plan import plan_of
from ...errors import InputError
from ...synth.targets import TARGETS
from .narrowing import products_of

__all__ = ["COSTS", "Costs"]

COSTS = {
    "area": ("lut_sites", "LUT sites, about"),
    "ram": ("ram", "memory blocks, about"),
    "dsp": ("dsp", "multiplier cells"),
    "weights": ("weight_bits", "bits of weights"),
}
"""Savings from narrower operands, by the objective's name: column and title."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Costs:
    """Costs of a network by the plan of `design`; without a plan, its weights only, and `reason` says why."""

    target: str
    design: NetworkDesign | None
    reason: str = ""

    @classmethod
    def on(cls, net: Network, target: str, throughput: float | None = None) -> Costs:
        """Return the costs on a part: of the plan for `per_second` images a second, or for all its multiplier cells."""
        part = TARGETS[target]
        try:
            multipliers = None if throughput is not None else part.capacity.get("dsp") or None
            hardware = NetworkOptions(cells=part.cells, part=part, throughput=throughput, multipliers=multipliers)
            return cls(target=target, design=NetworkDesign(net, hardware))
        except InputError as error:
            if throughput is not None:
                raise
            return cls(target=target, design=None, reason=" ".join(str(error).split()))

    @property
    def image_cycles(self) -> int | None:
        """Cycles per image of the plan, the same for all widths."""
        return None if self.design is None else self.design.plan.image_cycles

    def of(self, net: Network) -> dict[str, Any]:
        """`lut_sites`, `ram`, `dsp` (None where unknown) and `weight_bits` of `net`, the network at other widths."""
        bits = sum(node.layer.b.size * node.layer.b_format.bits for node in products_of(net))
        found: dict[str, Any] = {"lut_sites": None, "ram": None, "dsp": None, "weight_bits": bits}
        if self.design is None:
            return found
        design = self.design
        plan = plan_of(net, design.plan.parallelism, cells=design.cells)
        waiting = {joint.name: joint.waiting for joint in design.assembly.pipeline.joints}
        parts = [
            estimate(stage.node, stage.parallelism, design.cells, waiting[stage.node.output.name])
            for stage in plan.stages
        ]
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            found |= {"lut_sites": sum(part.lut_sites for part in known), "ram": sum(part.ram for part in known)}
        return found | {"dsp": plan.dsp}
