"""Facts that several kinds of design state in their sidecars."""

from __future__ import annotations

from typing import Any

from systoliq.golden.formats import IntFormat

__all__ = ["format_facts"]


def format_facts(fmt: IntFormat) -> dict[str, Any]:
    """An operand's format, ready for JSON."""
    return {"name": fmt.name, "bits": fmt.bits, "signed": fmt.signed, "min": fmt.min, "max": fmt.max}
