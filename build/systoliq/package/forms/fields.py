"""Fields of registers: their words and their value after reset, the same in every form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["field_text", "reset_value"]


def field_text(field: Mapping[str, Any]) -> str:
    """The meaning of `field`, in a line; may be empty if its register's description suffices."""
    return " ".join([*(["Signed."] if field["signed"] else []), *([field["doc"]] if field["doc"] else [])])


def reset_value(register: Mapping[str, Any], field: Mapping[str, Any]) -> int | None:
    """The value of `field` of `register` after reset; None if it is not specified."""
    if "value" in field:
        return int(field["value"])
    return 0 if register["access"] == "rw" else None
