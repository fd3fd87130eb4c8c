"""Layer files: the arrays of a `MatMulLayer` in an .npz archive, under the names of QLinearMatMul's inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy.typing as npt

from .archive import read_arrays

KEYS = ("b", "a_scale", "a_zero_point", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
OPTIONAL_KEYS = ("bias",)
FORMAT_KEY = "a_format"  # a name such as uint8: of A, where its zero point comes at run time


def read_layer_file(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of the layer file `path`: exactly `KEYS` and, optionally, `bias` and `a_format`.

    See `_required` for what int32 sums do without.
    """
    arrays = read_arrays(path)
    missing = [key for key in _required(arrays) if key not in arrays]
    if missing:
        raise ValueError(f"{path}: layer file must have the key {missing[0]!r}; it has {', '.join(arrays) or 'none'}")
    extra = [key for key in arrays if key not in (*KEYS, *OPTIONAL_KEYS, FORMAT_KEY)]
    if extra:
        raise ValueError(
            f"{path}: layer file must not have the key {extra[0]!r}; it may have {', '.join(KEYS)}, bias, {FORMAT_KEY}"
        )
    return arrays


def _required(arrays: dict[str, npt.NDArray[Any]]) -> tuple[str, ...]:
    """`KEYS`, without y_scale and y_zero_point if the archive has neither, and then without the other scales if it has
    neither.

    Such a layer gives int32 sums. Where it has A's format in place of a zero point, that comes at run time.
    """
    results, scales = ("y_scale", "y_zero_point"), ("a_scale", "b_scale")
    if any(key in arrays for key in results):
        return KEYS
    if FORMAT_KEY in arrays and "a_zero_point" not in arrays:
        return ("b", "b_zero_point")
    spared = results if any(key in arrays for key in scales) else results + scales
    return tuple(key for key in KEYS if key not in spared)
