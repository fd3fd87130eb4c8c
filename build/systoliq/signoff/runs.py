"""Runs of a package's own testbench: under Icarus as it is, and under both simulators without initial values."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from systoliq.sim import verilator
from systoliq.sim.cache import content_key, obtain
from systoliq.sim.process import Reporter, SimulationError, limited, tail
from systoliq.sim.tools import ToolError
from systoliq.subprocesses import run_child

from .coverage import GOALS, TITLES, Coverage, read_coverage
from .events import monitor, streams
from .files import PackageFiles
from .icarus import compiled
from .power_up import without_initial_values
from .row import FAILED, NOT_RUN, PASSED, Row

__all__ = ["SEEDS", "icarus_rows", "under_icarus", "verilator_rows"]

SEEDS = (1, 2, 3)
"""Seeds of random values at power-up."""

_FORMAT = "1"  # of the cached executables
_EVENTS = "systoliq_signoff_events.sv"
_COVERAGE = ("--timing", "--coverage-line", "--coverage-toggle", "--coverage-expr", "--coverage-user")
_MOST_NOTES = 40  # points without a hit that are listed, of each kind
_MAIN = """\
#include "Vtop.h"
#include "verilated.h"
#include "verilated_cov.h"

int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vtop top{&context};
    while (!context.gotFinish()) {
        top.eval();
        if (!top.eventsPending()) break;
        context.time(top.nextTimeSlot());
    }
    top.final();
    context.coveragep()->write("coverage.dat");
}
"""


def icarus_rows(files: PackageFiles, seconds: float, detail: Callable[[str], None]) -> list[Row]:
    """The testbench under Icarus: the Verilog as it is, then with X in every register until reset."""
    text = files.verilog.read_text()
    rows = []
    for item, question, stripped in (
        ("SIM_ALL_TESTS_PASSING", "the testbench passes (Icarus)", False),
        ("X_PROP_ANALYSIS_COMPLETED", "no X of an undefined register reaches a result (Icarus)", True),
    ):
        detail(question)
        command = "" if stripped else f"make -C {files.directory} icarus"

        def run(stripped: bool = stripped) -> str:
            return under_icarus(files, without_initial_values(text) if stripped else text, seconds)

        rows.append(_row(item, question, command, run))
    return rows


def verilator_rows(files: PackageFiles, seconds: float, detail: Callable[[str], None], *, verified: bool) -> list[Row]:
    """The testbench under Verilator without initial values: random values at power-up, and coverage.

    Coverage is counted with registers that are 0 at power-up. If the package is `verified`, the logic that `verify`
    evaluates does not count in toggle and condition coverage.
    """
    covered = [("SIM_CODE_COVERAGE" if kind != "user" else "SIM_FUNCTIONAL_COVERAGE", kind) for kind in GOALS]
    question = f"random values in every register until reset give the same (Verilator, {len(SEEDS)} seeds)"
    detail("Verilator: build with coverage")
    try:
        executable = _executable(files)
        detail("Verilator: coverage")
        data = _under_verilator(files, executable, ["+verilator+rand+reset+0"], seconds)
        counted = dict.fromkeys(GOALS, (files.verilog.name,)) | {"user": (_EVENTS,)}
        found = read_coverage(data, counted, verified=verified)
    except (SimulationError, ToolError, ValueError) as error:
        result = NOT_RUN if isinstance(error, ToolError) else FAILED
        items = [*covered, ("X_PROP_ANALYSIS_COMPLETED", "")]
        titles = {**TITLES, "": question}
        return [Row(item=item, question=titles[kind], result=result, detail=str(error)) for item, kind in items]
    rows = [_coverage_row(item, kind, found[kind]) for item, kind in covered]

    def random() -> str:
        for seed in SEEDS:
            detail(f"Verilator: random power-up, seed {seed}")
            _under_verilator(files, executable, ["+verilator+rand+reset+2", f"+verilator+seed+{seed}"], seconds)
        return f"PASS with seeds {', '.join(map(str, SEEDS))}"

    return [*rows, _row("X_PROP_ANALYSIS_COMPLETED", question, "", random)]


def _row(item: str, question: str, command: str, run: Callable[[], str]) -> Row:
    """The row of a run, whose text is the detail."""
    try:
        said, result = run(), PASSED
    except ToolError as error:
        said, result = str(error), NOT_RUN
    except (SimulationError, ValueError) as error:
        said, result = str(error), FAILED
    return Row(item=item, question=question, result=result, detail=said, command=command)


def _coverage_row(item: str, kind: str, found: Coverage) -> Row:
    result = PASSED if found.points and found.rate >= GOALS[kind] else FAILED
    more = len(found.missed) - _MOST_NOTES
    notes = [f"excluded: {count} points, {reason}" for reason, count in found.excluded.items()]
    notes += [f"not hit: {each}" for each in found.missed[:_MOST_NOTES]]
    if more > 0:
        notes.append(f"and {more} more")
    left = sum(found.excluded.values())
    detail = (
        f"{found.points - len(found.missed)} of {found.points} points, {found.rate:.1%}; the goal is "
        f"{GOALS[kind]:.0%}; {f'{left} more points are excluded' if left else 'nothing is excluded'}"
    )
    return Row(item=item, question=TITLES[kind], result=result, detail=detail, notes=notes)


def under_icarus(files: PackageFiles, text: str, seconds: float) -> str:
    """Return the line PASS that the testbench of `files` printed under Icarus with the Verilog `text`.

    Raises SimulationError if it printed none, and ToolError if Icarus is missing.
    """
    with compiled(files, text) as (folder, command):
        return _passed(command, folder, seconds)


def _under_verilator(files: PackageFiles, executable: Path, options: Sequence[str], seconds: float) -> bytes:
    """The contents of coverage.dat after a run that passed."""
    with tempfile.TemporaryDirectory(prefix="systoliq-signoff-") as place:
        folder = Path(place)
        files.copy_memories(folder)
        _passed([str(executable), *options], folder, seconds)
        return (folder / "coverage.dat").read_bytes()


def _passed(command: Sequence[str], folder: Path, seconds: float) -> str:
    """The line PASS of a testbench; SimulationError if it does not print one."""
    done = run_child(limited(command, seconds), cwd=folder, stderr=subprocess.STDOUT)
    if done.returncode < 0 or done.returncode in (128 + 9, 128 + 24):  # the signals of `ulimit -t`
        raise SimulationError(f"no end within {seconds:g} s of processor time; allow more with --seconds")
    found = re.search(r"^PASS.*$", done.stdout, re.MULTILINE)
    if found is None:
        raise SimulationError(tail(done.stdout, 1))
    return found[0]


def _executable(files: PackageFiles) -> Path:
    """The testbench with coverage of a text without initial values, built or from the cache."""
    text = without_initial_values(files.verilog.read_text())
    clocking = files.sidecar.get("clocking", {})
    events = monitor(
        files.name, clocking.get("clock", "clk"), clocking.get("reset", "rst"), streams(files.sidecar["ports"])
    )
    parts = [text, events, _MAIN, *(each.read_text() for each in (*files.models, files.testbench))]
    waivers = files.waivers.read_text() if files.waivers else ""
    key = content_key(_FORMAT, *verilator.identity(), " ".join(_COVERAGE), waivers, *parts)

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="systoliq-signoff-") as place:
            work = Path(place)
            sources = files.copied(work, text)
            added = {_EVENTS: events, "main.cpp": _MAIN, f"{files.name}.vlt": waivers or "`verilator_config\n"}
            for name, content in added.items():
                (work / name).write_text(content)
            verilator.make_executable(
                folder / verilator.EXECUTABLE,
                [work / f"{files.name}.vlt", *sources, work / _EVENTS],
                files.bench,
                main=work / "main.cpp",
                options=_COVERAGE,
                report=Reporter(),
            )

    folder, _ = obtain("signoff", key, make)
    return folder / verilator.EXECUTABLE
