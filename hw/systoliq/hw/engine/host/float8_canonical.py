"""Rising scales of float8: every float32 scale by positive and finite ones, which are all that hardware has.

By IEEE 754, with exact zeros positive (`systoliq.golden.float8_matmul.scaled`); what is no number makes a sum NaN or
infinite whatever it is added to. So of a column:

* s < 0: its codes of b change their signs, and with them every sum.
* s = 0: y is 0, and NaN where the sum is NaN or infinite. A column of zeros has such sums, with NaN for what is no
  number: an infinity of a meets a zero, and is NaN.
* s NaN: a column of NaN.
* s infinite: a sum saturates, and 0 * infinity is NaN. So does the greatest finite scale, with which no other sum than
  0 has the code 0: the host reads that as NaN.
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
    """What hardware computes for the codes `b` [k, n] and any float32 `scale` [n]."""
    decoded = b_format.decode(b)
    no_number = decoded.nan | (decoded.infinity != 0)
    signed = b & _MAGNITUDE != 0  # the others are zeros, and NaN where there is no -0
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
