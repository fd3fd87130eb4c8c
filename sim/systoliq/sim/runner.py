"""One helper over the simulators: Verilog in, a cached `Simulation` out, which runs cocotb test modules.

    simulation = build([Path("dense.v")], top="dense", simulator="verilator")
    results = simulation.run("systoliq.sim.bench", env={"WORK": "/somewhere"}, seed=1)

cocotb's own runner is not used: it makes every signal public, rebuilds Verilator's runtime for each design and gives
Icarus the wrong language generation (see `verilator` and `icarus`). The environment that it sets for a run is set here.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args
from xml.etree import ElementTree

import cocotb
import cocotb_tools.config

from . import icarus, verilator
from .cache import content_key, obtain, run_directory
from .ports import port_names
from .process import Reporter, SimulationError, tail
from .tools import require

__all__ = [
    "Failure",
    "Results",
    "Simulation",
    "SimulationError",
    "SimulatorName",
    "SimulatorWarning",
    "build",
]

SimulatorName = Literal["verilator", "icarus"]

_FORMAT = "1"  # of a cached build; changes whenever what a build folder holds does
_RECORD = "build.json"


class SimulatorWarning(UserWarning):
    """A simulator or compiler warned about the Verilog."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One cocotb test that failed, and what it said."""

    test: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Results:
    """What one run gave. `seconds` is wall time, Python start included; `log` holds all that was printed."""

    tests: tuple[str, ...]  # those that ran
    failures: tuple[Failure, ...]
    seconds: float
    log: Path

    @property
    def passed(self) -> bool:
        """Whether every test that ran passed (at least one ran, or there are no results)."""
        return not self.failures

    def check(self) -> Results:
        """Give these results back, or raise `SimulationError` with what the failed tests said."""
        if self.failures:
            said = "\n".join(f"{failure.test}: {failure.message}" for failure in self.failures)
            raise SimulationError(f"{len(self.failures)} of {len(self.tests)} tests failed (log: {self.log}):\n{said}")
        return self


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """A built design. `cached` tells whether no compiler had to be called; `warnings` are the tools' own words."""

    simulator: SimulatorName
    top: str
    folder: Path
    waves: bool
    warnings: tuple[str, ...]
    cached: bool

    def run(
        self,
        test_module: str,
        *,
        testcase: str | Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        waves: Path | None = None,
        seed: int = 0,
        python_path: Sequence[Path] = (),
        directory: Path | None = None,
        timeout: float | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Results:
        """Run a cocotb test module in a process of its own.

        Parameters
        ----------
        test_module
            dotted name, imported inside the simulator, which sees this process's `sys.path` after `python_path`.
        testcase
            names of the tests to run; all of them where it is None. A parametrized test is named `test/name=value`;
            its bare name stands for all its variants.
        env
            variables for the test module, on top of this process's own.
        waves
            file for the trace: `.vcd`, or `.fst` under Icarus. The simulation must have been built with waves.
        seed
            of Python's `random` in the test module, and of registers without an initial value under Verilator.
        directory
            where simulation.log and results.xml go, and the simulation's working directory; without it, a new folder
            in the cache that is removed after two days.
        timeout
            seconds after which the simulation is ended with a `SimulationError`.
        on_line
            called with each line that the simulation prints.

        Raises
        ------
        SimulationError
            where the run gave no results: a crash, a test module that cannot be imported, no such test case.
            Failed tests are results, not errors: see `Results.check`.
        """
        if waves is not None:
            self._check_waves(waves)
        if directory is None:
            directory = run_directory()
        directory = directory.absolute()
        directory.mkdir(parents=True, exist_ok=True)
        log, results = directory / "simulation.log", directory / "results.xml"
        results.unlink(missing_ok=True)
        variables = _environment(self, test_module, results, python_path, seed)
        if testcase is not None:
            names = [testcase] if isinstance(testcase, str) else list(testcase)
            variables["COCOTB_TEST_FILTER"] = rf"\.({'|'.join(map(re.escape, names))})(/.*)?$"
        variables.update(env or {})

        started = time.monotonic()
        status = _execute(self._command(waves, seed), variables, directory, log, timeout, on_line)
        seconds = time.monotonic() - started

        if not results.is_file():
            raise SimulationError(_without_results(self, test_module, status, log))
        tests, failures = _read_results(results)
        if not tests:
            raise SimulationError(f"no test ran in {test_module}{_named(testcase)}; its log, {log}, ends:\n{_end(log)}")
        if status != 0 and not failures:
            raise SimulationError(
                f"the {self.simulator} simulation of {self.top} ended with {_status(status)} though its tests passed; "
                f"its log, {log}, ends:\n{_end(log)}"
            )
        return Results(tests=tests, failures=failures, seconds=seconds, log=log)

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


def build(
    sources: Sequence[Path] | str,
    top: str,
    simulator: SimulatorName = "verilator",
    *,
    waves: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Simulation:
    """Build a design for a simulator, or take it from the cache.

    Only the top's ports can be read and written under Verilator; `sources` must not use `` `include ``.

    Parameters
    ----------
    sources
        Verilog files, or the Verilog itself.
    top
        name of the module to simulate.
    waves
        whether runs can record a trace; costs speed under Verilator.
    progress
        called with the name of each stage that takes time.

    Raises
    ------
    ToolError
        where the simulator or the compiler is missing; says what brings it.
    SimulationError
        where the simulator or the compiler refuses the design; says what they said.
    """
    if simulator not in get_args(SimulatorName):
        raise ValueError(f"simulator must be one of {', '.join(get_args(SimulatorName))}, not {simulator!r}")
    texts = _texts(sources)
    every = "\n".join(text for _, text in texts)
    if re.search(r"^\s*`include\b", every, re.MULTILINE):
        raise ValueError("sources must hold all of the design, not `include parts of it")
    ports = port_names(every, top)
    identity = verilator.identity() if simulator == "verilator" else icarus.identity()
    key = content_key(
        _FORMAT, simulator, *identity, cocotb.__version__, top, str(waves), *(part for text in texts for part in text)
    )
    report = Reporter(progress)

    def make(folder: Path) -> None:
        files = [folder / f"{top}.v"] if isinstance(sources, str) else [Path(source).absolute() for source in sources]
        if isinstance(sources, str):
            files[0].write_text(sources)
        if simulator == "verilator":
            verilator.build(folder, files, top, ports, waves, report)
        else:
            icarus.build(folder, files, top, waves, report)
        said = [message.replace(f"{folder}{os.sep}", "") for message in report.messages]
        (folder / _RECORD).write_text(json.dumps({"top": top, "simulator": simulator, "warnings": said}, indent=2))

    folder, cached = obtain("simulations", key, make)
    said = tuple(json.loads((folder / _RECORD).read_text())["warnings"])
    for message in said:
        warnings.warn(f"{simulator}, building {top}: {message}", SimulatorWarning, stacklevel=2)
    return Simulation(simulator=simulator, top=top, folder=folder, waves=waves, warnings=said, cached=cached)


def _texts(sources: Sequence[Path] | str) -> list[tuple[str, str]]:
    """Suffix and text of each source."""
    if isinstance(sources, str):
        return [(".v", sources)]
    if not sources:
        raise ValueError("sources must hold at least one file")
    return [(Path(source).suffix, Path(source).read_text()) for source in sources]


def _environment(
    simulation: Simulation, test_module: str, results: Path, python_path: Sequence[Path], seed: int
) -> dict[str, str]:
    """Set what cocotb reads; the names are those of `cocotb-config --help-vars`."""
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
        "PYTHONPATH": os.pathsep.join([*(str(Path(path).absolute()) for path in python_path), *_import_path()]),
    }
    variables.setdefault("COCOTB_ANSI_OUTPUT", "0")  # the log is a file
    if simulation.simulator == "verilator":
        variables.setdefault("COCOTB_TRUST_INERTIAL_WRITES", "1")  # as cocotb's runner does
    return variables


def _import_path() -> list[str]:
    return [str(Path(entry or ".").absolute()) for entry in sys.path]


def _execute(
    command: Sequence[str],
    variables: Mapping[str, str],
    directory: Path,
    log: Path,
    timeout: float | None,
    on_line: Callable[[str], None] | None,
) -> int:
    """Run a simulation to its end, its output going to the log; give its exit status."""
    with (
        log.open("w", encoding="utf-8") as file,
        subprocess.Popen(  # what build() made
            command,
            cwd=directory,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None  # noqa: S101 - stdout=PIPE
        try:
            with _ended_after(process, timeout) as late:
                for line in process.stdout:
                    file.write(line)
                    if on_line is not None:
                        on_line(line.rstrip("\n"))
                status = process.wait()
        except BaseException:  # an interrupt, or on_line's own: no simulation is left running
            process.kill()
            raise
    if late.is_set():
        raise SimulationError(f"the simulation took more than {timeout:g} s; its log, {log}, ends:\n{_end(log)}")
    return status


@contextlib.contextmanager
def _ended_after(process: subprocess.Popen[str], timeout: float | None) -> Iterator[threading.Event]:
    late = threading.Event()
    if timeout is None:
        yield late
        return

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(timeout, end)
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def _read_results(path: Path) -> tuple[tuple[str, ...], tuple[Failure, ...]]:
    """Read cocotb's xUnit file; skipped tests did not run."""
    tests, failures = [], []
    for case in ElementTree.parse(path).iter("testcase"):  # written by the simulation just run
        if case.find("skipped") is not None:
            continue
        name = f"{case.get('classname')}.{case.get('name')}"
        tests.append(name)
        for kind in ("failure", "error"):
            for element in case.iter(kind):
                message = element.get("error_msg") or element.get("message") or (element.text or "").strip()
                failures.append(Failure(test=name, message=message or kind))
    return tuple(tests), tuple(failures)


def _without_results(simulation: Simulation, test_module: str, status: int, log: Path) -> str:
    return (
        f"the {simulation.simulator} simulation of {simulation.top} gave no results for {test_module} and ended with "
        f"{_status(status)}; its log, {log}, ends:\n{_end(log)}"
    )


def _status(status: int) -> str:
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-status).name}"
    return f"exit status {status}"


def _named(testcase: str | Sequence[str] | None) -> str:
    return "" if testcase is None else f" for testcase {testcase!r}"


def _end(log: Path) -> str:
    return tail(log.read_text(encoding="utf-8", errors="replace"))
