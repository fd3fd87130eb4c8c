"""The cost of emission, simulation builds and simulation, and how it grows with the array.

The benchmark is a list of sections, `SECTIONS`: each a function from `Options` and a `Progress` to a `Section`, one
table for the reader and the same figures as data. Figures are medians; times are of this machine as busy as it is.
"""

from __future__ import annotations

import dataclasses
import math
import os
import statistics
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from rich.table import Table

from systoliq.hw import ArrayConfig, AxiBareArray, BareArray, emit_verilog
from systoliq.hw.packing import ArrayPacking
from systoliq.sim.cosimulation import Run, cosimulate_array
from systoliq.sim.harness import TOP, Ports, harness_verilog
from systoliq.sim.runner import SimulatorWarning, build
from systoliq.sim.simulated import Simulated

from ..design.engine.workloads import Product
from .bare_loop import LoopRun, build_loop
from .buffers import buffer_data, buffer_figures, buffer_table
from .engine import throughput_figures, throughput_table
from .layers import CASES, layer_figures, layer_table
from .plain_grid import emit_plain_grid
from .timing import Timed, timed

__all__ = ["QUICK_SIZES", "SECTIONS", "Options", "Section", "Timed", "growth", "timed"]

SIZES = (8, 16, 32, 64)
QUICK_SIZES = (8, 16)
TILE_BEATS = 256  # K of a tile

_NAME = "array"
Progress = Callable[[str], None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """Scope of the measurements: square arrays of `sizes`, `repeat` times each; `work` bounds rows x cols x cycles of a
    job.

    `products` are the products of the engine's sections; by default, the products of three networks.
    """

    sizes: tuple[int, ...] = SIZES
    repeat: int = 3
    work: int = 150_000_000
    products: tuple[Product, ...] | None = None

    def __post_init__(self) -> None:
        if not self.sizes or any(size < 1 for size in self.sizes):
            raise ValueError(f"sizes must be positive integers, at least one, not {self.sizes!r}")
        for name in ("repeat", "work"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)!r}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Section:
    """One part of the benchmark: its table, and its figures for the JSON file."""

    table: Table
    data: dict[str, Any]


def growth(sizes: Sequence[int], values: Sequence[float]) -> float | None:
    """Exponent p of value = c * size**p through the smallest and the largest size; None where there is only one."""
    (small, low), (large, high) = min(zip(sizes, values, strict=True)), max(zip(sizes, values, strict=True))
    if small == large or low <= 0 or high <= 0:
        return None
    return math.log(high / low) / math.log(large / small)


def emission(options: Options, progress: Progress) -> Section:
    """Emission: seconds and bytes, compared with Amaranth's own emission of a plain grid of the same elements."""
    rows = []
    for size in options.sizes:
        progress(f"emission {size}x{size}")
        ours = timed(partial(_array_verilog, size), options.repeat)
        _, text = ours.result
        progress(f"emission of a plain Amaranth grid {size}x{size}")
        plain = timed(partial(emit_plain_grid, ArrayConfig(rows=size, cols=size)), 1)
        rows.append(
            {
                "size": size,
                "seconds": ours.seconds,
                "cpu_seconds": ours.cpu_seconds,
                "bytes": len(text),
                "plain_seconds": plain.seconds,
                "plain_cpu_seconds": plain.cpu_seconds,
                "plain_bytes": len(plain.result),
                "times_faster": plain.cpu_seconds / ours.cpu_seconds,
                "times_smaller": len(plain.result) / len(text),
            }
        )
    return _section(
        "Emission of a bare array, int8 x int8 + int32",
        rows,
        {
            "seconds": ("s", ".2f"),
            "cpu_seconds": ("CPU s", ".2f"),
            "bytes": ("bytes", ",d"),
            "plain_seconds": ("plain grid s", ".1f"),
            "plain_cpu_seconds": ("CPU s", ".1f"),
            "plain_bytes": ("plain grid bytes", ",d"),
            "times_faster": ("times faster", ".1f"),
            "times_smaller": ("times smaller", ".1f"),
        },
        grows=("seconds", "cpu_seconds", "bytes", "plain_cpu_seconds", "plain_bytes"),
    )


def builds(options: Options, progress: Progress) -> Section:
    """Verilator builds of the bulk simulation: from nothing, with the runtime there, and with nothing changed."""
    rows = []
    for size in options.sizes:
        array, text = _array_verilog(size)
        text += harness_verilog(_NAME, Ports.of_array(array), own_clock=False)
        times: dict[str, list[Timed[Any]]] = {"cold": [], "runtime_cached": [], "unchanged": []}
        for _ in range(options.repeat):
            with _empty_cache() as cache:
                for kind, found in times.items():
                    if kind == "runtime_cached":
                        (cache / "simulations").rename(cache / "simulations-cold")
                    progress(f"build {size}x{size}, {kind.replace('_', ' ')}")
                    found.append(timed(partial(_build, text), 1))
        row: dict[str, Any] = {"size": size}
        for kind, found in times.items():
            row[f"{kind}_seconds"] = statistics.median(each.seconds for each in found)
            row[f"{kind}_cpu_seconds"] = statistics.median(each.cpu_seconds for each in found)
        rows.append(row)
    return _section(
        "Verilator build of its bulk simulation",
        rows,
        {
            "cold_seconds": ("cold s", ".1f"),
            "cold_cpu_seconds": ("CPU s", ".1f"),
            "runtime_cached_seconds": ("runtime cached s", ".1f"),
            "runtime_cached_cpu_seconds": ("CPU s", ".1f"),
            "unchanged_seconds": ("unchanged s", ".3f"),
        },
        grows=("cold_seconds", "cold_cpu_seconds", "runtime_cached_seconds", "runtime_cached_cpu_seconds"),
    )


def simulation(options: Options, progress: Progress) -> Section:
    """Bulk cosimulation of a long job, checked, against a bare C++ loop on the same beats."""
    rows = []
    for size in options.sizes:
        progress(f"simulation {size}x{size}: builds")
        array, text = _array_verilog(size)
        loop = build_loop(text, _NAME)
        tiles = max(1, round(math.sqrt(options.work / size**2 / TILE_BEATS)))
        rng = np.random.default_rng(size)
        a, b = (rng.integers(-128, 128, shape) for shape in ((size * tiles, TILE_BEATS), (TILE_BEATS, size * tiles)))
        packing = ArrayPacking(array=array, m=len(a), k=TILE_BEATS, n=b.shape[1])
        words = packing.pack(a, b)
        job = partial(cosimulate_array, array, simulator="verilator", verilog=text)
        job(Run(a=a[:size], bulk=True), b[:, :size]).check()  # builds
        loops: list[LoopRun] = []
        runs: list[Timed[Simulated]] = []
        for count in range(options.repeat):  # by turns, so that both see the same machine
            progress(f"simulation {size}x{size}: run {count + 1} of {options.repeat}")
            loops.append(loop.run(*words, expected=tiles**2 * size, sums_bytes=packing.sums_bytes))
            runs.append(timed(partial(job, Run(a=a, bulk=True), b), 1))
            _agree(packing, runs[-1].result.check(), loops[-1])
        limit = statistics.median(run.cycles_per_second for run in loops)
        cycles = runs[0].result.facts["simulated_cycles"]
        bulk = statistics.median(cycles / run.result.seconds for run in runs)
        whole = statistics.median(cycles / run.seconds for run in runs)
        rows.append(
            {
                "size": size,
                "cycles": cycles,
                "cycles_per_second": bulk,
                "macs_per_second": bulk * runs[0].result.macs / cycles,
                "loop_cycles_per_second": limit,
                "ratio": bulk / limit,
                "whole_cycles_per_second": whole,
                "whole_ratio": whole / limit,
            }
        )
    return _section(
        "Bulk cosimulation of a long job, every sum checked",
        rows,
        {
            "cycles": ("cycles", ",d"),
            "cycles_per_second": ("cycles/s", ",.0f"),
            "macs_per_second": ("MAC/s", ".3g"),
            "loop_cycles_per_second": ("C++ loop cycles/s", ",.0f"),
            "ratio": ("ratio", ".2f"),
            "whole_cycles_per_second": ("with start and check", ",.0f"),
            "whole_ratio": ("ratio", ".2f"),
        },
        grows=("cycles_per_second", "macs_per_second", "loop_cycles_per_second"),
    )


def engine(options: Options, progress: Progress) -> Section:
    """Throughput of the engine on the products of networks, by its cycle model."""
    progress("cycle model of the engine")
    figures = throughput_figures(options.products)
    return Section(table=throughput_table(figures), data={"rows": [dataclasses.asdict(each) for each in figures]})


def buffers(options: Options, progress: Progress) -> Section:
    """Least buffers of an engine on the products of networks, by the models of cycles and beats."""
    progress("beats of memory of the engine")
    figures = buffer_figures(options.products)
    return Section(table=buffer_table(figures), data={"rows": buffer_data(figures)})


def layers(options: Options, progress: Progress) -> Section:
    """Packages of large layers, without layers of more than a 32nd of `work` weights."""
    cases = [case for case in CASES if 32 * case.k * case.n <= options.work]
    figures = list(layer_figures(cases, progress))
    return Section(table=layer_table(figures), data={"rows": [dataclasses.asdict(each) for each in figures]})


SECTIONS: dict[str, Callable[[Options, Progress], Section]] = {
    "emission": emission,
    "builds": builds,
    "simulation": simulation,
    "engine": engine,
    "buffers": buffers,
    "layers": layers,
}


def _array_verilog(size: int) -> tuple[BareArray, str]:
    array = BareArray(ArrayConfig(rows=size, cols=size))
    return array, emit_verilog(AxiBareArray(array), _NAME)


def _build(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulatorWarning)  # the emitted Verilog's lint is a test, not a measurement
        build(text, TOP)


def _agree(packing: ArrayPacking, run: Simulated, loop: LoopRun) -> None:
    """Refuse a comparison with a loop that computes something else."""
    cols = packing.array.config.cols
    valid = np.unpackbits(loop.valid, axis=1, bitorder="little")[:, :cols].astype(np.int64)
    sums, there, surplus = packing.unpack(valid, loop.sums)
    if not there.all() or surplus.any() or (sums != run.tensors["y"].expected).any():
        raise ValueError("the C++ loop's sums must be those of the cosimulation")


@contextmanager
def _empty_cache() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name, mock.patch.dict(os.environ, SYSTOLIQ_CACHE=name):
        yield Path(name)


def _section(
    title: str, rows: list[dict[str, Any]], columns: dict[str, tuple[str, str]], *, grows: tuple[str, ...]
) -> Section:
    """A table of `rows` with their `columns` (heading and format) and a last line of growth exponents."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("array", justify="right")
    for heading, _ in columns.values():
        table.add_column(heading, justify="right")
    for row in rows:
        cells = (format(row[key], form) for key, (_, form) in columns.items())
        table.add_row(f"{row['size']}x{row['size']}", *cells)
    sizes = [row["size"] for row in rows]
    exponents = {key: growth(sizes, [row[key] for row in rows]) for key in grows}
    shown = {key: "" if value is None else f"^{value:.2f}" for key, value in exponents.items()}
    if any(shown.values()):
        table.add_row("growth", *(shown.get(key, "") for key in columns), style="dim")
    return Section(table=table, data={"rows": rows, "growth": exponents})
