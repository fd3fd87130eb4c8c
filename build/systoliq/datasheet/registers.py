"""Registers in a datasheet, as the sidecar has them."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

from systoliq.markup import table

from ..explore.page import details

__all__ = ["registers_html"]

_HEADS = ("address", "register", "access", "bits", "field", "meaning")


def registers_html(registers: Mapping[str, Any]) -> str:
    """Return tables of registers, tables and error codes."""
    version = ".".join(map(str, registers["version"]))
    content = f"<p>Version {version}, 32 bits each.</p>"
    content += details(
        f"{len(registers['registers'])} registers",
        table(_HEADS, [row for each in registers["registers"] for row in _rows(each, 0)], words=True),
    )
    for each in registers.get("tables", ()):
        sizes = " x ".join(map(str, each["sizes"]))
        rows = [row for word in each["words"] for row in _rows(word, each["base"])]
        text = f"<p>{html.escape(each['doc'])}</p>"
        content += details(f"{each['name']}: {sizes} entries", text + table(_HEADS, rows, words=True))
    errors = [(each["code"], each["name"], each["meaning"]) for each in registers.get("errors", ())]
    if errors:
        content += details(f"{len(errors)} error codes", table(("code", "name", "meaning"), errors, words=True))
    return content


def _rows(register: Mapping[str, Any], base: int) -> Iterator[tuple[str, ...]]:
    """A row for the register, and one for each field."""
    yield f"0x{base + register['offset']:06X}", register["name"], register["access"], "", "", register["doc"]
    for each in register["fields"]:
        low, high = each["lsb"], each["lsb"] + each["bits"] - 1
        yield "", "", "", f"{high}:{low}" if high > low else str(low), each["name"], each["doc"]
