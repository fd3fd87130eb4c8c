"""The command `systoliq bench`."""

from __future__ import annotations

import dataclasses
import os
import platform
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from systoliq.sim.tools import require

from ..benchmarks.sections import QUICK_SIZES, SECTIONS, Options
from ..design.engine.workloads import read_workloads
from ..files import check_file, json_bytes, write_file
from ..progress import Stages
from .options import PATH
from .shell import debug_option

__all__ = ["bench"]

_WIDTH = 110  # of a table in a file or a pipe


@click.command(
    help="""Measure emission, simulation builds and simulation of bare arrays, and packages of large layers.

Growth is the exponent p of size^p from the smallest array to the largest; an array of twice the side has four times as
many elements. "ratio" compares with a C++ main loop around the same Verilated array, which checks nothing. CPU s is the
time of all processors; prefer it to seconds on a busy machine.

\b
Examples
  systoliq bench --quick
  systoliq bench --section buffers --workload products.csv
  systoliq bench --sizes 8,64 --section emission --repeat 5 --json bench.json
"""
)
@click.option("--quick", is_flag=True, help="Small arrays and short jobs, once each: about a minute.")
@click.option("--sizes", metavar="N,N", help="Sides of the square arrays.  [8,16,32,64]")
@click.option(
    "--repeat", type=click.IntRange(min=1), metavar="N", help="Number of repetitions; medians are shown.  [3]"
)
@click.option(
    "--section", "names", multiple=True, type=click.Choice(list(SECTIONS)), help="Run only this section.  [all]"
)
@click.option(
    "--workload",
    type=PATH,
    metavar="FILE",
    help="engine, buffers: products, with the columns workload, M, K, N, count.  [three networks]",
)
@click.option("--json", "json_", type=click.Path(path_type=Path), metavar="FILE", help="File for the figures.")
@debug_option
def bench(
    quick: bool, sizes: str | None, repeat: int | None, names: tuple[str, ...], workload: Path | None,
    json_: Path | None,
) -> None:  # fmt: skip
    """See `help`."""
    check_file("json", json_)
    options = Options(sizes=QUICK_SIZES, repeat=1, work=10_000_000) if quick else Options()
    changes: dict[str, Any] = {} if repeat is None else {"repeat": repeat}
    if sizes is not None:
        changes["sizes"] = _sizes(sizes)
    if workload is not None:
        changes["products"] = tuple(read_workloads(workload))
    options = dataclasses.replace(options, **changes)
    console, stages = Console(highlight=False), Stages()
    console.width = max(console.width, _WIDTH)  # a file or a pipe is taken for 80 columns
    asked = {name: value for name, value in dataclasses.asdict(options).items() if name != "products"}
    figures: dict[str, Any] = {"options": asked, "machine": _machine(), "sections": {}}
    for name in names or tuple(SECTIONS):
        with stages.stage(name) as detail:
            section = SECTIONS[name](options, detail)
        console.print(section.table)
        console.print()
        figures["sections"][name] = section.data
    if json_ is not None:
        write_file(json_, json_bytes(figures))


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise click.BadParameter(
            f"must be integers with commas between them, not {text!r}", param_hint="sizes"
        ) from None


def _machine() -> dict[str, Any]:
    return {
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "verilator": require("verilator").version,
        "compiler": require("c++").version,
    }
