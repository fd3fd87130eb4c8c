"""The front as a PNG: area against throughput, colour for accuracy, the front as a line."""

from __future__ import annotations

import io
from typing import Any

from ...errors import need
from ..pareto import OBJECTIVES
from .exploration import Exploration

__all__ = ["axis_columns", "axis_title", "front_png"]

_TITLES = {
    "inferences_per_s": "throughput, inferences/s",
    "inferences_per_kcycle": "throughput, inferences per 1000 cycles",
    "lut_sites": "area, LUT sites",
    "cell_area": "area of standard cells",
    "bit_products": "area estimate, bit products",
    "accuracy": "accuracy",
    "inexact": "accumulators that differ from float32",
    "latency_us": "latency, µs",
    "latency_cycles": "latency, cycles",
}


_LOG_SPAN = 8


def axis_title(column: str) -> str:
    """Title of an axis."""
    return _TITLES.get(column, column.replace("_", " "))


def axis_columns(exploration: Exploration) -> tuple[str, str, str | None]:
    """Columns for x, y and colour: area, throughput, and the first other objective, as deep as they were measured."""
    rows = [row for row in exploration.rows if row["status"] == "done"]
    deepest = [row for row in rows if row["stage"] == exploration.deepest]
    other = next((name for name in exploration.objectives if name not in ("area", "throughput")), "accuracy")
    x, y, colour = (
        next((column for column in OBJECTIVES[name].columns if any(row[column] is not None for row in deepest)), None)
        for name in ("area", "throughput", other)
    )
    return x or "bit_products", y or "inferences_per_kcycle", colour


def front_png(exploration: Exploration) -> bytes:
    """PNG, 1600 x 1000 pixels."""
    figures: Any = need("matplotlib.figure", "matplotlib", "the picture of explore", extra="explore")
    x, y, colour = axis_columns(exploration)
    rows = [row for row in exploration.rows if row["status"] == "done" and None not in (row[x], row[y])]
    front = sorted((row for row in rows if row["front"]), key=lambda row: (row[x], row[y]))
    figure = figures.Figure(figsize=(8, 5), dpi=200, layout="constrained")
    axes = figure.subplots()
    shades = [row[colour] if colour and row[colour] is not None else 0.5 for row in rows]
    dots = axes.scatter(
        [row[x] for row in rows], [row[y] for row in rows], c=shades, s=26, cmap="viridis", linewidths=0, alpha=0.75
    )
    axes.scatter(
        [row[x] for row in front], [row[y] for row in front], s=90, facecolors="none", edgecolors="#d1495b",
        linewidths=1.6, label="Pareto front",
    )  # fmt: skip
    if colour is not None:
        figure.colorbar(dots, ax=axes, label=axis_title(colour))
    for axis, column in ((axes.xaxis, x), (axes.yaxis, y)):
        axis.set_label_text(axis_title(column))
        _scale(axis, [row[column] for row in rows])
    axes.set_title(f"{exploration.subject.name}: {len(exploration.rows)} points", loc="left", fontsize=11)
    axes.grid(visible=True, which="both", alpha=0.2)
    axes.spines[["top", "right"]].set_visible(False)
    if front:
        axes.legend(frameon=False, loc="upper left")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def _scale(axis: Any, values: list[float]) -> None:
    """Logarithmic, with 1-2-5 ticks, where the values span enough for it."""
    ticker: Any = need("matplotlib.ticker", "matplotlib", "the picture of explore", extra="explore")
    if values and 0 < min(values) * _LOG_SPAN <= max(values):
        axis.axes.set(**{f"{axis.axis_name}scale": "log"})
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.set_minor_formatter(ticker.NullFormatter())
    axis.set_major_formatter(ticker.EngFormatter(sep=""))
