"""A dense layer as a design."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import integer_format
from systoliq.golden.parameters import type_name
from systoliq.golden.requantization import Requantization
from systoliq.golden.unscaled import Unscaled
from systoliq.hw import ArrayConfig, AxiDense, Dense
from systoliq.hw.hierarchy import mark_used
from systoliq.sim.cosimulation import DENSE_TOP, cosimulate
from systoliq.sim.runner import SimulatorName

from ...errors import InputError
from ...files import npz_bytes
from ...generator import CERTIFICATE
from ..cosimulated import cosimulated
from ..design import Arrays, Design, File
from ..hardware import Hardware
from ..names import module_name
from ..operands import read_operand_file
from ..simulated import Simulated, check_run
from .certificate import certificate
from .describe import describe, formula
from .float8_certificate import float8_certificate
from .stimulus import LayerStimulus, layer_stimulus
from .sums import sums_notes
from .testbench import layer_testbench

__all__ = ["LayerDesign"]


class LayerDesign(Design):
    """A dense layer on the array that `hardware` asks for; `origin` says where its weights come from.

    `requantization` gives the constants where `hardware` shall not choose them.
    """

    kind: ClassVar[str] = "layer"
    meanings: ClassVar[Mapping[str, str]] = {
        "rst": "synchronous reset, active high; the contents of the weight memory stay",
        "s_axis_a_tlast": "the last beat of a batch; with a beat that ends no group of rows it is an error",
        "m_axis_y_tlast": "the last beat of a batch",
        "error": "1 until reset: an s_axis_a_tlast came with a beat that ends no group of rows, and ended no batch",
    }

    def __init__(
        self,
        layer: MatMulLayer,
        hardware: Hardware | None = None,
        *,
        name: str | None = None,
        origin: str = "weights given in Python",
        requantization: Requantization | Float8Requantization | Unscaled | None = None,
    ) -> None:
        hardware = hardware or Hardware()
        hardware.refuse_engines("layer")
        layer = hardware.narrowed(layer)
        constants = hardware.requantization(layer) if requantization is None else requantization
        self.name = module_name(name, layer.name)
        self.origin = origin
        self.layer = layer
        self.requantization = constants
        self.dense = Dense(layer, constants, hardware.array_for_layer(layer), wrap=hardware.wrap)
        mark_used(self.dense)  # for its cycle model alone, as long as no Verilog is asked for
        self._chosen = hardware.requantizer_is_chosen

    @property
    def config(self) -> ArrayConfig:
        """The size, formats and cells of its array, as it is built."""
        config: ArrayConfig = self.dense.config
        return config

    @cached_property
    def top(self) -> AxiDense:
        """The module with AXI4-Stream ports."""
        return AxiDense(self.dense)

    @property
    def cells(self) -> str:
        """Of its array, lanes and memories."""
        return self.config.cells

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates that its array does in a cycle."""
        return self.config.macs_per_cycle

    @property
    def choices(self) -> list[str]:
        """The requantizer, where it was left to systoliq."""
        constants = self.requantization
        if not self._chosen or not isinstance(constants, Requantization):
            return []
        output = integer_format("y_format", self.layer.y_format)
        whole = Requantization.from_scales(self.layer.scale, self.layer.y_zero_point, output)
        saved = whole.multiplier_bits - constants.multiplier_bits
        kind = constants.rounding.value
        return [f"requantizer: {kind}, multipliers of {constants.multiplier_bits} bits, {saved} saved"]

    @property
    def notes(self) -> list[str]:
        """Whether the requantizer is exact, or sums may wrap."""
        if self.layer.gives_sums:
            return sums_notes(self.layer)
        wrong = self.stimulus.float32_mismatches
        return [f"this requantizer differs from the float32 formula on {wrong} golden vectors"] if wrong else []

    @property
    def certified(self) -> bool:
        """A layer is, unless it ends in its sums."""
        return not self.layer.gives_sums

    def model(self, a: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Y [M, N] for `a` [M, K]: the hardware's own arithmetic."""
        if isinstance(self.requantization, Float8Requantization):
            return self.requantization.apply(self.layer.exact_sums(a))
        return self.requantization.apply(self.layer.accumulate(self.layer.check_input(a)))

    def cycles(self, m: int) -> int:
        """From the first beat of A to the last beat of Y of `m` rows, both included, without stalls."""
        cycles: int = self.dense.cycles(m)
        return cycles

    def read_operands(self, path: Path, *, quantize: bool = False) -> Arrays:
        """`a` [M, K] from an .npz archive, or from a .npy file; `y`, the output of a layer before, where there is no a.

        With `quantize` it holds real numbers: see `MatMulLayer.quantize`.
        """
        arrays = read_operand_file(path)
        a = next((arrays[name] for name in ("a", "y") if name in arrays), None)
        if a is None:
            raise InputError(
                f"{path}: must have the key 'a' (or 'y', of the layer before); it has {', '.join(arrays) or 'none'}"
            )
        try:
            if a.dtype.kind == "f":
                if not quantize:
                    expected = self.layer.a_format.type_name
                    raise InputError(
                        f"a must have the type {expected}, not {a.dtype.name}: --quantize takes real numbers"
                    )
                a = self.layer.quantize(a)
            elif quantize:
                raise InputError(f"a must hold real numbers where quantize is given, not {type_name(a.dtype)}")
            return {"a": self._rows(a)}
        except (TypeError, ValueError) as error:
            raise type(error)(f"{path}: {error}") from error

    def _rows(self, a: npt.NDArray[Any]) -> npt.NDArray[Any]:
        a = np.asarray(a)
        if a.ndim != 2 or not len(a) or a.shape[1] != self.layer.k:
            raise InputError(f"a must have the shape [M, {self.layer.k}] with M at least 1, not {list(a.shape)}")
        return self.layer.check_input(a)

    def onnxruntime(self, **operands: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What onnxruntime's QLinearMatMul, MatMulInteger, or QGemm where there is a bias, gives for `a`."""
        from ...demo.judge import onnxruntime_output

        return onnxruntime_output(self.layer, operands["a"])

    def simulate(
        self,
        a: npt.NDArray[Any],
        *,
        simulator: SimulatorName = "verilator",
        stalls: float = 0.0,
        seed: int = 0,
        waves: Path | None = None,
        netlist: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Simulated:
        """Run rows of A [M, K] through the Verilog and compare with golden; see `Design.simulate`."""
        check_run(simulator, stalls, waves)
        a = self._rows(a)
        verilog = None if netlist is None else self.netlist(netlist, DENSE_TOP, progress)
        result = cosimulate(
            self.dense, a, simulator=simulator, stalls=stalls, seed=seed, waves=waves, verilog=verilog,
            progress=progress,
        )  # fmt: skip
        facts = {"model_cycles": self.cycles(len(a))}
        if not self.layer.gives_sums:  # which no formula rounds
            facts = {"float32_mismatches": int(np.count_nonzero(result.y != self.layer.golden(a))), **facts}
        return cosimulated(self.name, self.config, result, stalls=stalls, netlist=netlist, facts=facts)

    @cached_property
    def stimulus(self) -> LayerStimulus:
        """What its testbench sends and expects."""
        return layer_stimulus(self)

    def describe(self) -> dict[str, Any]:
        """See `Design.describe`."""
        return describe(self)

    def testbench(self) -> str:
        """See `Design.testbench`."""
        return layer_testbench(self, self.stimulus)

    def files(self) -> dict[str, File]:
        """Golden vectors, and the layer itself."""
        stimulus = self.stimulus
        vectors = {"a": stimulus.a, "y": stimulus.y}
        if stimulus.float32_mismatches:
            vectors["y_hardware"] = stimulus.expected
        return {
            f"{self.name}_vectors.npz": (f"golden vectors: a and y = {formula(self.layer)}", npz_bytes(vectors)),
            f"{self.name}_layer.npz": ("the layer, a SOURCE of systoliq", npz_bytes(self.layer.arrays())),
        }

    def certify(self, files: Mapping[str, bytes]) -> dict[str, Any]:
        """What `systoliq verify` derives again."""
        constants = self.requantization
        if isinstance(constants, Unscaled):
            return {}
        if CERTIFICATE in files:
            raise InputError(f"name must not be {self.name!r}: {CERTIFICATE} is a file of the package")
        if isinstance(constants, Float8Requantization):
            return float8_certificate(self, constants, files)
        return certificate(self, constants, files)
