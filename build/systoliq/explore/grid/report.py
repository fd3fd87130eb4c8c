"""report.html: one file that opens offline, the plotting library in it."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ...errors import need
from .exploration import Exploration
from .picture import axis_columns, axis_title
from .table import COLUMNS, TEXTS

__all__ = ["report_html"]


def report_html(exploration: Exploration, commands: Sequence[str], chosen: Mapping[str, Any] | None) -> str:
    """The report; `commands` emit the points of the front, one each, and `chosen` is the point that --require chose."""
    plotly = need("plotly.offline", "plotly", "the report of explore", extra="explore")
    template = (files(__package__) / "report.html").read_text(encoding="utf-8")
    title = f"{exploration.subject.name}: design space"
    parts = {
        "TITLE": html.escape(title),
        "SUBTITLE": html.escape(_subtitle(exploration)),
        "PLOTLY": plotly.get_plotlyjs(),
        "DATA": _script_safe(_data(exploration, commands, chosen)),
    }
    head, *rest = template.split("@@")
    pieces = [head]
    for name, text in zip(rest[::2], rest[1::2], strict=True):
        pieces += [parts[name], text]
    return "".join(pieces)


def _subtitle(exploration: Exploration) -> str:
    settings = exploration.settings
    facts = exploration.subject.subtitle(settings)
    if (tools := settings.synthesizer.identity()) != "none":
        facts.append(tools)
    return " · ".join(facts)


def _data(exploration: Exploration, commands: Sequence[str], chosen: Mapping[str, Any] | None) -> dict[str, Any]:
    used = [name for name in COLUMNS if any(row[name] not in (None, "") for row in exploration.rows)]
    numeric = [name for name in used if name not in (*TEXTS, "front", "fmax_mhz_per_seed")]
    index = {id(row): i for i, row in enumerate(exploration.rows)}
    front = exploration.front_rows
    blocks = [exploration.blocks.get(exploration.points_of_rows[index[id(row)]], {}) for row in front]
    x, y, colour = axis_columns(exploration)
    return {
        "columns": {name: COLUMNS[name] for name in used},
        "titles": {name: axis_title(name) for name in used},
        "numeric": numeric,
        "axes": {"x": x, "y": y, "colour": colour or y},
        "rows": [{name: row[name] for name in used} for row in exploration.rows],
        "names": [", ".join(exploration.subject.label(row)) for row in exploration.rows],
        "front": [index[id(row)] for row in front],
        "commands": list(commands),
        "blocks": blocks,
        "chosen": None if chosen is None else index[id(chosen)],
        "floatAccuracy": exploration.subject.float_accuracy,
        "objectives": exploration.objectives,
    }


def _script_safe(content: Any) -> str:
    """JSON that is safe inside a script element."""
    return json.dumps(content).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
