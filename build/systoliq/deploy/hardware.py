"""Hardware of a session: what computes a network from integers to integers, with its figures.

`golden` computes with numpy, a simulator runs the Verilog, and any other name is the serial port of a board.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from systoliq.sim.choice import SimulatorChoice

from ..board.client import Client
from ..board.exchange_of import exchange_of
from ..board.linked import check_board
from ..board.port import BAUDS, Port
from ..design.network import NetworkDesign
from ..errors import InputError, meant
from ..inference.report import differing

__all__ = ["ON", "Hardware", "HardwareRun", "check_on", "open_hardware"]

ON = ("verilator", "icarus", "auto", "golden")
"""Where a network runs, if not on a board; "auto" is the simulator that ends a run sooner, its build included."""

_SHOWN = 10  # of the elements that differ

Array = npt.NDArray[Any]
Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class HardwareRun:
    """Result `y` of the network for some images, in ONNX's shape.

    `cycles` were simulated, from the first beat in to the last beat out; None if nothing counted them.
    `compared` is the number of integers compared with golden, `mismatches` of them differ, and `lines` describe the
    first of these and the violations of the protocol.
    """

    y: Array
    cycles: int | None = None
    compared: int = 0
    mismatches: int = 0
    lines: Sequence[str] = ()


class Hardware(Protocol):
    """Hardware that computes a network; `on` names it in reports."""

    on: str

    def run(self, images: Array) -> HardwareRun:
        """Return the result for the integers `images` [M, ...] of the network's input."""

    def close(self) -> None:
        """Release the port of a board; nothing else holds anything."""
        return


def open_hardware(
    design: NetworkDesign, on: str | Path, *, baud: int, stalls: float, seed: int, progress: Progress
) -> Hardware:
    """Return the hardware of `design` that `on` names: one of `ON`, or the serial port of a board.

    Raises InputError for another name, and LinkError for a board that does not answer or has another design.
    """
    check_on(on, baud)
    name = str(on)
    if name == "golden":
        return _Golden(design)
    if name in ON:
        return _Simulator(design, cast(SimulatorChoice, name), stalls, seed, progress)
    return _Board(design, Path(name), baud, progress)


def check_on(on: str | Path, baud: int) -> None:
    """Raise InputError if `on` cannot be where a network runs, or a port cannot have this `baud`."""
    name = str(on)
    if name in ON:
        return
    if "/" not in name and not Path(name).exists():
        raise InputError(f"on must be {', '.join(ON)} or the serial port of a board, not {name!r}{meant(name, ON)}")
    if baud not in BAUDS:
        raise InputError(f"baud must be one of {', '.join(map(str, BAUDS))}, not {baud}")


class _Golden(Hardware):
    """The golden model, which computes the same as the hardware; nothing is compared."""

    def __init__(self, design: NetworkDesign) -> None:
        self.on = "golden"
        self._network = design.network

    def run(self, images: Array) -> HardwareRun:
        golden = self._network.golden({self._network.inputs[0].name: images})
        return HardwareRun(y=golden[self._network.outputs[0].name])


class _Simulator(Hardware):
    """The Verilog in a simulator; its build is kept in the cache."""

    def __init__(
        self, design: NetworkDesign, simulator: SimulatorChoice, stalls: float, seed: int, progress: Progress
    ) -> None:
        self.on: str = simulator
        self._design, self._simulator, self._progress = design, simulator, progress
        self._stalls, self._seed = stalls, seed

    def run(self, images: Array) -> HardwareRun:
        found = self._design.simulate(
            inputs={self._design.network.inputs[0].name: images}, simulator=self._simulator, stalls=self._stalls,
            seed=self._seed, progress=self._progress,
        )  # fmt: skip
        report = found.report
        self.on = report["simulator"]
        return HardwareRun(
            y=found.y,
            cycles=report["cycles"],
            compared=report["outputs"],
            mismatches=report["mismatches"] + len(report["violations"]),
            lines=tuple(found.faults),
        )


class _Board(Hardware):
    """A board behind its serial line, which must have this design."""

    def __init__(self, design: NetworkDesign, port: Path, baud: int, progress: Progress) -> None:
        self.on = str(port)
        self._design, self._progress = design, progress
        self._open = contextlib.ExitStack()
        self._client = Client(self._open.enter_context(Port(port, baud)))
        try:
            check_board(design, self._client.identify())
        except BaseException:
            self.close()
            raise

    def run(self, images: Array) -> HardwareRun:
        exchange = exchange_of(self._design, inputs={self._design.network.inputs[0].name: images})
        answers = self._client.run(exchange.requests, exchange.answer_bytes, self._progress)
        outputs = dict(exchange.read(answers))
        (name,) = outputs
        y = np.asarray(outputs[name])
        mismatches = differing(y, exchange.expected[name])
        lines = exchange.differing(outputs)[:_SHOWN] if mismatches else ()
        return HardwareRun(y=y, compared=y.size, mismatches=mismatches, lines=lines)

    def close(self) -> None:
        self._open.close()
