"""Parts that the scripts of pictures share: reading a VCD trace cycle by cycle, and the style of the drawings."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

COLORS = ("#9ecae1", "#fdae6b", "#a1d99b", "#bcbddc")  # pale enough for black text
EMPTY, LINE, STALE, TEXT = "#f6f7f8", "#d0d7de", "#a8b0b8", "#24292f"


class Trace(dict[str, list["int | None"]]):
    """Values of each signal, by its path without the top, one a cycle; None where a bit is unknown."""

    def __init__(self) -> None:
        super().__init__()
        self.widths: dict[str, int] = {}

    def signed(self, name: str) -> list[int | None]:
        """The values as two's complement numbers."""
        width = self.widths[name]
        return [None if v is None else v - (v >> (width - 1)) * (1 << width) for v in self[name]]


def read_vcd(path: Path, clock: str = "clk") -> Trace:
    """All signals as they are just before each rising edge of `clock`, a signal of the outermost module."""
    trace = Trace()
    scope: list[str] = []
    names: dict[str, list[str]] = {}
    now: dict[str, str] = {}
    rows: list[dict[str, str]] = []
    before: dict[str, str] = {}
    edge = ""
    for line in path.read_text().splitlines():
        if line.startswith("$scope"):
            scope.append(line.split()[2])
        elif line.startswith("$upscope"):
            scope.pop()
        elif line.startswith("$var"):
            _, _, width, code, name, *_ = line.split()
            full = ".".join([*scope[1:], name.lstrip("\\")])
            names.setdefault(code, []).append(full)
            trace.widths[full] = int(width)
            if full == clock:
                edge = code
        elif line.startswith("#"):  # changes of one moment come in any order
            before = dict(now)
        elif match := re.fullmatch(r"b([01xz]+) (\S+)|([01xz])(\S+)", line):
            value, code = (match[1], match[2]) if match[1] else (match[3], match[4])
            if code == edge and value == "1" and now.get(edge) == "0":
                rows.append(before)
            now[code] = value
    for code, paths in names.items():
        values = [int(row[code], 2) if set(row.get(code, "x")) <= set("01") else None for row in rows]
        trace.update(dict.fromkeys(paths, values))
    return trace


def new_figure(width: float, height: float) -> Figure:
    """An empty figure in the style of the pictures, in inches."""
    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "systoliq",  # the same file each time
            "svg.fonttype": "none",  # text stays text
            "font.family": "DejaVu Sans",
            "font.size": 8,
            "text.color": TEXT,
        }
    )
    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasSVG(figure)
    return figure


def cell(axes: Axes, x: float, y: float, text: str, color: str = EMPTY, ink: str = TEXT) -> None:
    """One cell of a table whose rows go down and whose columns are cycles."""
    axes.add_patch(matplotlib.patches.Rectangle((x, y), 1, 1, facecolor=color, edgecolor=LINE, linewidth=0.6))
    if text:
        axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=6, color=ink)


def save(figure: Figure, name: str) -> None:
    """Write NAME.svg into the directory of the command line, or beside the scripts."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
