"""Trace of a package's ports: its own testbench under Icarus, cycle by cycle, up to the first results."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from systoliq.sim.process import SimulationError, limited, tail
from systoliq.subprocesses import run_child

from ..package.forms.block import Block, Interface, Port
from ..signoff.files import PackageFiles
from ..signoff.icarus import compiled

__all__ = ["Trace", "offers", "traced"]

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
    def senders(self) -> list[Interface]:
        """The streams of operands."""
        return [stream for stream in self.streams if stream.role == "slave"]

    @cached_property
    def first_operand(self) -> int:
        """The first cycle in which a beat of operands is taken."""
        return min(taken[0] for stream in self.senders if (taken := self.taken(stream)))

    @cached_property
    def first_result(self) -> int:
        """The first cycle after reset that offers a result."""
        return self.results[0]

    @cached_property
    def results(self) -> list[int]:
        """The cycles after reset that offer a result."""
        offered = [self.values[name] for name in offers(self.ports, self.streams)]
        return [cycle for cycle in range(self.released, self.cycles) if any(each[cycle] for each in offered)]


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
    probe = _probe(f"{files.bench}.dut", block, ports, offers(ports, streams))
    with compiled(files, files.verilog.read_text(), {_MODULE: probe}) as (folder, command):
        done = run_child(limited(command, seconds), cwd=folder, stderr=subprocess.STDOUT)
    rows = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith(f"{_MARK} ")]
    columns = [[_number(row[place]) for row in rows] for place in range(len(ports))]
    values = {port.name: column for port, column in zip(ports, columns, strict=True)}
    if not rows or not any(value == 0 for value in values[block.reset]):
        raise SimulationError(f"the testbench ended before its reset: {tail(done.stdout, 1)}")
    found = Trace(ports=ports, streams=streams, reset=block.reset, values=values)
    if not found.results:
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


def offers(ports: Sequence[Port], streams: Sequence[Interface]) -> list[str]:
    """Names of the ports that are not 0 while a result is offered: of streams of results, else of sums."""
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
