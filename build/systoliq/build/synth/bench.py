"""`make bench-area`: the table of area and frequency in docs/silicon.md, all of it measured here.

python -m systoliq.build.synth.bench [--quick]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from amaranth.lib import wiring

from systoliq.golden.formats import INT8
from systoliq.golden.requantization import Rounding
from systoliq.hw import ArrayConfig, AxiBareArray, AxiDense, BareArray, Dense
from systoliq.hw.requantizer import Requantizer, RequantizerConfig

from ..options import HardwareOptions
from ..sources import resnet8_fc_layer
from .flow import synthesize
from .report import SynthReport

__all__ = ["DESIGNS", "main"]

_TABLE = Path(__file__).parents[4] / "docs" / "silicon.md"
_BEGIN, _END = "<!-- table: make bench-area -->", "<!-- end of table -->"


def _array(rows: int, cols: int, depth: int) -> tuple[wiring.Component, int]:
    config = ArrayConfig(rows=rows, cols=cols, depth=depth, cells="ecp5")
    return AxiBareArray(BareArray(config)), config.macs_per_cycle


def _layer(rows: int, cols: int, depth: int, requantizer: str, cells: str) -> tuple[wiring.Component, int]:
    options = HardwareOptions(rows=rows, cols=cols, depth=depth, requantizer=requantizer)
    layer, _ = resnet8_fc_layer()
    config = options.array_for_layer(layer).replace(cells=cells)
    return AxiDense(Dense(layer, options.requantization(layer), config)), config.macs_per_cycle


def _requantizer(accumulator_bits: int) -> tuple[wiring.Component, int]:
    config = RequantizerConfig(
        accumulator_bits=accumulator_bits,
        multiplier_bits=24,
        min_shift=24,
        max_shift=39,
        offset_bits=1,
        output=INT8,
        rounding=Rounding.NEAR_TIE,
        cells="ecp5",
    )
    return Requantizer(config), 1


_ARRAYS = [
    *((4, 4, 1), (2, 4, 2), (1, 4, 4), (1, 2, 8)),
    *((8, 8, 1), (4, 8, 2), (4, 4, 4), (2, 4, 8), (1, 8, 8), (1, 2, 32)),
]

DESIGNS: dict[str, tuple[str, Callable[[], tuple[wiring.Component, int]]]] = {
    **{
        f"array {rows} x {cols} x {depth}": ("ecp5-85k", lambda size=(rows, cols, depth): _array(*size))  # type: ignore[misc]
        for rows, cols, depth in _ARRAYS
    },
    "requantizer, 22-bit sums": ("ecp5-85k", lambda: _requantizer(22)),
    "requantizer, 32-bit sums": ("ecp5-85k", lambda: _requantizer(32)),
    "resnet8-fc 1 x 2 x 8": ("ecp5-85k", lambda: _layer(1, 2, 8, "near-tie", "ecp5")),
    "resnet8-fc 1 x 2 x 8, auto requantizer": ("ecp5-85k", lambda: _layer(1, 2, 8, "auto", "ecp5")),
    "resnet8-fc 1 x 2 x 2, auto requantizer": ("ice40-up5k", lambda: _layer(1, 2, 2, "auto", "ice40")),
    "resnet8-fc 1 x 2 x 4, auto requantizer": ("ice40-up5k", lambda: _layer(1, 2, 4, "auto", "ice40")),
}
"""Rows of the table: the target, and what makes the design (rows x cols x depth) with its MACs per cycle."""


def measure(names: list[str], seeds: list[int]) -> list[SynthReport]:
    """The reports of the designs called `names`, told on standard error as they come."""
    reports = []
    for name in names:
        target, make = DESIGNS[name]
        component, macs = make()
        module = "".join(character if character.isalnum() else "_" for character in name)
        cells = target.partition("-")[0]
        report = synthesize(component, module, target, seeds=seeds, macs_per_cycle=macs, cells=cells)
        print(f"{name}: {report.lut_sites} LUT sites, {report.fmax_mhz} MHz", file=sys.stderr, flush=True)  # noqa: T201
        reports.append(report)
    return reports


def _row(name: str, report: SynthReport) -> str:
    per_mac = "" if name.startswith("requantizer") else f"{report.lut_sites_per_mac:g}"
    macs = "" if name.startswith("requantizer") else str(report.macs_per_cycle)
    seeds = " / ".join(f"{mhz:.0f}" for mhz in report.fmax_mhz_per_seed)
    path = report.critical_path
    figures = [name, report.target, macs, report.lut_sites, per_mac, report.ff, report.dsp, report.ram, report.fmax_mhz]
    return "| " + " | ".join([*map(str, figures), seeds, f"`{path.start}` to `{path.end}`" if path else ""]) + " |"


def table(names: list[str], reports: list[SynthReport]) -> str:
    """The reports as a Markdown table."""
    head = [
        "design",
        "target",
        "MACs/cycle",
        "LUT sites",
        "per MAC",
        "FF",
        "DSP",
        "RAM",
        "MHz",
        "seeds",
        "critical path",
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" * 2 + "|--:" * 7 + "|---" * 2 + "|"]
    lines += [_row(name, report) for name, report in zip(names, reports, strict=True)]
    return "\n".join(lines) + "\n\nMeasured with " + ", ".join(sorted({t for r in reports for t in r.tools})) + ".\n"


def main() -> None:
    """Measure, write the table into docs/silicon.md, and show it."""
    parser = argparse.ArgumentParser(description="area and frequency, as in docs/silicon.md")
    parser.add_argument("--seeds", type=int, default=3, help="place and route with seeds 1 to N (default 3)")
    parser.add_argument("--only", default="", help="designs whose name contains this; the document is left alone")
    parser.add_argument("--report", type=Path, help="write all figures as JSON")
    arguments = parser.parse_args()
    names = [name for name in DESIGNS if arguments.only in name]
    reports = measure(names, list(range(1, arguments.seeds + 1)))
    text = table(names, reports)
    print(text)  # noqa: T201
    if arguments.report:
        arguments.report.write_text(json.dumps({n: r.as_json() for n, r in zip(names, reports, strict=True)}, indent=2))
    if not arguments.only:
        before, _, rest = _TABLE.read_text().partition(_BEGIN)
        _TABLE.write_text(f"{before}{_BEGIN}\n{text}{_END}{rest.partition(_END)[2]}")


if __name__ == "__main__":
    main()
