"""`table` and `described`: HTML of reports, and of objects that show themselves in notebooks.

Of no part, as `failed`: objects of each part have a `_repr_html_`.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

__all__ = ["described", "table"]


def table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], chosen: int | None = None, *, words: bool = False
) -> str:
    """Return a table whose row `chosen` is marked; `words` aligns all cells to the left."""
    head = "".join(f"<th>{html.escape(each)}</th>" for each in heads)
    body = "".join(_row(row, ' class="chosen"' * (index == chosen)) for index, row in enumerate(rows))
    kind = ' class="words"' if words else ""
    return f'<div class="wide"><table{kind}><tr>{head}</tr>{body}</table></div>'


def described(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], lines: Iterable[str] = ()) -> str:
    """Return what a notebook shows of an object: its `title`, a table, and `lines` below."""
    below = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    return f"<div><p><b>{html.escape(title)}</b></p>{table(heads, rows)}{below}</div>"


def _row(row: Sequence[object], mark: str) -> str:
    return f"<tr{mark}>{''.join(f'<td>{html.escape(str(each))}</td>' for each in row)}</tr>"
