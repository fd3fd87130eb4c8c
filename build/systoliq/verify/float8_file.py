"""The layer file of a package with float8, read for verification: no value is trusted yet."""

from __future__ import annotations

import io
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .float8 import FORMATS
from .float32 import combined_scale
from .package import RefusedError

__all__ = ["Float8File", "read_float8_file"]


@dataclass(frozen=True, kw_only=True)
class Float8File:
    """Weights [K][N] as codes or integers, zero points, and for each column b's zero point and the scale.

    `kinds` of a, b and y: the name of a float8 format, "int" or "uint".
    """

    b: list[list[int]]
    kinds: dict[str, str]
    a_zero_point: int
    b_zero_point: list[int]
    y_zero_point: int
    scales: list[Fraction]


def read_float8_file(file: Path) -> Float8File:
    """The layer file `file`."""
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        kinds = {letter: _kind(arrays[f"{letter}_zero_point"].dtype) for letter in "aby"}
        if not any(kind in FORMATS for kind in kinds.values()) or "bias" in arrays:
            raise ValueError("a, b or y must be float8, and there must be no bias")
        points = {letter: _numbers(arrays[f"{letter}_zero_point"]) for letter in "aby"}
        if any(points[letter].any() for letter in "aby" if kinds[letter] in FORMATS):
            raise ValueError("zero points of float8 must be 0")
        if _kind(arrays["b"].dtype) != kinds["b"]:
            raise ValueError("b must have the type of its zero point")
        b = _numbers(arrays["b"])
        scales = [np.broadcast_to(arrays[f"{key}_scale"], b.shape[1]).tolist() for key in "aby"]
        return Float8File(
            b=b.tolist(),
            kinds=kinds,
            a_zero_point=int(points["a"]),
            b_zero_point=np.broadcast_to(points["b"], b.shape[1]).tolist(),
            y_zero_point=int(points["y"]),
            scales=[Fraction(combined_scale(*column)) for column in zip(*scales, strict=True)],
        )
    except Exception as error:
        raise RefusedError(f"{file.name}: cannot be read as a layer with float8 ({error})") from error


def _kind(dtype: np.dtype[Any]) -> str:
    if dtype.names and dtype.names[0] in FORMATS:
        return dtype.names[0]
    return {"i": "int", "u": "uint"}[dtype.kind]


def _numbers(array: np.ndarray) -> np.ndarray:
    return array.view(np.uint8) if array.dtype.names else array
