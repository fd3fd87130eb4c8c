"""The table of docs/measurements/forgeries.md, from the data of the tests.

python -m tests.verify.forgery_table
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from . import test_more_forgeries as more
from . import test_moves, test_networks, test_order, test_rows

__all__ = ["PAGE", "table"]

PAGE = Path(__file__).parents[2] / "docs" / "measurements" / "forgeries.md"
_FOR_EVER = "order of elements for ever at full rate"


def rows() -> Iterator[tuple[str, str, str, bool]]:
    """Each forgery: the test, what is forged, the reason or the result that is named, and whether it is refused."""
    for what, forgery in (test_order.REFUSED | test_order.TAGS).items():
        yield "order", what, forgery[2], True
    for what in test_order.SUMS:
        yield "order", what, "stage convolution", True
    for what, (_, _, result) in test_order.NAMED.items():
        yield "order", what, result, False
    for what in test_order.BOMBS:
        yield "order", f"a time bomb that {what}", _FOR_EVER, False
    for what, (_, reason) in more.REFUSED.items():
        yield "more_forgeries", what, reason, True
    for what, (_, result, _) in more.NAMED.items():
        yield "more_forgeries", what, result, False
    yield "more_forgeries", f"another byte in {', '.join(more.OTHERS)}", more.OTHERS_RESULT, False
    for what, (name, _, _, _, reason) in test_networks.IN_VERILOG.items():
        yield "networks", f"{what} ({name})", reason, True
    for what, (name, _, _, reason) in test_rows.IN_VERILOG.items():
        yield "rows", f"{what} ({name})", reason, True
    for what, (_, _, reason) in test_moves.FORGERIES.items():
        yield "moves", what, reason, True


def table() -> str:
    """The table in Markdown, with the numbers of its rows above it."""
    found = list(rows())
    refused = sum(row[3] for row in found)
    lines = [
        f"{len(found)} forgeries: {refused} are refused, {len(found) - refused} rest on regeneration alone.",
        "",
        "| test_*.py | forgery | refused, with this in the reason | else the result that does not stand |",
        "|---|---|---|---|",
    ]
    for test, what, text, is_refused in found:
        said = _code(text) if is_refused else text
        lines.append(f"| {test} | {what} | {said if is_refused else ''} | {'' if is_refused else said} |")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return f"`{text}`" if text else "a reason of any kind"


if __name__ == "__main__":
    sys.stdout.write(table())
