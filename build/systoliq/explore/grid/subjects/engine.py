"""Engine as a subject: arrays, lanes, buffers, dataflows and buses against a list of products."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from systoliq.golden.formats import INT8
from systoliq.hw.cells import PAIR_CELLS, SETS
from systoliq.hw.dma.bus import BUS_BYTES
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.config import DATAFLOWS

from ....design import DmaEngineDesign, EngineDesign
from ....design.engine.configuration import chosen_lanes
from ....design.engine.largest import engine_cost, is_known
from ....design.engine.traffic import traffic
from ....design.engine.workloads import Product, engine_of, jobs_of, study
from ....errors import InputError
from ....synth.standard_cells import check_memory
from ....synth.targets import TARGETS
from ..settings import Settings
from ..space import CELLS_AXIS, TARGET_AXIS, Axis, Point
from .subject import Subject
from .workload import Workload

if TYPE_CHECKING:
    from ....synth.target import Target
    from ..row import Row

__all__ = ["EnginePoint", "EngineSubject"]

_SUM_BITS = 32
_MANTISSA_BITS = 24  # of the multipliers that each job brings
_LANE_CELLS = 4  # of ECP5, for the requantizer's product of 32 x 24 bits
_COSIMULATED = 2_000  # cycles of a cosimulation, about: a minute under Icarus, with models of cells
_CONFIG = ("rows", "cols", "depth", "lanes", "a_words", "b_words", "max_columns", "max_rows", "dataflow")


@dataclass(frozen=True, kw_only=True, order=True)
class EnginePoint(Point):
    """The fields of `EngineConfig`, with `bus`, the bits of the masters that feed it; 0: streams."""

    rows: int
    cols: int
    depth: int
    lanes: int
    a_words: int
    b_words: int
    max_columns: int
    max_rows: int
    dataflow: str
    bus: int


class _Bus(Axis):
    def parse(self, given: Any) -> tuple[Any, ...]:
        """Widths that the masters have."""
        values = super().parse(given)
        allowed = (0, *(8 * size for size in BUS_BYTES))
        for value in values:
            if value not in allowed:
                raise InputError(f"bus must be among {', '.join(map(str, allowed))} (0: streams), not {value}")
        return values


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineSubject(Subject):
    """The engine against `workload`; where there is a `config`, its fields are the axes' values if nothing is said."""

    columns = (
        *_CONFIG, "bus", "memory_bits", "products", "jobs", "edge_limit", "products_per_s", "cosim_product",
    )  # fmt: skip
    model_knows_target = True
    source = "engine"
    defaults: ClassVar[Mapping[str, str]] = {
        "rows": "2:16:x2", "cols": "2:16:x2", "depth": "1:4:x2", "lanes": "0", "a_words": "256:4096:x4",
        "b_words": "1024:4096:x4", "max_columns": "256", "max_rows": "256", "dataflow": ",".join(DATAFLOWS), "bus": "0",
    }  # fmt: skip
    """Default values of its axes, without `config`."""

    workload: Workload
    config: EngineConfig | None = None

    def __post_init__(self) -> None:
        if self.config is not None and self.config.float8:
            raise InputError("config must be an engine of integers to be explored, not of float8")

    @property
    def name(self) -> str:
        return f"engine for {self.workload.name}"

    @property
    def origin(self) -> str:  # type: ignore[override]
        return f"{self.workload.count} products, {self.workload.macs:,} multiply-accumulates a pass"

    @property
    def work(self) -> int:
        """Work of a pass; see `Subject.work`."""
        return self.workload.macs

    @property
    def axes(self) -> Sequence[Axis]:
        """See `Subject.axes`; lanes 0 are the largest divisor of the columns up to 4."""
        defaults = dict(self.defaults)
        cells = CELLS_AXIS
        if self.config is not None:
            defaults |= {name: str(getattr(self.config, name)) for name in _CONFIG}
            cells = dataclasses.replace(cells, default=self.config.cells)
        axes = [
            _Bus(name=name, default=default) if name == "bus"
            else Axis(name=name, default=default, words=DATAFLOWS if name == "dataflow" else ())
            for name, default in defaults.items()
        ]  # fmt: skip
        return (*axes, cells, TARGET_AXIS)

    @property
    def objectives(self) -> tuple[str, ...]:
        return ("throughput", "area", "ram")

    @property
    def content(self) -> list[str | bytes]:
        """See `Subject.content`: the products."""
        return [repr([(each.m, each.k, each.n, each.count) for each in self.workload.products])]

    @property
    def facts(self) -> dict[str, Any]:
        products = [dataclasses.asdict(each) for each in self.workload.products]
        return {"workload": {"name": self.workload.name, "macs": self.workload.macs, "products": products}}

    def subtitle(self, settings: Settings) -> list[str]:
        return [self.origin, "an inference is one pass through all products"]

    def point(self, values: Mapping[str, Any]) -> EnginePoint:
        fields = {axis.name: values[axis.name] for axis in self.axes}
        return EnginePoint(**fields | {"lanes": fields["lanes"] or chosen_lanes(fields["cols"])})

    def design(self, point: Point) -> EngineDesign:
        assert isinstance(point, EnginePoint)  # noqa: S101 - of this space
        config = _config(point)
        return DmaEngineDesign(config, bus=point.bus) if point.bus else EngineDesign(config)

    def model(self, point: Point, settings: Settings) -> dict[str, Any]:
        """See `Subject.model`: jobs queued, each as long as the array or the bus takes, whichever is slower."""
        assert isinstance(point, EnginePoint)  # noqa: S101 - of this space
        config = self.design(point).config
        memory = 8 * config.depth * (config.a_words * config.rows + config.b_words * config.cols)
        _check_room(point, config, memory)
        found = study(self.workload.products, self.name, config)
        cycles = found.cycles
        if point.bus:
            cycles = traffic(self.workload.products, config, point.bus // 8).cycles
        moved = (found.a_bytes + found.b_bytes + found.y_bytes) * found.cycles
        sums = (config.rows + config.ones) * (config.cols + config.ones) * _SUM_BITS
        return {
            "macs_per_cycle": config.macs_per_cycle,
            "accumulator_bits": _SUM_BITS,
            "memory_bits": memory,
            "products": self.workload.count,
            "jobs": found.jobs,
            "latency_cycles": cycles,
            "cycles": cycles,
            "cycles_per_inference": float(cycles),
            "utilization": self.work / (cycles * config.macs_per_cycle),
            "edge_limit": found.limit,
            "io_bits_per_cycle": 8 * moved / cycles,
            "bit_products": config.macs_per_cycle * INT8.bits**2 + sums + config.lanes * _MANTISSA_BITS * _SUM_BITS,
        }

    def cosimulate(self, point: Point, settings: Settings) -> dict[str, Any]:
        """See `Subject.cosimulate`: the product that takes longest, as many rows and columns as take some seconds.

        Outputs must equal golden. Cycles must equal the model's, job by job, unless masters feed the engine from
        memory.
        """
        assert isinstance(point, EnginePoint)  # noqa: S101 - of this space
        design = self.design(point)
        shape = _cosimulated(design, self.workload.products)
        found = design.simulate(simulator=settings.simulator, **_operation(shape)).report
        equal = not found["mismatches"] and found["cycles"] == found.get("model_cycles", found["cycles"])
        return {
            "cosim_product": f"{shape.m} x {shape.k} x {shape.n}",
            "cosim_cycles": found["cycles"],
            "cosim_mismatches": found["mismatches"] + len(found["violations"]),
            "cosim": "equal" if equal else "differs",
        }

    def label(self, row: Row) -> tuple[str, str]:
        fed = f", {row['bus']}-bit bus" if row["bus"] else ""
        buffers = f"{row['a_words']} words of A, {row['b_words']} of B"
        return (
            f"{row['rows']} x {row['cols']} x {row['depth']}",
            f"{row['lanes']} lanes, {buffers}, {row['dataflow']}{fed}",
        )

    def emit_arguments(self, row: Row, out: Path) -> list[str]:
        size = f"{row['rows']}x{row['cols']}x{row['depth']}_l{row['lanes']}_a{row['a_words']}_b{row['b_words']}"
        folder = f"{size}_{row['dataflow'].split('-')[0]}" + (f"_bus{row['bus']}" if row["bus"] else "")
        arguments = ["engine", "--out", str(out / "points" / folder)]
        for name in _CONFIG:
            arguments += [f"--{name.replace('_', '-')}", str(row[name])]
        if row["bus"]:
            arguments += ["--bus", str(row["bus"])]
        if row["cells"] != "portable":
            arguments += ["--cells", row["cells"]]
        return arguments


def _config(point: EnginePoint) -> EngineConfig:
    return EngineConfig(**{name: getattr(point, name) for name in _CONFIG}, cells=point.hardware_cells)


def _check_room(point: EnginePoint, config: EngineConfig, memory: int) -> None:
    """Raise InputError if the device cannot hold the engine with any synthesis, so that none is started in vain."""
    target = TARGETS[point.target]
    if target.family == "generic":
        check_memory("engine", memory)
    room, least = target.capacity.get("dsp"), _multipliers(config, target)
    if room is not None and least > room:
        raise InputError(f"dsp must be at most {room} on {target.name}, but this engine takes at least {least}")


def _multipliers(config: EngineConfig, part: Target) -> int:
    """Return the number of multipliers of an engine on `part`. If it is unknown, return a lower bound: the multipliers
    for products and requantizers.
    """
    if is_known(part, config.cells):
        return engine_cost(config, None)["dsp"]
    per_cell = SETS[config.cells].products
    least = math.ceil(config.macs_per_cycle / per_cell) if per_cell else 0
    return least + (_LANE_CELLS * config.lanes if config.cells == PAIR_CELLS else 0)


def _cosimulated(design: EngineDesign, products: Sequence[Product]) -> Product:
    """The product that takes the design the longest, cut to `_COSIMULATED` cycles: rows first, then columns, then K."""
    config, engine = design.config, engine_of(design.config)

    def cycles(product: Product) -> int:
        return sum(count * engine.turn(shape) for shape, count in jobs_of(config, product))

    longest = max(products, key=lambda each: each.count * cycles(each))
    found = dataclasses.replace(longest, count=1)
    for name, step in (("m", config.rows), ("n", config.cols), ("k", config.depth)):
        while cycles(found) > _COSIMULATED and getattr(found, name) > step:
            found = dataclasses.replace(found, **{name: max(step, getattr(found, name) * 3 // 4)})
    return found


def _operation(product: Product) -> dict[str, Any]:
    """A QLinearMatMul of random operands, a scale for each column, its results spread over Y's range."""
    generator = np.random.default_rng([product.m, product.k, product.n])
    a = generator.integers(INT8.min, INT8.max, (product.m, product.k), endpoint=True).astype(np.int8)
    b = generator.integers(INT8.min, INT8.max, (product.k, product.n), endpoint=True).astype(np.int8)
    scale = generator.uniform(0.5, 2.0, product.n).astype(np.float32)
    spread = 137 * math.sqrt(product.k)  # 40 steps of Y are the standard deviation of a sum, its column's scale apart
    return {
        "a": a, "a_scale": np.float32(1), "a_zero_point": np.int8(-7), "b": b, "b_scale": scale,
        "b_zero_point": np.zeros(product.n, np.int8), "y_scale": np.float32(spread), "y_zero_point": np.int8(3),
    }  # fmt: skip
