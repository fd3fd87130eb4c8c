"""The sign-off as a page and as JSON."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from systoliq.markup import table

from ..explore.page import details, page
from .row import FAILED, NOT_RUN, PASSED, Row

__all__ = ["signoff_html", "signoff_json", "verdict"]


def verdict(rows: Sequence[Row]) -> str:
    """One line: how many questions have which answer."""
    counts = {result: sum(row.result == result for row in rows) for result in (PASSED, FAILED, NOT_RUN)}
    return ", ".join(f"{count} {result}" for result, count in counts.items() if count)


def signoff_html(name: str, rows: Sequence[Row]) -> str:
    """The page of package `name`; waivers and missed points open by a click."""
    heads = ("item", "question", "result", "found", "command")
    cells = [(row.item, row.question, row.result, row.detail, row.command) for row in rows]
    sections = [("Questions", table(heads, cells, words=True))]
    notes = "".join(
        details(row.question, f"<ul>{''.join(f'<li>{html.escape(note)}</li>' for note in row.notes)}</ul>")
        for row in rows
        if row.notes
    )
    if notes:
        sections.append(("Waivers and points that were not covered", notes))
    about = "items are named after the checklists of OpenTitan's development stages, where these ask the same question"
    return page(f"Sign-off of {name}", [verdict(rows), about], sections)


def signoff_json(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """The rows for other programs."""
    return {"generator": "systoliq signoff", "name": name, "rows": [asdict(row) for row in rows]}
