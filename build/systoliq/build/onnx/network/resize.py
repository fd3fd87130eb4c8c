"""Resize: the rows and columns that its nearest mode picks, by onnxruntime's arithmetic in float32."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import Nearest

from ..graph import Graph, NotTakenError, attribute

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["nearest_of"]

_MODES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
_NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def nearest_of(graph: Graph, node: NodeProto, shape: tuple[int, ...]) -> Nearest:
    """What a Resize picks of an image of `shape` [batch, C, H, W]; a NotTakenError where it does more than pick."""
    mode = attribute(node, "mode", b"nearest").decode()
    transformation = attribute(node, "coordinate_transformation_mode", b"half_pixel").decode()
    rounding = attribute(node, "nearest_mode", b"round_prefer_floor").decode()
    for name, given, allowed in (
        ("mode", mode, ("nearest",)),
        ("coordinate_transformation_mode", transformation, _MODES),
        ("nearest_mode", rounding, _NEAREST),
    ):
        if given not in allowed:
            raise NotTakenError(f"{name} must be {' or '.join(allowed)}, not {given}")
    if len(shape) != 4 or attribute(node, "axes") is not None or attribute(node, "antialias", 0):
        raise NotTakenError("it must resize [batch, channels, rows, columns], without axes and antialias")
    if (policy := attribute(node, "keep_aspect_ratio_policy", b"stretch").decode()) != "stretch":
        raise NotTakenError(f"keep_aspect_ratio_policy must be stretch, not {policy}")
    scales, sizes = _scales(graph, node, shape)
    if sizes[:2] != list(shape[:2]):
        raise NotTakenError(f"it must keep batch and channels, {list(shape[:2])}, not make them {sizes[:2]}")
    rows, columns = (_picked(shape[i], sizes[i], scales[i], transformation, rounding) for i in (2, 3))
    return Nearest(rows, columns)


def _scales(graph: Graph, node: NodeProto, shape: tuple[int, ...]) -> tuple[npt.NDArray[np.float32], list[int]]:
    given = [*node.input, "", "", ""]
    if given[2]:
        scales = graph.constant(given[2], "scales").astype(np.float32).reshape(-1)
        if scales.size == len(shape):
            return scales, [int(size) for size in np.floor(np.asarray(shape, np.float32) * scales)]
    if given[3]:
        sizes = graph.constant(given[3], "sizes").reshape(-1).tolist()
        if len(sizes) == len(shape):
            return np.asarray(np.divide(sizes, shape, dtype=np.float32)), sizes
    raise NotTakenError(f"scales or sizes must have {len(shape)} numbers")


def _picked(size: int, resized: int, scale: np.float32, transformation: str, rounding: str) -> tuple[int, ...]:
    """The place along one axis that each resized place takes its element from."""
    half = np.float32(0.5)
    place: npt.NDArray[np.float32] = np.arange(resized).astype(np.float32)
    if resized == size and scale == 1:
        return tuple(range(size))
    if transformation == "asymmetric":
        place = place / scale
    elif transformation == "align_corners":
        place = place * np.float32(size - 1) / np.float32(resized - 1) if resized > 1 else place * np.float32(0)
    elif transformation == "pytorch_half_pixel" and resized == 1:
        place = place * np.float32(0)
    else:
        place = (place + half) / scale - half
    if rounding == "floor":
        found = np.floor(place)
    elif rounding == "ceil":
        found = np.ceil(place)
    elif rounding == "round_prefer_floor":
        found = np.where(place == np.floor(place) + half, np.floor(place), np.floor(place + half))
    else:
        found = np.floor(place + half)
    return tuple(int(index) for index in np.clip(found, 0, size - 1))
