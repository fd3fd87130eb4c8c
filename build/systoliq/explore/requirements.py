"""Requirements: `--require throughput=1e6,area=2000`, and which of the points that meet them is the smallest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError
from .pareto import OBJECTIVES

__all__ = ["area_text", "measured_area", "meets", "parse_requirements", "requirements_of", "size"]

_REQUIREMENTS = {
    "throughput": "inferences_per_s", "accuracy": "accuracy", "fmax": "fmax_mhz", "efficiency": "macs_per_s_per_lut"
}  # fmt: skip
_LIMITS = {
    "latency": "latency_us", "area": "area", "dsp": "dsp", "ram": "ram", "ff": "ff", "exactness": "inexact",
    "bandwidth": "io_mb_per_s",
}  # fmt: skip
_AREAS = tuple(name for name in OBJECTIVES["area"].columns if name != "bit_products")


def size(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """Key by which the smallest row is selected: area, then DSPs, then lack of accuracy."""
    area = measured_area(row)
    return row["bit_products"] if area is None else area, row["dsp"] or 0, -(row["accuracy"] or 0)


def measured_area(row: Mapping[str, Any]) -> float | None:
    """LUT sites, or the area of standard cells, or gates; None before synthesis."""
    return next((row[name] for name in _AREAS if row[name] is not None), None)


def area_text(row: Mapping[str, Any]) -> str:
    """Area as it was measured, with its unit; empty before synthesis."""
    units = {"lut_sites": "LUT sites", "cell_area": "in the library's unit", "gates": "gates"}
    return next((f"{row[name]:.0f} {unit}" for name, unit in units.items() if row[name] is not None), "")


def meets(row: Mapping[str, Any], name: str, value: float) -> bool:
    """True if a row meets a requirement; false if the column was not measured."""
    found = measured_area(row) if name == "area" else row[_REQUIREMENTS.get(name) or _LIMITS[name]]
    if found is None:
        return False
    return bool(found >= value if name in _REQUIREMENTS else found <= value)


def requirements_of(
    require: str | Mapping[str, float] | None, names: Sequence[str] = (), where: str = ""
) -> dict[str, float]:
    """Return the limits of `require` by name; InputError for a name that is not in `names`, if there are any.

    `where` says in the message how the names are used.
    """
    found = parse_requirements([require]) if isinstance(require, str) else dict(require or {})
    if names and (unknown := sorted(set(found) - set(names))):
        raise InputError(f"require must be among {', '.join(names)} {where}, not {unknown[0]!r}")
    return found


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
