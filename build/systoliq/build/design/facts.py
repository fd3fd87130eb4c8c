"""Facts that several kinds of design state in their sidecars."""

from __future__ import annotations

from typing import Any

from systoliq.golden import Float8Format, IntFormat

__all__ = ["RESET", "format_facts"]

RESET = {
    "minimum_cycles": 1,
    "meaning": "rising edges of clk with rst = 1 that are enough, whatever the registers held; no beat may be offered "
    "at such an edge: it would be lost, even where tready is 1",
}
"""How long the reset of a design must be."""


def format_facts(fmt: IntFormat | Float8Format) -> dict[str, Any]:
    """An operand's format, ready for JSON; of float8, that of its codes."""
    return {"name": fmt.name, "bits": fmt.bits, "signed": fmt.signed, "min": fmt.min, "max": fmt.max}
