"""Requirements: `--require throughput=1e6,area=2000`, and which of the points that meet them is the smallest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError

__all__ = ["meets", "parse_requirements", "size"]

_REQUIREMENTS = {
    "throughput": "inferences_per_s", "accuracy": "accuracy", "fmax": "fmax_mhz", "efficiency": "macs_per_s_per_lut"
}  # fmt: skip
_LIMITS = {
    "latency": "latency_us", "area": "lut_sites", "dsp": "dsp", "ram": "ram", "ff": "ff", "exactness": "inexact",
    "bandwidth": "io_mb_per_s",
}  # fmt: skip


def size(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """What the smallest is the least of: area, then DSPs, then lack of accuracy."""
    area = row["lut_sites"] if row["lut_sites"] is not None else row["bit_products"]
    return area, row["dsp"] or 0, -(row["accuracy"] or 0)


def meets(row: Mapping[str, Any], name: str, value: float) -> bool:
    """Whether a row reaches, or stays within, one requirement; not where that was not measured."""
    found = row[_REQUIREMENTS.get(name) or _LIMITS[name]]
    if found is None:
        return False
    return bool(found >= value if name in _REQUIREMENTS else found <= value)


def parse_requirements(texts: Sequence[str]) -> dict[str, float]:
    """`throughput=1e6`, `accuracy=0.95` (at least), `latency=10`, `area=2000` (at most): by name."""
    names = (*_REQUIREMENTS, *_LIMITS)
    requirements = {}
    for text in (part for one in texts for part in one.split(",")):
        name, equals, number = (part.strip() for part in text.partition("="))
        if name not in names or not equals:
            raise InputError(f"require must be NAME=NUMBER with NAME among {', '.join(names)}, not {text!r}")
        try:
            requirements[name] = float(number)
            if not math.isfinite(requirements[name]):
                raise ValueError(number)
        except ValueError as error:
            raise InputError(f"require must give a number for {name}, not {number!r}") from error
    return requirements
