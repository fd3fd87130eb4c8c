"""Requantization with float8: from exact sums to results, with the constants of the hardware."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .float8 import Float8Format
from .float8_matmul import Sums, rounded, scaled
from .formats import IntFormat
from .operand import Format
from .parameters import as_scale

MANTISSA_BITS = 24  # of float32, the leading one included
EXPONENTS = range(-149 - (MANTISSA_BITS - 1), 128 - (MANTISSA_BITS - 1))
"""The exponents of all positive and finite float32 values, including subnormals, with a multiplier of `MANTISSA_BITS`
bits.
"""


@dataclass(frozen=True, kw_only=True)
class Float8Requantization:
    """Constants that take exact sums [..., N] to results [..., N] of the format `output`, rounded once.

    `output` is float8 or integers. For integers, `zero_point` is added to the rounded number, and NaN gives the
    smallest.

    Column n's scale is `multiplier[n]` * 2^`exponent[n]`; the multiplier is a float32's mantissa with its highest bit
    set. A single entry serves any number of columns.
    """

    multiplier: tuple[int, ...]
    exponent: tuple[int, ...]
    output: Format
    zero_point: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.output, Float8Format | IntFormat):
            raise TypeError(f"output must be a Float8Format or an IntFormat, not {self.output!r}")
        if self.zero_point and (isinstance(self.output, Float8Format) or not self.output.contains(self.zero_point)):
            raise ValueError(f"zero_point must be 0 or an integer of {self.output}, not {self.zero_point!r}")
        if len(self.multiplier) != len(self.exponent) or not self.multiplier:
            raise ValueError(
                f"multiplier and exponent must have one entry per column each, "
                f"not {len(self.multiplier)} and {len(self.exponent)}"
            )
        for value in self.multiplier:
            if value.bit_length() != MANTISSA_BITS:
                raise ValueError(f"multiplier must have {MANTISSA_BITS} bits, not {value!r}")

    @classmethod
    def from_scales(cls, scale: npt.ArrayLike, output: Format, zero_point: int = 0) -> Float8Requantization:
        """The constants for float32 scales [N] (or one scalar), each positive and finite."""
        scales = as_scale("scale", scale).reshape(-1)
        wrong = scales[~(np.isfinite(scales) & (scales > 0))]
        if wrong.size:
            raise ValueError(f"scale must be positive and finite, not {float(wrong[0])!r}")
        mantissa, exponent = np.frexp(scales.astype(np.float64))  # float64 has no float32 subnormals
        multiplier = np.ldexp(mantissa, MANTISSA_BITS).astype(np.int64)
        return cls(
            multiplier=tuple(multiplier.tolist()),
            exponent=tuple((exponent - MANTISSA_BITS).tolist()),
            output=output,
            zero_point=zero_point,
        )

    def replace(self, **changes: Any) -> Float8Requantization:
        """A copy with `changes` made, validated again."""
        return replace(self, **changes)

    @property
    def scale(self) -> npt.NDArray[np.float32]:
        """The scales that the constants represent, [N] or [1]."""
        return np.ldexp(np.array(self.multiplier, np.float64), self.exponent).astype(np.float32)

    def apply(self, sums: Sums) -> npt.NDArray[Any]:
        """Codes or integers, of the dtype of `output`, for exact sums [..., N]."""
        return rounded(scaled(sums, self.scale), self.output, self.zero_point)
