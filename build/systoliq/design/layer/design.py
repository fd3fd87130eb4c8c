"""A dense layer as a design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import integer_format
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.unscaled import Unscaled
from systoliq.hw import ArrayConfig, AxiDense, Dense
from systoliq.hw.hierarchy import mark_used
from systoliq.sim.choice import SimulatorChoice
from systoliq.sim.cosimulation import DENSE_TOP, Run, cosimulate
from systoliq.sim.simulated import Simulated

from ...errors import expect
from ...onnx.host import HostPart
from ..check_run import check_run
from ..choose import AUTO
from ..cosimulated import cosimulated
from ..design import Arrays
from ..names import module_name
from ..single_array import SingleArrayDesign
from .auto import fitted
from .onnxruntime_reference import onnxruntime_results
from .operands import read_layer_operands, rows_of
from .options import LayerOptions
from .scales import scale_notes
from .sized import largest_that_fits
from .sums import sums_notes

__all__ = ["LayerDesign"]

_OF_ARRAY = ("rows", "cols", "depth", "a_bits", "b_bits")  # options that an array is made by


class LayerDesign(SingleArrayDesign):
    """A dense layer on the array that `hardware` asks for; `origin` says where its weights come from.

    `requantization` gives the constants where `hardware` shall not choose them. `host` is the host's part around int32
    sums in a model, and `notes` are warnings for the user.
    """

    kind: ClassVar[str] = "layer"
    meanings: ClassVar[Mapping[str, str]] = {
        "rst": "synchronous reset, active high; the contents of the weight memory stay",
        "s_axis_a_tuser": "zero points of the rows, see packing.a_zero_point",
        "s_axis_a_tlast": "the last beat of a batch; with a beat that ends no group of rows it is an error",
        "m_axis_y_tlast": "the last beat of a batch",
        "error": "1 until reset: an s_axis_a_tlast came with a beat that ends no group of rows, and ended no batch",
    }

    def __init__(
        self,
        layer: MatMulLayer,
        hardware: LayerOptions | None = None,
        *,
        name: str | None = None,
        origin: str = "weights given in Python",
        requantization: Requantization | Float8Requantization | Unscaled | None = None,
        host: HostPart | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        expect("layer", layer, MatMulLayer)
        expect("hardware", hardware, LayerOptions, type(None))
        expect("origin", origin, str)
        expect("requantization", requantization, Requantization, Float8Requantization, Unscaled, type(None))
        expect("host", host, HostPart, type(None))
        expect("notes", notes, Sequence)
        hardware = hardware or LayerOptions()
        hardware.check_budget("layer")
        layer = hardware.narrowed(layer)
        self._fitted = fitted(layer, hardware) if hardware.cells == AUTO else None
        hardware = self._fitted.hardware if self._fitted else hardware
        constants = hardware.requantization(layer) if requantization is None else requantization
        hardware, self._size = largest_that_fits(layer, constants, hardware)
        self.name = module_name(name, layer.name)
        self.origin = origin
        self._notes = tuple(notes)
        self.layer = layer
        self.host = HostPart.of_layer(layer) if host is None else host
        self.requantization = constants
        self.dense = Dense(layer, constants, hardware.array_for_layer(layer), wrap=hardware.wrap)
        mark_used(self.dense)  # for its cycle model alone, as long as no Verilog is asked for
        self.config: ArrayConfig = self.dense.config
        self._hardware = hardware

    @property
    def hardware(self) -> LayerOptions:
        """The options that rebuild this design from its layer and its requantizer's constants.

        Options that decide nothing are left out, so that none can be taken out of a package unnoticed.
        """
        hardware = self._hardware.replace(part=None, multipliers=None, luts=None)
        hardware = hardware.replace(accumulator_bits=None)  # a bound, which this layer's sums keep
        if not self.layer.has_float8 and not self.layer.gives_sums:  # the constants are given
            hardware = hardware.replace(requantizer=Rounding.NEAR_TIE.value, multiplier_bits=None)
        array = hardware.array_for_layer(self.layer)
        for name in _OF_ARRAY:
            without = hardware.replace(**{name: None})
            if without.array_for_layer(self.layer) == array:
                hardware = without
        return hardware

    @cached_property
    def top(self) -> AxiDense:
        """The module with AXI4-Stream ports."""
        return AxiDense(self.dense)

    def __repr__(self) -> str:
        config = self.config
        return f"LayerDesign({self.layer!r}, {config.rows} x {config.cols} x {config.depth} {config.cells})"

    @property
    def explored(self) -> MatMulLayer:
        return self.layer

    @property
    def choices(self) -> list[str]:
        """The cells, the size and the requantizer, where they were left to systoliq."""
        constants = self.requantization
        chosen = [self._fitted.text] if self._fitted else []
        chosen += [self._size] if self._size else []
        if not self._hardware.requantizer_is_chosen or not isinstance(constants, Requantization):
            return chosen
        output = integer_format("y_format", self.layer.y_format)
        whole = Requantization.from_scales(self.layer.canonical.scale, self.layer.canonical.y_zero_point, output)
        saved = whole.multiplier_bits - constants.multiplier_bits
        kind = constants.rounding.value
        return [*chosen, f"requantizer: {kind}, multipliers of {constants.multiplier_bits} bits, {saved} saved"]

    @property
    def notes(self) -> list[str]:
        """Return warnings about the source, about odd scales and about sums that may wrap."""
        return [*self._notes, *self.odd_scales, *(sums_notes(self.layer) if self.layer.gives_sums else [])]

    @property
    def odd_scales(self) -> list[str]:
        return scale_notes(self.layer)

    @property
    def certified(self) -> bool:
        """A layer is, unless it ends in its sums."""
        return not self.layer.gives_sums

    def model(self, a: npt.NDArray[Any], a_zero_point: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Y [M, N] for `a` [M, K], and its zero points where the layer has none: the hardware's own arithmetic."""
        return self.layer.by_constants(self.requantization, a, a_zero_point)

    def cycles(self, m: int) -> int:
        """From the first beat of A to the last beat of Y of `m` rows, both included, without stalls."""
        cycles: int = self.dense.cycles(m)
        return cycles

    def read_operands(self, path: Path, *, quantize: bool = False) -> Arrays:
        """`a`, or `a` and `a_zero_point`: see `read_layer_operands`."""
        return read_layer_operands(self.layer, self.host, path, quantize=quantize)

    def onnxruntime(self, **operands: npt.NDArray[Any]) -> Arrays:
        """See `onnxruntime_results`."""
        return onnxruntime_results(self.layer, self.host, operands)

    def onnxruntime_exact(self, **operands: npt.NDArray[Any]) -> Arrays:
        """See `onnxruntime_results`."""
        return onnxruntime_results(self.layer, self.host, operands, exact=True)

    def simulate(
        self,
        a: npt.NDArray[Any] | None = None,
        *,
        a_zero_point: npt.ArrayLike | None = None,
        simulator: SimulatorChoice = "auto",
        stalls: float = 0.0,
        seed: int = 0,
        waves: Path | None = None,
        netlist: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Simulated:
        """Simulate rows of A [..., K] and compare with golden; see `Design.simulate`.

        `a_zero_point`, one for all rows or one for each, comes with `a` where the layer has none. If `host` says how
        real numbers are quantized, `a` may hold these alone: `sums` are then the hardware's outputs, and `y` the host's
        results.
        """
        check_run(simulator, stalls, waves)
        rows = rows_of(self.layer, self.host, a, a_zero_point)
        verilog = None if netlist is None else self.netlist(netlist, DENSE_TOP, progress)
        result = cosimulate(
            self.dense, Run(a=rows.a, a_zero_point=rows.a_zero_point, stalls=stalls, seed=seed), simulator=simulator,
            waves=waves, verilog=verilog, progress=progress,
        )  # fmt: skip
        facts = {"stalls": stalls, "netlist": netlist, "model_cycles": self.cycles(len(rows.a))}
        if not self.layer.gives_sums:  # which no formula rounds
            facts["float32_mismatches"] = int(np.count_nonzero(result.y != self.layer.golden(rows.a)))
        y = rows.restore(result.y)
        outputs = {"y": y}
        if rows.a_scale is not None and self.host is not None:
            outputs = {"y": self.host.finish(y, rows.a_scale), "sums": y}
        return cosimulated(result, self.name, self.config, outputs, **facts)

    def inferences(self, operands: Mapping[str, Any]) -> tuple[int, int]:
        """Rows of A, and the multiply-accumulates of one."""
        rows = rows_of(self.layer, self.host, operands.get("a"), operands.get("a_zero_point"))
        return len(rows.a), self.layer.k * self.layer.n

    @property
    def unit_beats(self) -> int:
        """Beats of a group of rows."""
        beats: int = self.dense.schedule.beats
        return beats
