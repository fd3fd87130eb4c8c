"""Odd scales: 0, negative, infinite or NaN, in words; more likely mistakes than meant."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["ODD_RESULTS", "odd_scales"]

ODD_RESULTS = "results are the float32 formula's all the same, but such a scale is more often a mistake than meant"

_LISTED = 8  # places in a note


def odd_scales(scale: npt.ArrayLike, unit: str = "channel") -> str | None:
    """Describe elements of `scale` that are not positive and finite, such as "is NaN in channels 3 and 7, 0 in channel
    9"; None if all are.

    A single scale is described without places; `unit` names the places of several.
    """
    values = np.asarray(scale).astype(np.float64).reshape(-1)
    kinds = {
        "NaN": np.isnan(values),
        "0": values == 0,
        "infinite": np.isinf(values),
        "negative": np.isfinite(values) & (values < 0),
    }
    found = {kind: np.flatnonzero(mask).tolist() for kind, mask in kinds.items() if mask.any()}
    if not found:
        return None
    return "is " + ", ".join(
        kind + (_places(at, values.size, unit) if values.size > 1 else "") for kind, at in found.items()
    )


def _places(at: list[int], count: int, unit: str) -> str:
    if len(at) == count:
        return f" in all {count} {unit}s"
    if len(at) > _LISTED:
        return f" in {len(at)} of {count} {unit}s, the first {', '.join(map(str, at[:_LISTED]))}"
    words = ", ".join(map(str, at[:-1]))
    return f" in {unit}s {words} and {at[-1]}" if words else f" in {unit} {at[0]}"
