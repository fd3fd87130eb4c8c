"""`Design`: a named hardware block with its model, its cycle count and its simulation.

Each kind of design (`layer`, `array`, `engine`) is a folder with a class derived from `Design`. Commands, packages,
synthesis and exploration know `Design` alone, and never ask which kind it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt
from amaranth.hdl import Shape
from amaranth.lib import wiring

from systoliq.hw.cells import models_verilog
from systoliq.hw.verilog import Verilog, emit_verilog
from systoliq.markup import described
from systoliq.sim.simulated import Simulated

from ..errors import InputError
from .stage_table import stage_table

if TYPE_CHECKING:
    from ..synth import SynthReport, Target
    from .image_cost import ImageCost, Speed
    from .options import Options

__all__ = ["Arrays", "Design"]

Arrays = dict[str, npt.NDArray[Any]]
"""Operands by name, as `numpy.load` gives them from an .npz archive."""

_MEANINGS = {
    "clk": "clock, rising edge",
    "rst": "synchronous reset, active high",
    "s_axis_a_tdata": "operands of A, see packing.a",
    "s_axis_a_tvalid": "a beat of A is offered",
    "s_axis_a_tready": "the beat of A is taken",
    "s_axis_b_tdata": "operands of B, see packing.b",
    "s_axis_b_tvalid": "a beat of B is offered",
    "s_axis_b_tready": "the beat of B is taken",
    "m_axis_y_tdata": "outputs, see packing.y",
    "m_axis_y_tvalid": "a beat of Y is offered; it stays until it is taken",
    "m_axis_y_tready": "the beat of Y is taken",
}


class Design(ABC):
    """A named hardware block with its bit-exact `model`, cycle count and package contents.

    Abstract: create a `LayerDesign`, `NetworkDesign`, `ArrayDesign`, `EngineDesign` or `DmaEngineDesign`.
    """

    kind: ClassVar[str]
    meanings: ClassVar[Mapping[str, str]]
    """Meaning of the ports that are specific to this kind of design."""

    name: str

    # Facts that each kind provides.

    @property
    @abstractmethod
    def top(self) -> wiring.Component:
        """Component with AXI ports, which becomes the Verilog."""

    @property
    @abstractmethod
    def cells(self) -> str:
        """Cells that multiply and accumulate; see `systoliq.hw.cells`."""

    @property
    @abstractmethod
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates per cycle."""

    @property
    def choices(self) -> Sequence[str]:
        """Choices that systoliq made for this design, one per line."""
        return ()

    @property
    def stages(self) -> Sequence[Mapping[str, Any]]:
        """Plan of each stage of a pipeline, ready for JSON; empty if the design is not a network."""
        return ()

    @property
    def speed(self) -> Speed | None:
        """Expected speed of the plan; None if the design is not a network."""
        return None

    @property
    def image_cost(self) -> ImageCost | None:
        """Work and memory of an image; None if the design is not a network."""
        return None

    @property
    def notes(self) -> Sequence[str]:
        """Warnings for the user, one per line."""
        return self.odd_scales

    @property
    def odd_scales(self) -> Sequence[str]:
        """Warnings about scales that are 0, negative, infinite or NaN."""
        return ()

    @property
    def hardware(self) -> Options | None:
        """Options that rebuild this design; None if the command line cannot."""
        return None

    @property
    def outputs(self) -> int:
        """Number of the outputs: more than one only for some networks."""
        return 1

    @property
    def certified(self) -> bool:
        """True if the package contains a certificate of exactness."""
        return False

    @property
    def explored(self) -> object:
        """Source for `systoliq.explore.explore`: the layer, the network or the engine's configuration."""
        raise InputError(f"source must be a layer, a network or an engine to be explored, not {self.kind}")

    @abstractmethod
    def model(self, *operands: Any, **more: Any) -> npt.NDArray[Any]:
        """Return the outputs of the hardware, bit for bit."""

    @abstractmethod
    def cycles(self, *shape: Any, **more: Any) -> int:
        """Return the cycles from the first input beat to the last output beat, both included, without stalls."""

    @abstractmethod
    def read_operands(self, path: Path, *, quantize: bool = False) -> Arrays:
        """Read and check operands for `model` and `simulate`, by name, from an .npz archive; ignore its other arrays.

        If `quantize` is true, the archive has real numbers, which are quantized with the layer's scale and zero point.
        """

    def onnxruntime(self, **operands: npt.NDArray[Any]) -> Arrays:
        """Return onnxruntime's outputs under the names of `Simulated.outputs`.

        Raises InputError if this kind of design is not a single node of onnxruntime.
        """
        raise InputError(f"compare cannot be used with the source {self.kind}: only a layer is a node of onnxruntime")

    def onnxruntime_exact(self, **operands: npt.NDArray[Any]) -> Arrays:
        """Return onnxruntime's outputs from kernels that do not saturate; see `systoliq.onnx.unsaturated`."""
        return self.onnxruntime(**operands)

    @abstractmethod
    def simulate(self, *operands: Any, **options: Any) -> Simulated:
        """Simulate the Verilog on operands and compare every output with golden.

        Parameters
        ----------
        simulator
            "verilator", "icarus", or "auto" for the one that is expected to end sooner, its build included.
        stalls, seed
            probability of a pause per cycle on each side, and the seed of the pauses.
        waves
            trace file: .vcd, or .fst with Icarus.
        netlist
            family from `systoliq.synth.NETLISTS`: simulate the netlist after synthesis, with models of its cells.
        progress
            callable that receives the name of each slow stage.
        """

    def inferences(self, operands: Mapping[str, Any]) -> tuple[int, int]:
        """Return the number of inferences in the operands of `simulate`, and the multiply-accumulates of each."""
        raise InputError(
            f"energy must be asked for a layer's rows or a network's images, not for the source {self.kind}"
        )

    @property
    def unit_beats(self) -> int:
        """Beats of A in the smallest independent unit, which one frame of a link carries."""
        raise InputError(f"SOURCE must be a layer or a network where a board is meant, not {self.kind}")

    # What all have.

    @cached_property
    def verilog(self) -> Verilog:
        """Verilog-2005 text, and the files with the contents of its large memories."""
        return emit_verilog(self.top, self.name)

    @property
    def models(self) -> str:
        """Verilog of the simulation models of the vendor cells; empty if there are none."""
        return models_verilog(self.cells)

    def netlist(self, family: str, top: str, progress: Callable[[str], None] | None = None) -> str:
        """Return Verilog of the netlist after synthesis for `family`, as module `top`, with models of its cells."""
        from ..synth import netlist_sources

        return "\n".join(netlist_sources(self.top, top, family, progress=progress))

    @property
    def ports(self) -> list[dict[str, Any]]:
        """Name, direction, width and meaning of each port."""
        meanings = _MEANINGS | dict(self.meanings)
        found = [("clk", "input", 1), ("rst", "input", 1)]
        for name, member in self.top.signature.members.items():
            found.append((name, "input" if member.flow == wiring.In else "output", Shape.cast(member.shape).width))
        return [
            {"name": name, "direction": direction, "width": width, "meaning": meanings[name]}
            for name, direction, width in found
        ]

    def synthesize(
        self,
        target: str | Target,
        *,
        seeds: Sequence[int] = (1, 2, 3),
        mhz: float | None = None,
        liberty: Path | None = None,
        energy: Mapping[str, Any] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> SynthReport:
        """Synthesize for `target`, and place and route if supported; see `synth.synthesize`.

        `energy` are operands, as of `simulate`, whose energy to estimate; for standard cells.
        """
        from ..synth import synthesize

        return synthesize(self, target, seeds=seeds, mhz=mhz, liberty=liberty, energy=energy, progress=progress)

    @property
    def part_of(self) -> Callable[[str], str] | None:
        """Callable that returns the part of the design to which a netlist cell belongs; None if there is one part."""
        return None

    def _repr_html_(self) -> str:
        lines = [*self.choices, *(f"note: {note}" for note in self.notes)]
        if self.stages:
            return described(repr(self), *stage_table(self.stages, self.cells), lines)
        options = {} if self.hardware is None else self.hardware.facts
        rows = [("kind", self.kind), ("cells", self.cells), ("multiply-accumulates per cycle", self.macs_per_cycle)]
        return described(repr(self), ("", ""), [*rows, *options.items()], lines)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, cells={self.cells!r}, macs_per_cycle={self.macs_per_cycle})"
