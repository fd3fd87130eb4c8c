"""Lint of the emitted Verilog by three tools, with the waivers and their reasons."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable

from systoliq.sim.tools import Tool, ToolError, require
from systoliq.subprocesses import run_child

from .files import PackageFiles
from .row import FAILED, NOT_RUN, PASSED, Row

__all__ = ["lint_rows"]

_WAIVER = re.compile(
    r"^// (?P<reason>[^\n]*)\nlint_off (?:-rule (?P<rule>\w+) )?-file \"(?P<file>[^\"]*)\"", re.MULTILINE
)

_VERIBLE_WAIVED = {
    "line-length": "Yosys writes an expression on one line",
    "unpacked-dimensions-range-ordering": "Yosys writes a memory as [last:0]; addresses stay the same",
    "explicit-function-lifetime": "functions keep nothing from one call to the next",
}
"""Rules of Verible that are waived, with the reasons."""

_DANGLING = re.compile(r"warning: Instantiating module (\w+) with dangling")


def lint_rows(files: PackageFiles) -> list[Row]:
    """The rows of Verilator, Icarus and Verible."""
    return [
        _linted(files, "verilator", "no warning of Verilator's -Wall beyond the waivers", _verilator),
        _linted(files, "icarus", "no warning of Icarus Verilog's -Wall", _icarus),
        _linted(files, "verible", "no finding of Verible's style rules beyond the waivers", _verible),
    ]


def _linted(files: PackageFiles, name: str, question: str, lint: Callable[[PackageFiles, Tool, str], Row]) -> Row:
    """The row of the tool called `name`; it is not run if the tool is missing."""
    try:
        tool = require(name)
    except ToolError as error:
        return Row(item="LINT_COMPLETE", question=question, result=NOT_RUN, detail=str(error))
    return lint(files, tool, question)


def _verilator(files: PackageFiles, tool: Tool, question: str) -> Row:
    sources = [each.name for each in (*([files.waivers] if files.waivers else []), *files.models, files.verilog)]
    options = ["--lint-only", "-Wall", "--top-module", files.name, *sources]
    text = files.waivers.read_text() if files.waivers else ""
    notes = [
        f"waived: {found['rule'] or 'all rules'} in {found['file']}: {found['reason']}"
        for found in _WAIVER.finditer(text)
    ]
    environment = {**os.environ, **tool.environment}
    done = run_child([str(tool.path), *options], cwd=files.directory, stderr=subprocess.STDOUT, env=environment)
    return _row(question, f"make -C {files.directory} lint", done.returncode, done.stdout, notes)


def _icarus(files: PackageFiles, tool: Tool, question: str) -> Row:
    sources = [str(each.resolve()) for each in (*files.models, files.verilog)]
    options = ["-g2005", "-Wall", "-Wno-timescale", "-s", files.name]
    done = run_child(
        [str(tool.path), *options, "-o", os.devnull, *sources], cwd=files.directory, stderr=subprocess.STDOUT
    )
    dangling: list[str] = []
    rest: list[str] = []
    for line in done.stdout.splitlines():
        found = _DANGLING.search(line)
        (dangling if found and not found[1].startswith(files.name) else rest).append(line)
    waived = f"waived: {len(dangling)} unconnected ports of vendor cells, whose models give them a default"
    notes = [waived] if dangling else []
    names = " ".join(each.name for each in (*files.models, files.verilog))
    command = f"iverilog {' '.join(options)} -o /dev/null {names}"
    return _row(question, command, done.returncode, "\n".join(rest), notes)


def _verible(files: PackageFiles, tool: Tool, question: str) -> Row:
    options = ["--rules=" + ",".join(f"-{rule}" for rule in _VERIBLE_WAIVED), files.verilog.name]
    done = run_child([str(tool.path), *options], cwd=files.directory, stderr=subprocess.STDOUT)
    notes = [f"waived: {rule}: {reason}" for rule, reason in _VERIBLE_WAIVED.items()]
    return _row(question, f"verible-verilog-lint {' '.join(options)}", done.returncode, done.stdout, notes)


def _row(question: str, command: str, status: int, output: str, notes: list[str]) -> Row:
    lines = [line for line in output.splitlines() if re.search(r"warning|%Warning|error|%Error|\[[a-z-]+\]$", line)]
    result = FAILED if status or lines else PASSED
    detail = f"{len(lines)} messages; the first: {lines[0]}" if lines else "no message"
    if status and not lines:
        detail = f"exit status {status}"
    return Row(item="LINT_COMPLETE", question=question, result=result, detail=detail, command=command, notes=notes)
