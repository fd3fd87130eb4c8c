"""Requantization: from accumulators to the output format in integer arithmetic, as the hardware computes it.

A `Requantization` holds integer constants per output column; a layer's scales are turned into one here, its gates are
made from it. With s = M * 2^-S three roundings of acc * s are offered, all in two's complement, none with an absolute
value:

    near-tie  equals `requantize_float32` for every int32 accumulator and every float32 scale
    nearest   half to even on the exact product: misses the float32 formula next to ties
    floor     (acc * M + C) >> S: the least hardware; exact only where C was found to be (`exact.smallest_exact`)

Why near-tie is exact: the float32 product rounds to 24 significant bits before it rounds to an integer, so any product
within half a last place of a tie becomes that tie. docs/exactness.md has the whole argument.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .formats import INT32, IntFormat
from .parameters import as_scale


class Constants(Protocol):
    """Constants that turn the sums of a layer into its output."""

    def apply(self, sums: Any, /) -> npt.NDArray[Any]:
        """Return the output for sums [..., N]."""


MANTISSA_BITS = 24  # of float32, the leading one included

# 32 bits of accumulator, 30 of multiplier and the offset stay within int64; 24-bit multipliers need S <= 55
MULTIPLIER_LIMIT = 1 << 30
SHIFT_LIMIT = 61
OFFSET_LIMIT = 1 << 61
_INTEGER_POWERS = 2 ** np.arange(MANTISSA_BITS, dtype=np.int64)  # beyond them every output is saturated


class Rounding(enum.Enum):
    """The rounding of acc * M / 2^S to an integer."""

    NEAR_TIE = "near-tie"
    NEAREST = "nearest"
    FLOOR = "floor"


@dataclass(frozen=True, kw_only=True)
class Requantization:
    """Integer constants that take accumulators [..., N] to outputs [..., N] of the format `output`.

    `multiplier` M, `shift` S and `offset` C hold one entry per column; one entry alone serves any number of columns.
    `zero_point` is in units of the output. `offset` belongs to Rounding.FLOOR and is zero otherwise.
    """

    multiplier: tuple[int, ...]
    shift: tuple[int, ...]
    offset: tuple[int, ...]
    zero_point: int
    output: IntFormat
    rounding: Rounding = Rounding.NEAR_TIE

    def __post_init__(self) -> None:
        if not isinstance(self.output, IntFormat):
            raise TypeError(f"output must be an IntFormat, not {self.output!r}")
        if self.output.bits > 16:
            raise ValueError(f"output must have at most 16 bits, not {self.output.bits!r}")
        if not isinstance(self.rounding, Rounding):
            raise TypeError(f"rounding must be a Rounding, not {self.rounding!r}")
        object.__setattr__(self, "zero_point", _integer("zero_point", self.zero_point))
        if not self.output.contains(self.zero_point):
            raise ValueError(
                f"zero_point must be in {self.output.name}, {self.output.min} to {self.output.max}, "
                f"not {self.zero_point!r}"
            )
        for name, least, most in (
            ("multiplier", 0, MULTIPLIER_LIMIT - 1),
            ("shift", 0, SHIFT_LIMIT),
            ("offset", -OFFSET_LIMIT, OFFSET_LIMIT),
        ):
            column_values = tuple(_integer(name, value) for value in getattr(self, name))
            for value in column_values:
                if not least <= value <= most:
                    raise ValueError(f"{name} must be {least} to {most}, not {value!r}")
            object.__setattr__(self, name, column_values)
        if not len(self.multiplier) == len(self.shift) == len(self.offset):
            raise ValueError(
                f"multiplier, shift and offset must have one entry per column each, "
                f"not {len(self.multiplier)}, {len(self.shift)} and {len(self.offset)}"
            )
        if self.rounding is not Rounding.FLOOR and any(self.offset):
            raise ValueError(f"offset must be 0 unless rounding is floor, not {self.offset!r}")

    @classmethod
    def from_scales(
        cls,
        scale: npt.ArrayLike,
        zero_point: int,
        output: IntFormat,
        *,
        rounding: Rounding = Rounding.NEAR_TIE,
        multiplier_bits: int = MANTISSA_BITS,
    ) -> Requantization:
        """Return the constants for float32 scales [N] (or one scalar), each zero or positive and finite.

        `multiplier_bits` below 24 rounds each mantissa to that many bits, half to even: smaller, but exact only if that
        loses nothing. Rounding.FLOOR gets the offset of round-half-up; for an exact one see `exact`.
        """
        scales = as_scale("scale", scale)
        if scales.ndim > 1:
            raise ValueError(f"scale must be a scalar or of shape [N], not of shape {list(scales.shape)}")
        for value in scales.reshape(-1):
            if not 0 <= value < np.inf:
                raise ValueError(
                    f"scale must be zero or positive, and finite, not {float(value)!r}: see MatMulLayer.canonical"
                )
        if not 1 <= _integer("multiplier_bits", multiplier_bits) <= MANTISSA_BITS:
            raise ValueError(f"multiplier_bits must be 1 to {MANTISSA_BITS}, not {multiplier_bits!r}")
        if not isinstance(output, IntFormat):
            raise TypeError(f"output must be an IntFormat, not {output!r}")
        pairs = [_constants(float(value), output.bits, multiplier_bits) for value in scales.reshape(-1)]
        half = rounding is Rounding.FLOOR
        return cls(
            multiplier=tuple(multiplier for multiplier, _ in pairs),
            shift=tuple(shift for _, shift in pairs),
            offset=tuple((1 << shift) >> 1 if half else 0 for _, shift in pairs),
            zero_point=zero_point,
            output=output,
            rounding=rounding,
        )

    @property
    def columns(self) -> int:
        """N, the number of columns with their own constants."""
        return len(self.multiplier)

    @property
    def multiplier_bits(self) -> int:
        """Width of the widest multiplier, unsigned; 0 where all are zero."""
        return max((multiplier.bit_length() for multiplier in self.multiplier), default=0)

    def replace(self, **changes: Any) -> Requantization:
        """A copy with `changes` made, validated again."""
        return replace(self, **changes)

    def column(self, n: int) -> Requantization:
        """The constants of column `n` alone."""
        return self.replace(multiplier=(self.multiplier[n],), shift=(self.shift[n],), offset=(self.offset[n],))

    def apply(self, acc: npt.ArrayLike) -> npt.NDArray[Any]:
        """Outputs, as `output.dtype`, for int32 accumulators [..., N]; integer arithmetic only."""
        accumulators = np.asarray(acc)
        if accumulators.dtype.kind not in "iu":
            raise TypeError(f"acc must hold integers, not {accumulators.dtype.name}")
        if self.columns != 1 and (not accumulators.ndim or accumulators.shape[-1] != self.columns):
            raise ValueError(f"acc must be of shape [..., {self.columns}], not {list(accumulators.shape)}")
        if outside := INT32.first_outside(accumulators):
            raise ValueError(f"acc must be in int32, not {outside[1]!r}")
        x = accumulators.astype(np.int64)
        if self.rounding is Rounding.NEAR_TIE:
            x = round_to_mantissa(x)
        multiplier, shift, offset = (
            np.array(values[0] if self.columns == 1 else values, dtype=np.int64)
            for values in (self.multiplier, self.shift, self.offset)
        )
        product = x * multiplier + offset
        quotient = product >> shift
        if self.rounding is not Rounding.FLOOR:
            quotient += self._round_up(product, quotient, shift)
        return self.output.saturate(quotient + self.zero_point)

    def _round_up(
        self, product: npt.NDArray[np.int64], quotient: npt.NDArray[np.int64], shift: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """True if product / 2^S, whose floor is `quotient`, rounds to `quotient` + 1."""
        one = np.int64(1) << shift
        from_tie = 2 * (product & (one - 1)) - one  # (fraction - 1/2) * 2^(S+1)
        tie_width = np.int64(0)
        if self.rounding is Rounding.NEAR_TIE:
            magnitude = quotient ^ (quotient >> 63)  # floor(|product| / 2^S), except below an integer: no tie is near
            leading = np.searchsorted(_INTEGER_POWERS, magnitude, side="right") - 1  # -1 where magnitude is 0
            tie_width = one >> (MANTISSA_BITS - 1 - leading)  # half a float32 last place, in the same unit
        up: npt.NDArray[np.bool_] = np.where(np.abs(from_tie) <= tie_width, (quotient & 1) == 1, from_tie >= 0)
        return up


def _integer(name: str, value: Any) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an int, not {value!r}")
    return int(value)


def _constants(scale: float, output_bits: int, multiplier_bits: int) -> tuple[int, int]:
    """The smallest M with S >= 0 such that M * 2^-S is `scale`, rounded to `multiplier_bits` significant bits.

    Scales of 2^-32 and less leave every int32 accumulator within half of zero: M = 0. From the scale 2^output_bits on,
    every accumulator but zero saturates, so all larger scales use the constants of 2^output_bits.
    """
    if scale <= 2.0**-32:
        return 0, 0
    if scale >= 2**output_bits:
        return 1 << output_bits, 0
    multiplier, denominator = scale.as_integer_ratio()
    excess = max(multiplier.bit_length() - multiplier_bits, 0)
    quotient, rest = divmod(multiplier, 1 << excess)
    quotient += 2 * rest + (quotient & 1) > 1 << excess
    shift = denominator.bit_length() - 1 - excess
    trailing = min((quotient & -quotient).bit_length() - 1, max(shift, 0))
    return (quotient << max(-shift, 0)) >> trailing, max(shift, 0) - trailing


def round_to_mantissa(acc: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Round `acc` to 24 significant bits, half to even, as its conversion to float32 does."""
    magnitude = acc ^ (acc >> 63)  # one less than |acc| where negative, which matters for no rounded value
    dropped = np.searchsorted(_INTEGER_POWERS[-1] << np.arange(1, 10), magnitude, side="right")
    below_half = (np.int64(1) << dropped >> 1) - 1
    rounded: npt.NDArray[np.int64] = (acc + np.maximum(below_half, 0) + (acc >> dropped & (dropped > 0))) >> dropped
    return rounded << dropped
