"""The sidecar of a package, and the layer that it describes.

NAME.json, NAME_layer.npz  ->  MatMulLayer, Requantization
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from systoliq.golden.formats import INT32, IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import integer_format
from systoliq.golden.requantization import Requantization, Rounding

__all__ = ["GENERATOR", "packaged_layer", "packaged_requantization", "sidecars"]

GENERATOR = "systoliq"


def sidecars(directory: Path) -> list[dict[str, Any]]:
    """The sidecars of the packages in `directory`, by their file names; other files are ignored."""
    found = []
    for path in sorted(directory.glob("*.json")):
        try:
            content = json.loads(path.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(content, dict) and content.get("generator") == GENERATOR and "top" in content:
            found.append(content)
    return found


def packaged_layer(file: Path, sidecar: Mapping[str, Any]) -> MatMulLayer:
    """The layer of a package, whose file says no widths: the sidecar does."""
    names = {f"{letter}_format": sidecar["formats"][letter]["name"] for letter in "aby"}
    formats = {key: IntFormat.parse(name) for key, name in names.items() if "int" in name and name != INT32.name}
    return MatMulLayer.load(file, **formats)


def packaged_requantization(sidecar: Mapping[str, Any], layer: MatMulLayer) -> Requantization:
    """Constants of the requantizer of integers as the package has them: they may have been chosen or narrowed."""
    said = sidecar["quantization"]
    multiplier, shift, offset = (tuple(said[key]) for key in ("multiplier", "shift", "offset"))
    return Requantization(
        multiplier=multiplier,
        shift=shift,
        offset=offset,
        zero_point=layer.canonical.y_zero_point,
        output=integer_format("y_format", layer.y_format),
        rounding=Rounding(said["rounding"]),
    )
