"""Large layers: what their packages weigh, and what `emit`, `verify` and `simulate` cost as commands."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from .timing import timed

__all__ = ["CASES", "Case", "LayerFigures", "layer_figures", "layer_table"]

ROWS = 64  # of A, in the simulation


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """A layer K x N on an array of one row, 16 columns and this depth."""

    k: int
    n: int
    depth: int


CASES = tuple(Case(k=k, n=n, depth=depth) for k, n in ((256, 256), (768, 768), (768, 3072)) for depth in (1, 8))


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayerFigures:
    """Bytes of a package, and wall and processor seconds of each command; `simulate` is called twice: it builds first.

    `mismatches` are outputs of the simulation that differ from golden's.
    """

    case: Case
    package_bytes: int
    verilog_bytes: int
    memory_bytes: int
    mismatches: int
    seconds: dict[str, float]
    cpu_seconds: dict[str, float]


def layer_figures(cases: Sequence[Case], progress: Callable[[str], None]) -> Iterator[LayerFigures]:
    """Measure each case: a layer of random int8 weights, whose scale spreads its sums over the outputs."""
    for case in cases:
        with tempfile.TemporaryDirectory() as name:
            yield _measured(case, Path(name), progress)


def _measured(case: Case, folder: Path, progress: Callable[[str], None]) -> LayerFigures:
    array = ("--rows", "1", "--cols", "16", "--depth", f"{case.depth}")
    simulate = ("simulate", "layer.npz", "--input", "a.npz", "--report", "report.json", *array)
    steps = {
        "emit": ("emit", "layer.npz", "--out", "out", *array),
        "verify": ("verify", "out"),
        "first simulate": simulate,
        "simulate": simulate,
    }
    _save(case, folder)
    seconds, cpu_seconds = {}, {}
    for step, arguments in steps.items():
        progress(f"{step}, {case.k} x {case.n} at depth {case.depth}")
        command = [sys.executable, "-m", "systoliq", *arguments]
        found = timed(partial(subprocess.run, command, cwd=folder, check=True, capture_output=True), 1)
        seconds[step], cpu_seconds[step] = found.seconds, found.cpu_seconds
    sizes = {file.name: file.stat().st_size for file in (folder / "out").iterdir()}
    return LayerFigures(
        case=case,
        package_bytes=sum(sizes.values()),
        verilog_bytes=sizes["layer.v"],
        memory_bytes=sum(size for file, size in sizes.items() if file.endswith(".mem")),
        mismatches=json.loads((folder / "report.json").read_text())["mismatches"],
        seconds=seconds,
        cpu_seconds=cpu_seconds,
    )


def _save(case: Case, folder: Path) -> None:
    """Files layer.npz and a.npz, the same at every call."""
    rng = np.random.default_rng(0)
    layer: dict[str, Any] = {
        "b": rng.integers(-128, 128, (case.k, case.n)).astype(np.int8),
        "b_scale": np.float32(0.02),
        "b_zero_point": np.int8(0),
        "a_scale": np.float32(0.1),
        "a_zero_point": np.uint8(128),
        "y_scale": np.float32(4),
        "y_zero_point": np.int8(-3),
        "bias": rng.integers(-1000, 1000, case.n).astype(np.int32),
    }
    np.savez(folder / "layer.npz", **layer)
    np.savez(folder / "a.npz", a=rng.integers(0, 256, (ROWS, case.k)).astype(np.uint8))


def layer_table(figures: Sequence[LayerFigures]) -> Table:
    """The figures, a line for each layer."""
    table = Table(
        title=f"Large layers on 1 x 16 x depth: bytes, and CPU s of each command; {ROWS} rows under Verilator",
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    sizes = ("package", "NAME.v", "*.mem", "a weight")
    for heading in ("K x N", "depth", *sizes, "emit", "verify", "simulate", "again", "mismatches"):
        table.add_column(heading, justify="right")
    for each in figures:
        case = each.case
        table.add_row(
            f"{case.k} x {case.n}",
            f"{case.depth}",
            f"{each.package_bytes:,}",
            f"{each.verilog_bytes:,}",
            f"{each.memory_bytes:,}",
            f"{each.memory_bytes / case.k / case.n:.2f}",
            *(f"{seconds:.1f}" for seconds in each.cpu_seconds.values()),
            f"{each.mismatches}",
        )
    return table
