"""Canonical scales of float8: any float32 scale is replaced by positive and finite scales, which the hardware supports.

The rules follow IEEE 754, with exact zeros positive (`systoliq.golden.float8_matmul.scaled`). An operand that is NaN or
infinite makes any sum NaN or infinite. For a column with scale s:

* s < 0: the codes of b change their signs, and so does every sum.
* s = 0: y is 0, and NaN where the sum is NaN or infinite. A column of b with zeros, and NaN in place of NaN and
  infinities, has such sums: an infinity of a times zero is NaN.
* s NaN: a column of NaN.
* s infinite: a sum saturates, and 0 * infinity is NaN. With the greatest finite scale, sums saturate too, and only the
  sum 0 has the code 0: the host reads that code as NaN.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format

__all__ = ["Float8Rising", "float8_canonical"]

_MAGNITUDE = 0x7F


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Float8Rising:
    """Codes `b` [k, n] and positive finite `scale` [n] that give the result, but where its code is 0: `zeros` [n]."""

    b: npt.NDArray[np.uint8]
    scale: npt.NDArray[np.float32]
    zeros: npt.NDArray[np.uint8] | None


def float8_canonical(
    b: npt.NDArray[np.uint8], b_format: Float8Format, scale: npt.NDArray[Any], output: Float8Format
) -> Float8Rising:
    """The codes and scales that hardware uses for the codes `b` [k, n] and any float32 `scale` [n]."""
    decoded = b_format.decode(b)
    no_number = decoded.nan | (decoded.infinity != 0)
    signed = b & _MAGNITUDE != 0  # the others become zeros, and NaN in formats without -0
    turned = np.where((scale < 0) & signed, b ^ np.uint8(_MAGNITUDE + 1), b)
    turned = np.where(scale == 0, np.where(no_number, b_format.nan_code, 0), turned)
    turned = np.where(np.isnan(scale), b_format.nan_code, turned)
    magnitude = np.where((scale == 0) | np.isnan(scale), np.float32(1), np.abs(scale))
    infinite = np.isinf(scale)
    return Float8Rising(
        b=turned.astype(np.uint8),
        scale=np.minimum(magnitude, np.finfo(np.float32).max),
        zeros=np.where(infinite, output.nan_code, 0).astype(np.uint8) if infinite.any() else None,
    )
