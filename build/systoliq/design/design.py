"""The hub: a named piece of hardware with all that is known about it.

Each kind of design (`layer`, `array`, `engine`) is a folder with a class derived from `Design`. Commands, packages,
synthesis and exploration know `Design` alone, and never ask which kind it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt
from amaranth.hdl import Shape
from amaranth.lib import wiring

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network
from systoliq.hw.cells import models_verilog
from systoliq.hw.engine import EngineConfig
from systoliq.hw.verilog import Verilog, emit_verilog

from ..errors import InputError, expect, path_of
from .exchange import Exchange
from .simulated import Simulated

if TYPE_CHECKING:
    from ..synth import SynthReport, Target
    from .hardware import Hardware

__all__ = ["Arrays", "Design", "File"]

Arrays = dict[str, npt.NDArray[Any]]
"""Operands by name, as `numpy.load` gives them from an .npz archive."""

File = tuple[str, bytes]
"""A file of a package: its description, and its content."""

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


class Design:
    """A component as the Verilog module `name`: `top`, its bit-exact `model`, its `cycles`, and what follows from them.

    ``Design(layer, hardware)`` is a `LayerDesign`, ``Design(network, hardware)`` a `NetworkDesign`, and
    ``Design(config)`` of an `EngineConfig` an `EngineDesign`.
    """

    kind: ClassVar[str]
    meanings: ClassVar[Mapping[str, str]]
    """What those ports mean that other kinds do not have, or mean otherwise."""

    name: str

    def __new__(cls, *arguments: object, **options: object) -> Design:
        """As `pathlib.Path` does: the base class stands for the kind that is asked for."""
        if cls is not Design:
            return object.__new__(cls)
        subject = next(iter((*arguments, *(options[name] for name in ("layer", "network") if name in options))), None)
        return object.__new__(_kind_of(subject))

    if TYPE_CHECKING:

        def __init__(self, *arguments: Any, **options: Any) -> None: ...

    # What each kind has of its own.

    @property
    def top(self) -> wiring.Component:
        """The component with AXI ports, from which the Verilog comes."""
        raise NotImplementedError

    @property
    def cells(self) -> str:
        """The cells that multiply and accumulate: see `systoliq.hw.cells`."""
        raise NotImplementedError

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates that it does in a cycle."""
        raise NotImplementedError

    @property
    def choices(self) -> Sequence[str]:
        """What was left to systoliq and what it chose, a line each."""
        return ()

    @property
    def stages(self) -> Sequence[Mapping[str, Any]]:
        """What each stage of a pipeline is planned to be, ready for JSON; empty for designs of one part."""
        return ()

    @property
    def notes(self) -> Sequence[str]:
        """Warnings for the user, one per line."""
        return self.odd_scales

    @property
    def odd_scales(self) -> Sequence[str]:
        """Those of the warnings that name scales that are 0, negative, infinite or NaN."""
        return ()

    @property
    def hardware(self) -> Hardware | None:
        """What was asked for, as far as it is not chosen: enough to make the same again. None where no command can."""
        return None

    @property
    def certified(self) -> bool:
        """Whether its package holds a certificate of exactness."""
        return False

    @property
    def explored(self) -> object:
        """What `systoliq.explore.explore` explores for it: layer, network, or engine's configuration."""
        raise InputError(f"source must be a layer, a network or an engine to be explored, not {self.kind}")

    def model(self, *operands: Any, **more: Any) -> npt.NDArray[Any]:
        """What the hardware answers, bit for bit."""
        raise NotImplementedError

    def cycles(self, *shape: Any, **more: Any) -> int:
        """Cycles from the first beat in to the last beat out, both included, without stalls."""
        raise NotImplementedError

    def read_operands(self, path: Path, *, quantize: bool = False) -> Arrays:
        """Checked operands for `model` and `simulate`, by name, from an .npz archive; others in it are left alone.

        With `quantize` they are real numbers, which the layer's scale and zero point make integers.
        """
        raise NotImplementedError

    def onnxruntime(self, **operands: npt.NDArray[Any]) -> Arrays:
        """Return what onnxruntime answers, under the names of `Simulated.outputs`. Raises InputError where this kind of
        design has no node of its own.
        """
        raise InputError(f"compare cannot be used with the source {self.kind}: only a layer is a node of onnxruntime")

    def onnxruntime_exact(self, **operands: npt.NDArray[Any]) -> Arrays:
        """Return the same by kernels that do not saturate; see `systoliq.onnx.unsaturated`."""
        return self.onnxruntime(**operands)

    def simulate(self, *operands: Any, **options: Any) -> Simulated:
        """Run the Verilog on operands and compare every output with golden's.

        Parameters
        ----------
        simulator
            "verilator" or "icarus".
        stalls, seed
            probability of a pause in a cycle, on either side, and where the pauses come from.
        waves
            a file for a trace: .vcd, or .fst under Icarus.
        netlist
            a family of `systoliq.synth.NETLISTS`: run what synthesis for it makes, with models of its cells.
        progress
            called with the name of each stage that takes time.
        """
        raise NotImplementedError

    @property
    def unit_beats(self) -> int:
        """Beats of A of the smallest unit that it takes by itself: what one frame of a link carries."""
        raise InputError(f"SOURCE must be a layer or a network where a board is meant, not {self.kind}")

    def exchange(self, **operands: Any) -> Exchange:
        """What to send it behind a link for these operands, and what it must answer; see `Exchange`."""
        raise InputError(f"SOURCE must be a layer or a network where a board is meant, not {self.kind}")

    def describe(self) -> dict[str, Any]:
        """What the sidecar says of it beyond its ports: packing, latency, cycle model, parameters. Ready for JSON."""
        raise NotImplementedError

    def testbench(self) -> str:
        """Plain Verilog of a module `<name>_tb` that checks itself."""
        raise NotImplementedError

    def files(self) -> dict[str, File]:
        """Files of its package beyond Verilog, models, testbench, waivers and sidecar."""
        raise NotImplementedError

    def certify(self, files: Mapping[str, bytes]) -> dict[str, Any]:
        """What its certificate claims, given the other files of its package; nothing where it is not `certified`."""
        return {}

    # What all have.

    @cached_property
    def verilog(self) -> Verilog:
        """Verilog-2005 text, and the contents of its large memories as the files that it reads."""
        return emit_verilog(self.top, self.name)

    @property
    def models(self) -> str:
        """Verilog of the simulation models of its vendor cells; empty where it has none."""
        return models_verilog(self.cells)

    def netlist(self, family: str, top: str, progress: Callable[[str], None] | None = None) -> str:
        """Verilog of what synthesis for `family` makes of it, as module `top`, with models of all its cells."""
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
        progress: Callable[[str], None] | None = None,
    ) -> SynthReport:
        """Cells, and where there is place and route the frequency, on `target`; see `synth.synthesize`."""
        from ..synth import synthesize

        return synthesize(
            self.verilog, self.name, target, seeds=seeds, macs_per_cycle=self.macs_per_cycle, cells=self.cells, mhz=mhz,
            liberty=liberty, part_of=self.part_of, progress=progress,
        )  # fmt: skip

    @property
    def part_of(self) -> Callable[[str], str] | None:
        """Names the part of the design that a cell of its netlist belongs to; None for a design of one part."""
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, cells={self.cells!r}, macs_per_cycle={self.macs_per_cycle})"

    def write(self, directory: Path | str, *, replace: bool = False) -> Path:
        """Write its package into `directory`, whole or not at all, and return that directory as a Path: a new one, an
        empty one, or one that holds this package already.

        With `replace` it may also hold another package of systoliq's, which is removed.
        """
        from ..package import make_package

        directory = path_of("directory", directory)
        return make_package(self).write(directory, replace=replace)


def _kind_of(subject: object) -> type[Design]:
    """The class of designs that ``Design(subject)`` stands for."""
    from .engine import EngineDesign
    from .layer import LayerDesign
    from .network import NetworkDesign

    kinds: dict[type, type[Design]] = {MatMulLayer: LayerDesign, Network: NetworkDesign, EngineConfig: EngineDesign}
    expect("the first argument of Design", subject, *kinds)
    return next(design for kind, design in kinds.items() if isinstance(subject, kind))
