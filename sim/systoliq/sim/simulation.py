"""A built simulation, which runs cocotb test modules, each in its own process.

`cocotb-config --help-vars` lists the variables that it sets for cocotb.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import cocotb_tools.config

from . import icarus, verilator
from .cache import run_directory
from .execution import end_of, execute
from .process import SimulationError
from .results import Failure, Results, read_results
from .tools import require

__all__ = ["MEMORIES", "Simulation", "SimulatorName"]

MEMORIES = "memories"
"""Folder of a build with the contents of memories: simulators look for them where they run."""

SimulatorName = Literal["verilator", "icarus"]

_WITHOUT_PYTEST = Path(__file__).parent / "without_pytest"


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """A built design. `cached` is whether no compiler was needed; `warnings` is the output of the tools."""

    simulator: SimulatorName
    top: str
    folder: Path
    waves: bool
    warnings: tuple[str, ...]
    cached: bool

    def run(
        self,
        test_module: str | Path,
        *,
        testcase: str | Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        waves: Path | None = None,
        seed: int = 0,
        directory: Path | None = None,
        timeout: float | None = None,
        pass_fds: Sequence[int] = (),
    ) -> Results:
        """Run a cocotb test module in a separate process.

        Parameters
        ----------
        test_module
            dotted name or file. The simulator sees this process's `sys.path`, and the folder of a file before it.
        testcase
            names of the tests to run; default: all. A parametrized test is named `test/name=value`; the bare name
            selects all variants.
        env
            variables for the test module, in addition to this process's environment.
        waves
            file for the trace: `.vcd`, or `.fst` under Icarus. The simulation must have been built with waves.
        seed
            of Python's `random` in the test module, and of registers without an initial value under Verilator.
        directory
            where simulation.log and results.xml go, and the simulation's working directory; without it, a new folder
            in the cache that is removed after two days.
        timeout
            seconds after which the simulation is ended with a `SimulationError`.
        pass_fds
            open files of this process that the test module sees under the same numbers.

        Raises
        ------
        SimulationError
            if the run gave no results: a crash, a test module that cannot be imported, no such test case.
            Failed tests are results, not errors: see `Results.check`.
        """
        if waves is not None:
            self._check_waves(waves)
        module, folders = (
            (test_module.stem, [test_module.parent]) if isinstance(test_module, Path) else (test_module, [])
        )
        directory = (directory or run_directory()).absolute()
        directory.mkdir(parents=True, exist_ok=True)
        log, results = directory / "simulation.log", directory / "results.xml"
        results.unlink(missing_ok=True)
        self._bring_memories(directory)
        variables = _environment(self, module, results, folders, seed) | _filter(testcase) | dict(env or {})
        started = time.monotonic()
        status = execute(self._command(waves, seed), variables, directory, log, timeout, pass_fds=pass_fds)
        seconds = time.monotonic() - started

        tests, failures = self._results(results, module, testcase, status, log)
        return Results(tests=tests, failures=failures, seconds=seconds, log=log)

    def _bring_memories(self, directory: Path) -> None:
        """Put links to the memories' contents where the simulation runs."""
        for file in (self.folder / MEMORIES).glob("*"):
            link = directory / file.name
            link.unlink(missing_ok=True)
            link.symlink_to(file)

    def _results(
        self, results: Path, test_module: str, testcase: str | Sequence[str] | None, status: int, log: Path
    ) -> tuple[tuple[str, ...], tuple[Failure, ...]]:
        """The tests that ran and those that failed; or the error, if results are missing."""
        if not results.is_file():
            raise SimulationError(_without_results(self, test_module, status, log))
        tests, failures = read_results(results)
        if not tests:
            of = test_module + _named(testcase)
            raise SimulationError(f"no test ran in {of}; its log, {log}, ends:\n{end_of(log)}")
        if status != 0 and not failures:
            raise SimulationError(
                f"the {self.simulator} simulation of {self.top} ended with {_status(status)} though its tests passed; "
                f"its log, {log}, ends:\n{end_of(log)}"
            )
        return tests, failures

    def _check_waves(self, waves: Path) -> None:
        suffixes = (".vcd",) if self.simulator == "verilator" else (".vcd", ".fst")
        if not self.waves:
            raise ValueError("waves must be None for a simulation built without waves=True")
        if waves.suffix not in suffixes:
            raise ValueError(f"waves must end in {' or '.join(suffixes)} under {self.simulator}, not {waves.name!r}")
        waves.absolute().parent.mkdir(parents=True, exist_ok=True)

    def _command(self, waves: Path | None, seed: int) -> list[str]:
        if self.simulator == "verilator":
            command = [str(self.folder / verilator.EXECUTABLE)]
            # Registers without an initial value start random, as in silicon; Amaranth gives all of them one.
            command += ["+verilator+rand+reset+2", f"+verilator+seed+{seed % 0x7FFFFFFE + 1}"]
            if waves is not None:
                command += ["--trace", "--trace-file", str(waves.absolute())]
            return command
        vvp = require("icarus").path
        assert vvp is not None  # noqa: S101 - require() has seen to it
        library = cocotb_tools.config.lib_name_path("vpi", "icarus")
        command = [str(vvp.with_name("vvp")), "-n", "-m", str(library), str(self.folder / icarus.DESIGN)]
        if waves is None:
            return [*command, "-none"]
        return [*command, f"-{waves.suffix[1:]}", f"+waves={waves.absolute()}"]


def _environment(
    simulation: Simulation, test_module: str, results: Path, folders: Sequence[Path], seed: int
) -> dict[str, str]:
    """Set what cocotb reads."""
    foreign = ("COCOTB_TEST", "COCOTB_LIST_TESTS", "COCOTB_RANDOM", "GPI_USERS", "PYGPI_USERS", "PYTEST_")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    libpython = require("libpython").path
    variables |= {
        "COCOTB_TEST_MODULES": test_module,
        "COCOTB_TOPLEVEL": simulation.top,
        "COCOTB_RESULTS_FILE": str(results),
        "COCOTB_RANDOM_SEED": str(seed),
        "TOPLEVEL_LANG": "verilog",
        "GPI_USERS": f"{libpython};{cocotb_tools.config.pygpi_entry_point()}",
        "PYGPI_PYTHON_BIN": sys.executable,
        "PYTHONPATH": os.pathsep.join([*map(str, _before(test_module, folders)), *_import_path()]),
    }
    variables.setdefault("COCOTB_ANSI_OUTPUT", "0")  # the log is a file
    variables.setdefault("COCOTB_REWRITE_ASSERTION_FILES", _rewritten(test_module))
    if simulation.simulator == "verilator":
        variables.setdefault("COCOTB_TRUST_INERTIAL_WRITES", "1")  # as cocotb's runner does
    return variables


def _before(test_module: str, folders: Sequence[Path]) -> list[Path]:
    """The folders that the simulator looks in first; for our benches the one with a stand-in for pytest."""
    return [_WITHOUT_PYTEST] if _is_ours(test_module) else [folder.absolute() for folder in folders]


def _is_ours(test_module: str) -> bool:
    return test_module.startswith("systoliq.")


def _rewritten(test_module: str) -> str:
    """The files whose asserts pytest rewrites: a test module's own, and none for our benches.

    Without a word cocotb has it rewrite every module that the simulator imports, numpy's too: two seconds of each run.
    """
    return "" if _is_ours(test_module) else f"{test_module.rpartition('.')[2]}.py"


def _filter(testcase: str | Sequence[str] | None) -> dict[str, str]:
    if testcase is None:
        return {}
    names = [testcase] if isinstance(testcase, str) else list(testcase)
    return {"COCOTB_TEST_FILTER": rf"\.({'|'.join(map(re.escape, names))})(/.*)?$"}


def _import_path() -> list[str]:
    return [str(Path(entry or ".").absolute()) for entry in sys.path]


def _without_results(simulation: Simulation, test_module: str, status: int, log: Path) -> str:
    return (
        f"the {simulation.simulator} simulation of {simulation.top} gave no results for {test_module} and ended with "
        f"{_status(status)}; its log, {log}, ends:\n{end_of(log)}"
    )


def _status(status: int) -> str:
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-status).name}"
    return f"exit status {status}"


def _named(testcase: str | Sequence[str] | None) -> str:
    return "" if testcase is None else f" for testcase {testcase!r}"
