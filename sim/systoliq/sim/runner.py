"""The runner for both simulators: takes Verilog, returns a cached `Simulation` that runs cocotb test modules.

    simulation = build([Path("dense.v")], top="dense", simulator="verilator")
    results = simulation.run("systoliq.sim.bench", env={"WORK": "/somewhere"}, seed=1)

cocotb's own runner is not used: it makes every signal public, rebuilds Verilator's runtime for each design and selects
the wrong language generation for Icarus (see `verilator` and `icarus`). `simulation` sets the environment that cocotb's
runner would set for a run.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import get_args

from . import icarus, verilator
from .cache import content_key, obtain
from .ports import port_names
from .process import Reporter
from .simulation import MEMORIES, Simulation, SimulatorName

__all__ = ["Simulation", "SimulatorName", "SimulatorWarning", "build"]

_FORMAT = "1"  # version of a cached build; changes whenever the contents of a build folder do
_RECORD = "build.json"
_MEMORY = re.compile(r'\$readmemh\("([^"/]+)"')


class SimulatorWarning(UserWarning):
    """A simulator or compiler warned about the Verilog."""


def build(
    sources: Sequence[Path] | str,
    top: str,
    simulator: SimulatorName = "verilator",
    *,
    waves: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Simulation:
    """Build a design for a simulator, or take it from the cache.

    Under Verilator, only the top's ports can be read and written. `sources` must not use `` `include ``.

    Parameters
    ----------
    sources
        Verilog files, or Verilog text. Files that they read by ``$readmemh`` must be next to the Verilog files, or part
        of a `systoliq.hw.verilog.Verilog`.
    top
        name of the module to simulate.
    waves
        whether runs can record a trace; slows Verilator down.
    progress
        called with the name of each stage that takes time.

    Raises
    ------
    ToolError
        if the simulator or the compiler is missing; the message says how to install it.
    SimulationError
        if the simulator or the compiler rejects the design; the message has their output.
    """
    if simulator not in get_args(SimulatorName):
        raise ValueError(f"simulator must be one of {', '.join(get_args(SimulatorName))}, not {simulator!r}")
    texts = _texts(sources)
    every = "\n".join(text for _, text in texts)
    if re.search(r"^\s*`include\b", every, re.MULTILINE):
        raise ValueError("sources must hold all of the design, not `include parts of it")
    ports = port_names(every, top)
    identity = verilator.identity() if simulator == "verilator" else icarus.identity()
    memories = _memories_of(sources) if isinstance(sources, str) else _memories_beside(sources)
    files: list[tuple[str, str | bytes]] = [*texts, *sorted(memories.items())]
    parts = [part for file in files for part in file]
    key = content_key(_FORMAT, simulator, *identity, version("cocotb"), top, str(waves), *parts)
    report = Reporter(progress)

    def make(folder: Path) -> None:
        paths = _put(folder, sources, top, memories)
        if simulator == "verilator":
            verilator.build(folder, paths, top, ports, waves, report)
        else:
            icarus.build(folder, paths, top, waves, report)
        said = [message.replace(f"{folder}{os.sep}", "") for message in report.messages]
        (folder / _RECORD).write_text(json.dumps({"top": top, "simulator": simulator, "warnings": said}, indent=2))

    folder, cached = obtain("simulations", key, make)
    said = tuple(json.loads((folder / _RECORD).read_text())["warnings"])
    for message in said:
        warnings.warn(f"{simulator}, building {top}: {message}", SimulatorWarning, stacklevel=2)
    return Simulation(simulator=simulator, top=top, folder=folder, waves=waves, warnings=said, cached=cached)


def _put(folder: Path, sources: Sequence[Path] | str, top: str, memories: Mapping[str, bytes]) -> list[Path]:
    """Write the Verilog files to build, and the files that they read, into the build in `folder`."""
    if memories:
        (folder / MEMORIES).mkdir()
    for name, content in memories.items():
        (folder / MEMORIES / name).write_bytes(content)
    if not isinstance(sources, str):
        return [Path(source).absolute() for source in sources]
    file = folder / f"{top}.v"
    file.write_text(sources)
    return [file]


def _texts(sources: Sequence[Path] | str) -> list[tuple[str, str]]:
    """Suffix and text of each source."""
    if isinstance(sources, str):
        return [(".v", sources)]
    if not sources:
        raise ValueError("sources must hold at least one file")
    return [(Path(source).suffix, Path(source).read_text()) for source in sources]


def _memories_of(text: str) -> Mapping[str, bytes]:
    from systoliq.hw.verilog import files_of  # not above: benches import this module, and need no hardware

    return files_of(text)


def _memories_beside(sources: Sequence[Path]) -> dict[str, bytes]:
    """Names and contents of the files that these sources read."""
    return {
        name: file.read_bytes()
        for source in map(Path, sources)
        for name in _MEMORY.findall(source.read_text())
        if (file := source.with_name(name)).is_file()
    }
