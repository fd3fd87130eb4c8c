"""Console of an exploration: the front as a table, and the point that the requirements select."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from ..requirements import area_text
from .exploration import Exploration

__all__ = ["show_exploration"]

_SHOWN: tuple[tuple[str, str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("target", "target", lambda row: row["target"]),
    ("multipliers", "multipliers", lambda row: str(row["multipliers"])),
    ("rows", "array", lambda row: f"{row['rows']}x{row['cols']}x{row['depth']}"),
    ("a_bits", "a/b/req", lambda row: f"{row['a_bits']}/{row['b_bits']}/{row['requantizer_bits'] or 'auto'}"),
    ("dataflow", "dataflow", lambda row: row["dataflow"].removesuffix("-stationary")),
    ("a_words", "lanes/A/B words", lambda row: f"{row['lanes']}/{row['a_words']}/{row['b_words']}"),
    ("bus", "bus", lambda row: str(row["bus"] or "streams")),
    ("cycles_per_inference", "cycles", lambda row: f"{row['cycles_per_inference']:.1f}"),
    ("edge_limit", "busy", lambda row: f"{row['utilization']:.1%}"),
    ("cell_area", "area", lambda row: f"{row['cell_area']:.0f}"),
    ("gates", "gates", lambda row: str(row["gates"])),
    ("lut_sites", "LUT", lambda row: str(row["lut_sites"])),
    ("ff", "FF", lambda row: str(row["ff"])),
    ("dsp", "DSP", lambda row: str(row["dsp"])),
    ("ram", "RAM", lambda row: str(row["ram"])),
    ("fmax_mhz", "MHz", lambda row: f"{row['fmax_mhz']:.1f}"),
    ("inferences_per_s", "inf/s", lambda row: f"{row['inferences_per_s']:.3g}"),
    ("accuracy", "acc.", lambda row: f"{row['accuracy']:.1%}"),
    ("inexact", "inexact", lambda row: str(row["inexact"])),
    ("cosim", "cosim", lambda row: row["cosim"]),
)


def show_exploration(exploration: Exploration, console: Console) -> None:
    """Print the front, the number of skipped points, and the point that the requirements select."""
    chosen = exploration.chosen
    rows = exploration.front_rows
    columns = [column for column in _SHOWN if any(row[column[0]] is not None for row in rows)]
    names = ", ".join(f"{name} ({column})" for name, column in exploration.objectives.items())
    console.print(f"Pareto front of {names}", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for _, title, _ in columns:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        cells = [form(row) if row[name] is not None else "" for name, _, form in columns]
        table.add_row(*cells, style="green" if chosen is not None and row is chosen else None)
    console.print(table)
    counts = {status: sum(row["status"] == status for row in exploration.rows) for status in ("impossible", "failed")}
    others = [f"{count} {status}" for status, count in counts.items() if count]
    rest = f"; {', '.join(others)} (see `reason` in the table)" if others else ""
    how = "sampled" if exploration.sampled else "of the grid"
    console.print(f"{len(exploration.rows)} points {how}, {len(rows)} on the front{rest}", soft_wrap=True)
    if exploration.requirements:
        _show_choice(exploration, chosen, console)


def _show_choice(exploration: Exploration, chosen: Mapping[str, Any] | None, console: Console) -> None:
    requirements = exploration.requirements
    wanted = ", ".join(f"{name}={value:g}" for name, value in requirements.items())
    if chosen is None:
        measured = exploration.deepest == "place" or not {"throughput", "latency", "fmax", "efficiency"} & set(
            requirements
        )
        hint = "" if measured else "; it takes a frequency, from place and route: --place N"
        console.print(f"[yellow]no point that was measured meets {wanted}[/yellow]{hint}", soft_wrap=True)
        return
    size, rest = exploration.subject.label(chosen)
    cost = area_text(chosen) or f"{chosen['bit_products']} bit products"
    console.print(f"smallest with {wanted}: [bold]{size}[/bold], {rest}, on {chosen['target']}: {cost}", soft_wrap=True)
