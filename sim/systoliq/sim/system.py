"""A whole system under Verilator: its Verilog testbench unchanged, and the output of its UART.

The testbench prints the bytes of the UART. It ends at the byte 4, when the processor gives up, or after a limit of
cycles. A file has the initial content of the memory and is read when the simulation starts, so one build serves all
programs.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from . import verilator
from .cache import content_key, obtain, run_directory
from .execution import end_of, execute
from .process import Reporter, SimulationError

__all__ = ["SystemRun", "SystemSimulation"]

_FORMAT = "1"  # version of the cached content
_LIMIT = 500_000_000
_ENDED = "ended after "  # the testbench's last line; simulators may say more behind it

_MAIN = """\
#include "Vtop.h"
#include "verilated.h"

int main(int argc, char** argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vtop top(&context);
  while (!context.gotFinish()) {
    top.eval();
    if (!top.eventsPending()) break;
    context.time(top.nextTimeSlot());
  }
  top.final();
  return 0;
}
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SystemRun:
    """Results of a run: the lines that the UART sent, the clock cycles, and the seconds that it took."""

    lines: tuple[str, ...]
    cycles: int
    seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class SystemSimulation:
    """A built simulation of a system and its testbench."""

    executable: Path

    @classmethod
    def build(
        cls, sources: Mapping[str, str], top: str, progress: Callable[[str], None] | None = None
    ) -> SystemSimulation:
        """Build the Verilog `sources`, by name, with the testbench `top`, or take them from the cache.

        Raises ToolError where Verilator or a compiler is missing, SimulationError where they refuse.
        """
        report = Reporter(progress)
        files = sorted(sources.items())
        key = content_key(_FORMAT, *verilator.identity(), top, _MAIN, *(part for file in files for part in file))

        def make(folder: Path) -> None:
            main, paths = folder / "main.cpp", [folder / name for name, _ in files]
            main.write_text(_MAIN)
            for path, (_, text) in zip(paths, files, strict=True):
                path.write_text(text)
            options = ["--timing", "--timescale", "1ns/1ps"]
            verilator.make_executable(
                folder / verilator.EXECUTABLE,
                paths,
                top,
                main=main,
                optimization=verilator.BENCH_FLAGS,
                options=options,
                report=report,
            )

        folder, _ = obtain("systems", key, make)
        return cls(executable=folder / verilator.EXECUTABLE)

    def run(
        self,
        memories: Mapping[str, bytes],
        *,
        stalls: float = 0.0,
        seed: int = 0,
        limit: int = _LIMIT,
        timeout: float | None = None,
        directory: Path | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> SystemRun:
        """Run a program to its end.

        Parameters
        ----------
        memories
            files that the Verilog reads, by name.
        stalls
            probability that a channel of the bus waits in a cycle, where the system is a throttled one.
        limit
            cycles after which it has failed; so it has after `timeout` seconds.

        Raises
        ------
        SimulationError
            where the program did not come to its end.
        """
        folder = directory or run_directory()
        for name, content in memories.items():
            (folder / name).write_bytes(content)
        command = [str(self.executable), f"+rate={round(256 * stalls)}", f"+seed={seed}", f"+limit={limit}"]
        command += ["+verilator+rand+reset+2", f"+verilator+seed+{seed % 0x7FFFFFFE + 1}"]
        log, started = folder / "simulation.log", time.monotonic()
        lines: list[str] = []

        def keep(line: str) -> None:
            lines.append(line)
            if on_line is not None and not any(each.startswith(_ENDED) for each in lines):
                on_line(line)

        status = execute(command, os.environ, folder, log, timeout, keep)
        ends = [index for index, line in enumerate(lines) if line.startswith(_ENDED)]
        if status or not ends:
            raise SimulationError(f"the system did not come to its end; its log, {log}, ends:\n{end_of(log)}")
        cycles = int(lines[ends[-1]].removeprefix(_ENDED).split()[0])
        return SystemRun(lines=tuple(lines[: ends[-1]]), cycles=cycles, seconds=time.monotonic() - started)
