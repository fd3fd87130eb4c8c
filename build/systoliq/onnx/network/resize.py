"""Resize: the rows and columns that its nearest mode picks, where float32 cannot err about them, and those that its
linear mode interpolates between, with onnxruntime's weights.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import Blend, Nearest

from ..graph import Graph
from ..node import NotTakenError, attribute, check_elements

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["is_linear", "linear_of", "nearest_of"]

_MODES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
_NEAR = Fraction(1, 1 << 16)  # some hundred last places of float32
_FAR = 1 << 62  # a size that no tensor has, for scales whose product with one is beyond float32
_NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_DEFAULTS = {"mode": "nearest", "coordinate_transformation_mode": _MODES[0], "nearest_mode": _NEAREST[0]}


def nearest_of(graph: Graph, node: NodeProto, shape: tuple[int, ...]) -> Nearest:
    """The pixels that a Resize picks of an image of `shape` [batch, C, H, W]; NotTakenError if it does more."""
    transformation = _checked(node, shape, mode=("nearest", "linear"), nearest_mode=_NEAREST)
    scales, sizes = _sizes(graph, node, shape)
    if sizes == list(shape):
        return Nearest(tuple(range(shape[2])), tuple(range(shape[3])))
    rounding = attribute(node, "nearest_mode", b"round_prefer_floor").decode()
    rows, columns = (_picked(shape[i], sizes[i], scales[i], transformation, rounding) for i in (2, 3))
    return Nearest(rows, columns)


def is_linear(graph: Graph, node: NodeProto, shape: tuple[int, ...]) -> bool:
    """True if a Resize of an image of `shape` interpolates linearly, to another size."""
    linear: bool = attribute(node, "mode", b"nearest") == b"linear"
    return linear and len(shape) > 0 and _sizes(graph, node, shape)[1] != list(shape)


def linear_of(graph: Graph, node: NodeProto, shape: tuple[int, ...]) -> tuple[Blend, Blend]:
    """The rows and columns of a linear Resize of an image of `shape`; NotTakenError if it does anything else."""
    transformation = _checked(node, shape, mode=("linear",))
    scales, sizes = _sizes(graph, node, shape)
    rows, columns = (_blended(shape[i], sizes[i], scales[i], transformation) for i in (2, 3))
    return rows, columns


def _checked(node: NodeProto, shape: tuple[int, ...], **allowed: tuple[str, ...]) -> str:
    """The coordinate transformation; a NotTakenError where an attribute is none of those `allowed`."""
    for name, values in {**allowed, "coordinate_transformation_mode": _MODES}.items():
        given = attribute(node, name, _DEFAULTS[name].encode()).decode()
        if given not in values:
            raise NotTakenError(f"{name} must be {' or '.join(values)}, not {given}")
    if len(shape) != 4 or attribute(node, "axes") is not None or attribute(node, "antialias", 0):
        raise NotTakenError("it must resize [batch, channels, rows, columns], without axes and antialias")
    if (policy := attribute(node, "keep_aspect_ratio_policy", b"stretch").decode()) != "stretch":
        raise NotTakenError(f"keep_aspect_ratio_policy must be stretch, not {policy}")
    transformation: str = attribute(node, "coordinate_transformation_mode", b"half_pixel").decode()
    return transformation


def _sizes(graph: Graph, node: NodeProto, shape: tuple[int, ...]) -> tuple[npt.NDArray[np.float32], list[int]]:
    """The scales and the sizes of the result."""
    scales, sizes = _scales(graph, node, shape)
    check_elements("its result", sizes)
    if sizes[:2] != list(shape[:2]):
        raise NotTakenError(f"it must keep batch and channels, {list(shape[:2])}, not make them {sizes[:2]}")
    return scales, sizes


def _scales(graph: Graph, node: NodeProto, shape: tuple[int, ...]) -> tuple[npt.NDArray[np.float32], list[int]]:
    given = [*node.input, "", "", ""]
    if given[2]:
        scales = graph.constant(given[2], "scales").astype(np.float32).reshape(-1)
        if not np.all(np.isfinite(scales) & (scales > 0)):
            raise NotTakenError(f"scales must be positive and finite, not {scales.tolist()}")
        if scales.size == len(shape):
            with np.errstate(over="ignore"):
                sizes = np.floor(np.asarray(shape, np.float32) * scales)
            return scales, [int(min(size, _FAR)) for size in sizes]
    if given[3]:
        sizes = graph.constant(given[3], "sizes").reshape(-1).tolist()
        if len(sizes) == len(shape):
            return np.asarray(np.divide(sizes, shape, dtype=np.float32)), sizes
    raise NotTakenError(f"scales or sizes must have {len(shape)} numbers")


def _picked(size: int, resized: int, scale: np.float32, transformation: str, rounding: str) -> tuple[int, ...]:
    """The place along one axis that each resized place takes its element from."""
    return tuple(
        min(max(_rounded(_place(index, size, resized, scale, transformation), rounding), 0), size - 1)
        for index in range(resized)
    )


def _place(index: int, size: int, resized: int, scale: np.float32, transformation: str) -> Fraction:
    """The place before resizing of one after it."""
    half = Fraction(1, 2)
    if transformation == "align_corners":
        return Fraction(index * (size - 1), resized - 1) if resized > 1 else Fraction(0)
    if transformation == "asymmetric":
        return index / Fraction(float(scale))
    if transformation == "pytorch_half_pixel" and resized == 1:
        return Fraction(0)
    return (index + half) / Fraction(float(scale)) - half


def _rounded(place: Fraction, rounding: str) -> int:
    """`place` to an integer; a NotTakenError so near to where that changes that float32 may be on the other side."""
    half = Fraction(1, 2)
    step = place if rounding in ("floor", "ceil") else place - half
    if 0 < abs(step - round(step)) <= _NEAR * (1 + abs(place)):
        raise NotTakenError(
            f"its scales must keep places clear of rounding in float32, and {float(place):.9g} lies next to a step of "
            f"{rounding}"
        )
    if rounding == "floor":
        return floor(place)
    if rounding == "ceil":
        return ceil(place)
    return ceil(place - half) if rounding == "round_prefer_floor" else floor(place + half)


def _blended(size: int, resized: int, scale: np.float32, transformation: str) -> Blend:
    """The places along one axis between which each resized place lies, and their weights, in onnxruntime's float32."""
    half, last = np.float32(0.5), np.float32(size - 1)
    index = np.arange(resized, dtype=np.float32)
    if transformation == "align_corners":
        place = index * last / np.float32(resized - 1) if resized > 1 else index
    elif transformation == "asymmetric":
        place = index / scale
    elif transformation == "pytorch_half_pixel" and resized == 1:
        place = index
    else:
        place = (index + half) / scale - half
    place = np.clip(place, np.float32(0), last)
    first = place.astype(np.int64)
    second = np.minimum(first + 1, size - 1)
    of_first, of_second = (np.abs(place - each.astype(np.float32)) for each in (second, first))
    of_first, of_second = (np.where(first == second, half, each) for each in (of_first, of_second))
    return Blend(
        first=tuple(first.tolist()),
        second=tuple(second.tolist()),
        of_first=tuple(of_first.tolist()),
        of_second=tuple(of_second.tolist()),
    )
