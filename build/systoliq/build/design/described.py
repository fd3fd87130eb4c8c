"""Designs made once more, from what a package says of itself.

NAME.json (hardware, constants), NAME_layer.npz or a SOURCE  ->  Design
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy.typing as npt

from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.formats import INT32, IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import integer_format
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.unscaled import Unscaled

from ..errors import InputError
from ..synth.targets import open_target
from .design import Design
from .hardware import Hardware
from .layer import LayerDesign
from .sources import open_layer, open_source

__all__ = ["described_design", "other_layer"]


def described_design(directory: Path, sidecar: Mapping[str, Any], source: str | None) -> Design:
    """The design that the sidecar of the package in `directory` describes, of `source` or of the layer that it has."""
    name, asked = sidecar["name"], dict(sidecar["hardware"])
    if sidecar["kind"] == LayerDesign.kind:
        hardware, layer = Hardware(**asked), _layer(directory, sidecar, source)
        return LayerDesign(layer, hardware, name=name, requantization=_constants(sidecar, layer, hardware))
    part = open_target(asked.pop("part")) if "part" in asked else None
    hardware = Hardware(**asked, part=part, plan=directory / f"{name}_plan.json")
    given = open_source(source or "", hardware, name=name)
    if given.kind != sidecar["kind"]:
        raise InputError(f"{source} is a {given.kind}, and the package a {sidecar['kind']}")
    return given


def other_layer(directory: Path, sidecar: Mapping[str, Any], source: str) -> Iterator[str]:
    """Which arrays of the package's layer are not those of `source`; a network has no such layer."""
    if sidecar["kind"] != LayerDesign.kind:
        return
    found, wanted = (_layer(directory, sidecar, each).arrays() for each in (None, source))
    for key in sorted({*wanted, *found}):
        one, other = found.get(key), wanted.get(key)
        if one is None or other is None or _content(one) != _content(other):
            yield f"{sidecar['name']}_layer.npz: {key} is not that of {source}: the package is of another layer"


def _layer(directory: Path, sidecar: Mapping[str, Any], source: str | None) -> MatMulLayer:
    """The layer of `source`, or the package's own, whose file says no widths: the sidecar does."""
    if source is not None:
        return open_layer(source, None)[0]
    names = {f"{letter}_format": sidecar["formats"][letter]["name"] for letter in "aby"}
    formats = {key: IntFormat.parse(name) for key, name in names.items() if "int" in name and name != INT32.name}
    return MatMulLayer.load(directory / f"{sidecar['name']}_layer.npz", **formats)


def _constants(
    sidecar: Mapping[str, Any], layer: MatMulLayer, hardware: Hardware
) -> Requantization | Float8Requantization | Unscaled:
    """Constants of the requantizer: integers as the package has them, for they may have been chosen or narrowed."""
    said = sidecar["quantization"]
    if layer.gives_sums or layer.has_float8:
        return hardware.requantization(layer)
    multiplier, shift, offset = (tuple(said[key]) for key in ("multiplier", "shift", "offset"))
    return Requantization(
        multiplier=multiplier,
        shift=shift,
        offset=offset,
        zero_point=layer.rising.y_zero_point,
        output=integer_format("y_format", layer.y_format),
        rounding=Rounding(said["rounding"]),
    )


def _content(array: npt.NDArray[Any]) -> tuple[object, ...]:
    return array.dtype, array.shape, array.tobytes()
