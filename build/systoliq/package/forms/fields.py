"""Fields of registers: their words and their value after reset, the same in every form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["field_text", "reset_value"]


def field_text(field: Mapping[str, Any]) -> str:
    """What `field` means, in a line; may be empty, where its register says it all."""
    return " ".join([*(["Signed."] if field["signed"] else []), *([field["doc"]] if field["doc"] else [])])


def reset_value(register: Mapping[str, Any], field: Mapping[str, Any]) -> int | None:
    """What `field` of `register` holds after reset; None where that is not said."""
    if "value" in field:
        return int(field["value"])
    return 0 if register["access"] == "rw" else None
