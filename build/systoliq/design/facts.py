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
"""Minimum length of a design's reset."""


def format_facts(fmt: IntFormat | Float8Format) -> dict[str, Any]:
    """An operand's format, ready for JSON."""
    if isinstance(fmt, Float8Format):
        return _float8_facts(fmt)
    return {"name": fmt.name, "bits": fmt.bits, "signed": fmt.signed, "min": fmt.min, "max": fmt.max}


def _float8_facts(fmt: Float8Format) -> dict[str, Any]:
    """The format of the codes of `fmt`: a sign, an exponent field, a mantissa, from the highest bit down."""
    return {
        "name": fmt.name,
        "bits": fmt.bits,
        "exponent_bits": fmt.bits - 1 - fmt.mantissa_bits,
        "mantissa_bits": fmt.mantissa_bits,
        "bias": fmt.bias,
        "greatest": float(fmt.max_units * 2.0**fmt.unit),
        "least": 2.0**fmt.unit,
        "nan_code": fmt.nan_code,
        "infinity_code": fmt.infinity_code,
    }
