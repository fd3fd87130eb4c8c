"""Layer as a subject: arrays, widths, requantizers; with data that show how well it does at other widths."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.archive import npz_bytes
from systoliq.golden.formats import IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import MANTISSA_BITS, Requantization
from systoliq.golden.thresholds import count_differences
from systoliq.sim.cosimulation import Run, cosimulate

from ....design import LayerDesign, LayerOptions
from ....design.choose import REQUANTIZERS, choose_requantization, reachable
from ....errors import InputError
from ...requantize_layer import narrowed, quantize_inputs, quantized
from ..settings import Settings
from ..space import CELLS_AXIS, TARGET_AXIS, Axis, Point
from .subject import Subject

if TYPE_CHECKING:
    from ..row import Row

__all__ = ["FloatModel", "LayerPoint", "LayerSubject"]


@dataclass(frozen=True, kw_only=True, order=True)
class LayerPoint(Point):
    """The array, the operand widths and the requantizer.

    `requantizer_bits` is the width of the multiplier; 0 where the requantizer "auto" chooses it.
    """

    rows: int
    cols: int
    depth: int
    a_bits: int
    b_bits: int
    requantizer: str = REQUANTIZERS[0]
    requantizer_bits: int = MANTISSA_BITS

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> LayerPoint:
        fields = {axis.name: values[axis.name] for axis in _AXES}
        return cls(**fields | ({"requantizer_bits": 0} if fields["requantizer"] == "auto" else {}))


class _RequantizerBits(Axis):
    def parse(self, given: Any) -> tuple[Any, ...]:
        """A value within the limits of a multiplier."""
        values = super().parse(given)
        if values[0] < 1 or values[-1] > MANTISSA_BITS:
            raise InputError(f"{self.name} must be within 1 to {MANTISSA_BITS}, not {given!r}")
        return values


_AXES = (
    Axis(name="rows", default="1"),
    Axis(name="cols", default="1,2,5,10"),
    Axis(name="depth", default="1:8:x2"),
    Axis(name="a_bits", default="4:8:2"),
    Axis(name="b_bits", default="3,4,6,8"),
    Axis(name="requantizer", default=REQUANTIZERS[0], words=REQUANTIZERS),
    _RequantizerBits(name="requantizer_bits", default="8:24:8"),
    CELLS_AXIS,
    TARGET_AXIS,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class FloatModel:
    """A trained model: weights [K, N], bias [N], and the range of the inputs."""

    weights: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]
    a_range: tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerSubject(Subject):
    """A layer as it was given, real inputs [M, K], and labels [M] or real reference outputs [M, N] if there are any.

    `source` (with the file `weights`) is its name on the command line, empty if it has none. With `trained`, every
    width is quantized from the float model; without, narrower widths are re-quantized from the layer.
    """

    columns = (
        "rows", "cols", "depth", "a_bits", "b_bits", "requantizer", "requantizer_bits", "multiplier_bits",
        "accumulator_bits", "lanes", "accuracy", "rms_error", "inexact", "reachable", "inexact_share",
        "weight_bits_per_cycle", "weight_mb_per_s", "cosim_rows", "cosim_float32_mismatches",
    )  # fmt: skip
    axes = _AXES

    source: str
    origin: str
    layer: MatMulLayer
    inputs: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64] | None = None
    reference: npt.NDArray[np.float64] | None = None
    trained: FloatModel | None = None
    float_accuracy: float | None = None
    weights: Path | None = None

    @property
    def name(self) -> str:
        return self.layer.name

    @property
    def work(self) -> int:
        """Work of a row; see `Subject.work`."""
        return self.layer.k * self.layer.n

    @property
    def scored(self) -> bool:
        """True if there is an accuracy."""
        return self.labels is not None or self.reference is not None

    @property
    def objectives(self) -> tuple[str, ...]:
        return ("throughput", "area", "accuracy" if self.scored else "exactness")

    @property
    def content(self) -> list[str | bytes]:
        """See `Subject.content`: the layer and the data."""
        layer = self.layer
        parts: list[str | bytes] = [layer.a_format.name, layer.b_format.name, layer.y_format.name, layer.name]
        arrays = {**layer.arrays(), "inputs": self.inputs, "labels": self.labels, "reference": self.reference}
        if self.trained is not None:
            arrays |= {"weights": self.trained.weights, "float_bias": self.trained.bias}
            parts.append(repr(self.trained.a_range))
        for name, array in arrays.items():
            if array is not None:
                parts += [name, array.dtype.str, str(array.shape), array.tobytes()]
        return parts

    @property
    def facts(self) -> dict[str, Any]:
        return {"layer": {"name": self.layer.name, "k": self.layer.k, "n": self.layer.n}}

    def subtitle(self, settings: Settings) -> list[str]:
        return [f"{self.layer.k} → {self.layer.n}", self.origin, f"batches of {settings.batch}"]

    def point(self, values: Mapping[str, Any]) -> LayerPoint:
        return LayerPoint.of(values)

    def own_widths(self, a_bits: int, b_bits: int) -> bool:
        """True if these are the layer's original widths."""
        return (a_bits, b_bits) == (self.layer.a_format.bits, self.layer.b_format.bits)

    def at(self, a_bits: int, b_bits: int) -> MatMulLayer:
        """The layer at these widths; a ValueError where that cannot be."""
        formats = IntFormat(a_bits, self.layer.a_format.signed), IntFormat(b_bits, self.layer.b_format.signed)
        if self.trained is None or self.own_widths(a_bits, b_bits):
            return narrowed(self.layer, a_bits, b_bits)
        return quantized(self.layer, self.trained.weights, self.trained.bias, self.trained.a_range, *formats)

    def operands(self, layer: MatMulLayer, rows: int | None = None) -> npt.NDArray[Any]:
        """The inputs in the format of `layer`; `rows` of them, from the start again where there are fewer."""
        chosen = self.inputs if rows is None else self.inputs[np.arange(rows) % len(self.inputs)]
        return quantize_inputs(chosen.astype(np.float64), layer)

    def score(self, layer: MatMulLayer, y: npt.NDArray[Any]) -> dict[str, float | None]:
        """Score of the outputs `y` [M, N].

        `accuracy` is the share of rows whose greatest output is the label's, or the reference's; `rms_error` is in real
        units, against the reference.
        """
        if self.reference is not None:
            real = (y.astype(np.float64) - layer.y_zero_point) * float(layer.y_scale)
            agree = float(np.mean(y.argmax(axis=1) == self.reference.argmax(axis=1)))
            return {"accuracy": agree, "rms_error": float(np.sqrt(np.mean(np.square(real - self.reference))))}
        accuracy = None if self.labels is None else float(np.mean(y.argmax(axis=1) == self.labels))
        return {"accuracy": accuracy, "rms_error": None}

    def design(self, point: Point) -> LayerDesign:
        assert isinstance(point, LayerPoint)  # noqa: S101 - of this space
        layer = _layer(self, point.a_bits, point.b_bits)
        constants = _requantization(self, *_rounding(point))
        return LayerDesign(layer, _hardware(point), origin=self.origin, requantization=constants)

    def model(self, point: Point, settings: Settings) -> dict[str, Any]:
        assert isinstance(point, LayerPoint)  # noqa: S101 - of this space
        dense = self.design(point).dense
        layer, config, schedule, batch = dense.layer, dense.config, dense.schedule, settings.batch
        cycles = dense.cycles(batch)
        io_bits = batch * (layer.k * layer.a_format.bits + layer.n * layer.y_format.bits)
        lanes = schedule.lanes
        quality = _quality(self, *_rounding(point))
        multipliers = config.macs_per_cycle * layer.a_format.bits * config.b.bits
        accumulators = config.rows * config.cols * config.accumulator_bits
        return {
            "macs_per_cycle": config.macs_per_cycle,
            "accumulator_bits": config.accumulator_bits,
            "lanes": lanes,
            "latency_cycles": dense.cycles(1),
            "cycles": cycles,
            "cycles_per_inference": cycles / batch,
            "utilization": schedule.utilization(batch, cycles),
            "io_bits_per_cycle": io_bits / cycles,
            "weight_bits_per_cycle": config.cols * config.depth * config.b.bits,
            "bit_products": multipliers + accumulators + lanes * quality["multiplier_bits"] * dense.sum_bits,
            **quality,
        }

    def cosimulate(self, point: Point, settings: Settings) -> dict[str, Any]:
        """See `Subject.cosimulate`: a batch of the inputs; outputs equal golden, and cycles the model's."""
        design = self.design(point)
        a = self.operands(design.layer, settings.batch)
        result = cosimulate(design.dense, Run(a=a), simulator=settings.simulator)
        model = design.dense.cycles(len(a))
        return {
            "cosim_rows": len(a),
            "cosim_cycles": result.cycles,
            "cosim_mismatches": result.mismatches + len(result.violations),
            "cosim_float32_mismatches": int(np.count_nonzero(result.y != design.layer.golden(a))),
            "cosim": "equal" if result.passed and result.cycles == model else "differs",
        }

    def label(self, row: Row) -> tuple[str, str]:
        rest = f"a {row['a_bits']}, b {row['b_bits']}, requantizer {row['requantizer_bits'] or 'auto'} bits"
        return f"{row['rows']} x {row['cols']} x {row['depth']}", rest

    def emit_arguments(self, row: Row, out: Path) -> list[str]:
        own = self._is_source(row)
        arguments = [self.source if own else str(out / self._file(row)), "--out", str(out / "points" / _folder(row))]
        if own and self.weights is not None:
            arguments += ["--weights", str(self.weights)]
        for option in ("rows", "cols", "depth", "a_bits", "b_bits"):
            arguments += [f"--{option.replace('_', '-')}", str(row[option])]
        arguments += ["--accumulator-bits", "auto", "--requantizer", row["requantizer"]]
        if row["requantizer_bits"]:
            arguments += ["--multiplier-bits", str(row["requantizer_bits"])]
        if row["cells"] != "portable":
            arguments += ["--cells", row["cells"]]
        return arguments

    def files(self, rows: Iterable[Row]) -> dict[str, bytes]:
        """See `Subject.files`: layers of the widths that are not the source's own."""
        others = [row for row in rows if not self._is_source(row)]
        return {self._file(row): npz_bytes(self.at(row["a_bits"], row["b_bits"]).arrays()) for row in others}

    def _is_source(self, row: Row) -> bool:
        return bool(self.source) and self.own_widths(row["a_bits"], row["b_bits"])

    def _file(self, row: Row) -> str:
        return f"layers/{self.at(row['a_bits'], row['b_bits']).name}.npz"


def _folder(row: Row) -> str:
    size = f"{row['rows']}x{row['cols']}x{row['depth']}"
    return f"{size}_a{row['a_bits']}b{row['b_bits']}_{row['requantizer']}{row['requantizer_bits'] or ''}"


def _hardware(point: LayerPoint) -> LayerOptions:
    """The options of `systoliq emit` for a point's design."""
    return LayerOptions(
        rows=point.rows,
        cols=point.cols,
        depth=point.depth,
        a_bits=point.a_bits,
        b_bits=point.b_bits,
        accumulator_bits="auto",
        requantizer=point.requantizer,
        multiplier_bits=point.requantizer_bits or None,
        cells=point.hardware_cells,
    )


def _rounding(point: LayerPoint) -> tuple[int, int, str, int]:
    """Parameters that the requantizer of a point depends on."""
    return point.a_bits, point.b_bits, point.requantizer, point.requantizer_bits


@functools.lru_cache(maxsize=64)
def _layer(subject: LayerSubject, a_bits: int, b_bits: int) -> MatMulLayer:
    return subject.at(a_bits, b_bits)


@functools.lru_cache(maxsize=512)
def _requantization(subject: LayerSubject, a_bits: int, b_bits: int, form: str, bits: int) -> Requantization:
    layer = _layer(subject, a_bits, b_bits)
    return choose_requantization(layer, form, multiplier_bits=bits or None).requantization


@functools.lru_cache(maxsize=512)
def _quality(subject: LayerSubject, a_bits: int, b_bits: int, form: str, bits: int) -> dict[str, Any]:
    """Accuracy and exactness: they depend on the widths and the requantizer alone."""
    layer = _layer(subject, a_bits, b_bits)
    requantization = _requantization(subject, a_bits, b_bits, form, bits)
    y = layer.by_constants(requantization, subject.operands(layer))
    low, high = reachable(layer)
    differing = count_differences(requantization, layer.canonical.scale, low, high)
    total = int((high - low + 1).sum())
    return {
        **subject.score(layer, y),
        "inexact": int(differing.sum()),
        "reachable": total,
        "inexact_share": int(differing.sum()) / total,
        "multiplier_bits": requantization.multiplier_bits,
    }
