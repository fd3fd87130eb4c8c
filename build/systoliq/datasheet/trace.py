"""Trace of a package's ports: its own testbench under Icarus, cycle by cycle, up to the first results."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from systoliq.sim.process import SimulationError, limited, tail
from systoliq.sim.tools import require
from systoliq.subprocesses import run_child

from ..package.forms.block import Block, Interface, Port
from ..signoff.files import PackageFiles

__all__ = ["Trace", "traced"]

_MODULE = "systoliq_trace"
_MARK = "TRACE"
_AFTER = 12  # cycles after the first result
_MOST_CYCLES = 1_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """The values of `ports` just before each rising edge of the clock, as unsigned numbers; None where a bit is X or Z.

    The first cycle is the first of the simulation, which begins with a reset.
    """

    ports: tuple[Port, ...]
    streams: tuple[Interface, ...]
    reset: str
    values: Mapping[str, Sequence[int | None]]

    @cached_property
    def cycles(self) -> int:
        """Number of cycles."""
        return len(self.values[self.reset])

    @cached_property
    def released(self) -> int:
        """The first cycle without reset."""
        return next(cycle for cycle, value in enumerate(self.values[self.reset]) if value == 0)

    def taken(self, stream: Interface) -> list[int]:
        """Return the cycles after reset in which a beat of `stream` is taken."""
        valid, ready = (self.values[stream.signals[signal].name] for signal in ("TVALID", "TREADY"))
        return [cycle for cycle in range(self.released, self.cycles) if valid[cycle] and ready[cycle]]

    @property
    def first_result(self) -> int | None:
        """The first cycle after reset that offers a result; None if the trace ends before."""
        offers = [self.values[name] for name in _offers(self.ports, self.streams)]
        cycles = range(self.released, self.cycles)
        return next((cycle for cycle in cycles if any(each[cycle] for each in offers)), None)


def traced(files: PackageFiles, seconds: float) -> Trace:
    """Run the testbench of the package `files` under Icarus until its first results.

    Raises
    ------
    ToolError
        if Icarus is missing.
    SimulationError
        if the testbench gives no result within `seconds` of processor time.
    ValueError
        if the block has no streams.
    """
    block = Block(files.sidecar)
    streams = tuple(each for each in block.interfaces if each.protocol == "axi4-stream")
    ports = _ports(block, streams)
    if not streams:
        raise ValueError("the block has no streams: its operands are in memory")
    icarus = require("icarus").path
    assert icarus is not None  # noqa: S101 - require() has seen to it
    with tempfile.TemporaryDirectory(prefix="systoliq-datasheet-") as place:
        folder = Path(place)
        sources = files.copied(folder, files.verilog.read_text())
        probe = folder / f"{_MODULE}.v"
        probe.write_text(_probe(f"{files.bench}.dut", block, ports, _offers(ports, streams)))
        names = [each.name for each in (*sources, probe)]
        command = [str(icarus), "-g2005", "-s", files.bench, "-s", _MODULE, "-o", "t", *names]
        done = run_child(command, cwd=folder, stderr=subprocess.STDOUT)
        if done.returncode:
            raise SimulationError(f"Icarus does not compile it: {tail(done.stdout, 3)}")
        command = limited([str(icarus.with_name("vvp")), "-n", "t"], seconds)
        done = run_child(command, cwd=folder, stderr=subprocess.STDOUT)
    rows = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith(f"{_MARK} ")]
    columns = [[_number(row[place]) for row in rows] for place in range(len(ports))]
    values = {port.name: column for port, column in zip(ports, columns, strict=True)}
    if not rows or not any(value == 0 for value in values[block.reset]):
        raise SimulationError(f"the testbench ended before its reset: {tail(done.stdout, 1)}")
    found = Trace(ports=ports, streams=streams, reset=block.reset, values=values)
    if found.first_result is None:
        raise SimulationError(f"no result within {seconds:g} s of processor time ({found.cycles} cycles)")
    return found


def _ports(block: Block, streams: Sequence[Interface]) -> tuple[Port, ...]:
    """Reset, streams, and outputs that belong to no bus."""
    of_buses = {port.name for each in block.interfaces for port in each.signals.values()}
    of_streams = {port.name for each in streams for port in each.signals.values()}
    return tuple(
        port
        for port in block.ports
        if port.name == block.reset
        or port.name in of_streams
        or (port.direction == "output" and port.name not in of_buses)
    )


def _offers(ports: Sequence[Port], streams: Sequence[Interface]) -> list[str]:
    """Names of the ports that are not 0 while a result is offered: those of sums, else of streams of results."""
    results = [each.signals["TVALID"].name for each in streams if each.role == "master"]
    return results or [port.name for port in ports if port.name.endswith("_valid")]


def _probe(instance: str, block: Block, ports: Sequence[Port], offers: Sequence[str]) -> str:
    """A module beside the testbench that prints the `ports` of `instance` at each rising edge."""
    clock, reset = f"{instance}.{block.clock}", f"{instance}.{block.reset}"
    form = " ".join(["%h"] * len(ports))
    values = ", ".join(f"{instance}.{port.name}" for port in ports)
    offered = " || ".join(f"{instance}.{name} != 0" for name in offers)
    return f"""module {_MODULE};
  integer left = {_MOST_CYCLES};
  reg offered = 1'b0;
  always @(posedge {clock}) begin
    $display("{_MARK} {form}", {values});
    left = left - 1;
    if (!offered && {reset} === 1'b0 && ({offered})) begin
      offered = 1'b1;
      left = {_AFTER};
    end
    if (left == 0) $finish;
  end
endmodule
"""


def _number(text: str) -> int | None:
    try:
        return int(text, 16)
    except ValueError:
        return None
