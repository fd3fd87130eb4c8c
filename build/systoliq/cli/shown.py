"""Shown text: names from files as a terminal may print them."""

from __future__ import annotations

__all__ = ["shown"]


def shown(text: str) -> str:
    r"""`text` with escapes, as Python writes them, in place of control characters and others that do not print.

    >>> shown("conv\x1b[31m")
    'conv\\x1b[31m'
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
