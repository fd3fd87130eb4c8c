"""Network as a subject: budgets of multipliers, each the plan with the fewest cycles an image within it.

To find the smallest plan for a throughput on a given part, use `question`, which works with estimates; this module
measures any target, including standard cells.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from systoliq.golden.archive import npz_bytes
from systoliq.golden.network import Network, network_arrays

from ....design import NetworkDesign, NetworkOptions
from ....design.network.plan import plan_for_budget, stages_of
from ....errors import InputError
from ....testbench.beats import SEED, random_operands
from ..settings import Settings
from ..space import CELLS_AXIS, TARGET_AXIS, Axis, Point
from .subject import Subject

if TYPE_CHECKING:
    from ..row import Row

__all__ = ["NetworkPoint", "NetworkSubject"]

_IMAGES = 2  # images of a cosimulation, and one more: the difference in cycles is the time of an image


@dataclass(frozen=True, kw_only=True, order=True)
class NetworkPoint(Point):
    """`multipliers`: cells that the plan may take; those that it takes, once it is known."""

    multipliers: int


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkSubject(Subject):
    """A network; `source` is empty where the command line cannot name it."""

    columns = ("multipliers", "cosim_images")
    axes = (Axis(name="multipliers", default="4:64:x2"), CELLS_AXIS, TARGET_AXIS)
    objectives = ("throughput", "area")

    source: str
    origin: str
    network: Network

    @property
    def name(self) -> str:
        return self.network.name

    @property
    def work(self) -> int:
        """Work of an image; see `Subject.work`."""
        return self.network.multiply_accumulates

    @property
    def content(self) -> list[str | bytes]:
        """See `Subject.content`: the network, as its file holds it."""
        return [npz_bytes(network_arrays(self.network))]

    @property
    def facts(self) -> dict[str, Any]:
        return {"network": {"name": self.name, "stages": len(stages_of(self.network)), "macs": self.work}}

    def subtitle(self, settings: Settings) -> list[str]:
        return [f"{len(stages_of(self.network))} stages", self.origin, "an inference is an image"]

    def point(self, values: Mapping[str, Any]) -> NetworkPoint:
        """See `Subject.point`: budgets of one plan are one point."""
        point = NetworkPoint(**{axis.name: values[axis.name] for axis in self.axes})
        try:
            taken = _dsp(self, point.multipliers, point.hardware_cells)
        except InputError:  # too few, which `model` says
            return point
        return NetworkPoint(**point.as_dict() | {"multipliers": taken})

    def design(self, point: Point) -> NetworkDesign:
        assert isinstance(point, NetworkPoint)  # noqa: S101 - of this space
        hardware = NetworkOptions(multipliers=point.multipliers, cells=point.hardware_cells)
        return NetworkDesign(self.network, hardware, origin=self.origin)

    def model(self, point: Point, settings: Settings) -> dict[str, Any]:
        """See `Subject.model`: the plan's, and the latency of its hardware."""
        design = self.design(point)
        plan, ends = design.plan, (*self.network.inputs, *self.network.outputs)
        bits = sum(int(np.prod(tensor.shape)) * tensor.format.bits for tensor in ends)
        return {
            "macs_per_cycle": plan.multipliers,
            "latency_cycles": design.cycles(1),
            "cycles": plan.image_cycles,
            "cycles_per_inference": float(plan.image_cycles),
            "utilization": plan.utilization,
            "io_bits_per_cycle": bits / plan.image_cycles,
            "bit_products": 64 * plan.multipliers,
        }

    def cosimulate(self, point: Point, settings: Settings) -> dict[str, Any]:
        """See `Subject.cosimulate`: random images; every tensor must equal golden's, and an image take the plan's
        cycles, or more where the plan is not exact. The last of several outputs may have images at a quicker pace.
        """
        design = self.design(point)
        generator = np.random.default_rng(SEED)
        images = {
            tensor.name: random_operands(tensor.format, (_IMAGES + 1, *tensor.shape[1:]), generator)
            for tensor in self.network.inputs
        }
        runs = [
            design.simulate({name: x[:count] for name, x in images.items()}, simulator=settings.simulator).report
            for count in (_IMAGES, _IMAGES + 1)
        ]
        wrong = sum(each["mismatches"] + len(each["violations"]) for each in runs)
        late = runs[1]["cycles"] - runs[0]["cycles"] - design.plan.image_cycles
        more, less = not design.assembly.exact, len(self.network.outputs) > 1
        equal = not wrong and (late == 0 or (late > 0 and more) or (late < 0 and less))
        return {
            "cosim_images": _IMAGES + 1,
            "cosim_cycles": runs[1]["cycles"],
            "cosim_mismatches": wrong,
            "cosim": "equal" if equal else "differs",
        }

    def label(self, row: Row) -> tuple[str, str]:
        return f"{row['multipliers']} multipliers", f"{row['macs_per_cycle']} of them for products"

    def emit_arguments(self, row: Row, out: Path) -> list[str]:
        source = self.source or str(out / self._file)
        folder = out / "points" / f"{row['multipliers']}_multipliers_{row['cells']}"
        arguments = [source, "--out", str(folder), "--multipliers", str(row["multipliers"])]
        return [*arguments, "--cells", row["cells"]] if row["cells"] != "portable" else arguments

    def files(self, rows: Iterable[Row]) -> dict[str, bytes]:
        """See `Subject.files`: the network, where it is no file yet."""
        return {} if self.source else {self._file: npz_bytes(network_arrays(self.network))}

    @property
    def _file(self) -> str:
        return f"networks/{self.name}.npz"


@functools.lru_cache(maxsize=512)
def _dsp(subject: NetworkSubject, multipliers: int, cells: str) -> int:
    """Multiplier cells that the plan for a budget takes."""
    return plan_for_budget(subject.network, multipliers, 0, cells=cells).dsp
