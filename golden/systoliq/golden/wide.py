"""Numbers of more than 64 bits in numpy: exact sums with their sign and exponent, times a float32, rounded once.

A magnitude is held in limbs of 32 bits, so that every product of a limb and a float32 mantissa stays within 64 bits.
Between the exact sums of float8 products (`float8_matmul`) and their codes (`float8`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

LIMB_BITS = 32
_LIMBS = 4  # 128 bits: int64 shifted by up to 32 bits takes 96, a float32 mantissa 24 more
_MASK = (1 << LIMB_BITS) - 1
_MANTISSA_BITS = 24  # of float32, the leading one included
_NO_LEADING_ONE = -(1 << 30)  # below every exponent that occurs


@dataclass(frozen=True, eq=False)
class Wide:
    """Numbers (-1)^negative * magnitude * 2^exponent of any one shape.

    `negative` is bool, `limbs` uint64 [4, ...] below 2^32 with the least first, `exponent` int64, broadcast to the
    shape. A zero has a sign too; sums and products here give it the positive one.
    """

    negative: npt.NDArray[np.bool_]
    limbs: npt.NDArray[np.uint64]
    exponent: npt.NDArray[np.int64]

    @classmethod
    def of_sums(cls, terms: Sequence[tuple[npt.NDArray[np.int64], int]], exponent: int) -> Wide:
        """2^exponent times the sum of integer * 2^shift over `terms`, of one shape. Limits: 9 terms, shift 0..32."""
        limbs = np.zeros((_LIMBS, *terms[0][0].shape), np.int64)
        for integers, shift in terms:
            low, high = integers & _MASK, integers >> LIMB_BITS
            whole, rest = divmod(shift, LIMB_BITS)
            limbs[whole] += (low << rest) & _MASK  # the shifted low part may have 63 bits
            limbs[whole + 1] += ((low << rest) >> LIMB_BITS) + ((high << rest) & _MASK)
            limbs[whole + 2] += (high << rest) >> LIMB_BITS
        _carry(limbs)
        negative = limbs[-1] < 0
        limbs = np.where(negative, limbs ^ _MASK, limbs)  # two's complement: invert and add one
        limbs[-1] &= _MASK
        limbs[0] += negative
        _carry(limbs)
        return cls(negative, limbs.astype(np.uint64), np.broadcast_to(np.int64(exponent), negative.shape))

    @classmethod
    def of_integers(cls, integers: npt.NDArray[np.object_], exponent: int) -> Wide:
        """2^exponent times Python integers of up to 104 bits."""
        sizes = np.abs(integers)
        limbs = [(sizes >> LIMB_BITS * index) & _MASK for index in range(_LIMBS)]
        negative = (integers < 0).astype(np.bool_)
        return cls(negative, np.array(limbs).astype(np.uint64), np.broadcast_to(np.int64(exponent), negative.shape))

    @classmethod
    def of_floats(cls, values: npt.NDArray[np.floating[Any]]) -> Wide:
        """The finite floats `values`, of up to 64 bits, exactly; -0.0 keeps its sign."""
        mantissa, exponent = np.frexp(np.abs(values.astype(np.float64)))
        wide = cls.of_sums([((mantissa * 2.0**53).astype(np.int64), 0)], -53)
        return cls(np.signbit(values), wide.limbs, wide.exponent + exponent)

    @property
    def zero(self) -> npt.NDArray[np.bool_]:
        """True where the number is 0."""
        return np.asarray(~self.limbs.any(axis=0))

    @property
    def leading(self) -> npt.NDArray[np.int64]:
        """floor(log2(magnitude * 2^exponent)); a very small number for 0."""
        top = np.full(self.negative.shape, _NO_LEADING_ONE, np.int64)
        for index, limb in enumerate(self.limbs):
            bits = np.frexp(limb.astype(np.float64))[1]
            top = np.where(limb != 0, bits + (index * LIMB_BITS - 1), top)
        return top + self.exponent

    def times(self, scale: npt.NDArray[np.float32]) -> Wide:
        """The exact products with the finite float32 `scale`, broadcast to the numbers. Limit: 104 bits before it."""
        mantissa, exponent = np.frexp(np.abs(scale).astype(np.float64))  # float64 has no float32 subnormals
        multiplier = np.ldexp(mantissa, _MANTISSA_BITS).astype(np.uint64)
        limbs, carry = [], np.zeros(self.negative.shape, np.uint64)
        for limb in self.limbs:
            partial = limb * multiplier + carry
            limbs.append(partial & np.uint64(_MASK))
            carry = partial >> np.uint64(LIMB_BITS)
        nonzero = ~self.zero & (multiplier != 0)
        negative = (self.negative ^ np.signbit(scale)) & nonzero
        return Wide(negative, np.array(limbs), self.exponent + exponent - _MANTISSA_BITS)

    def rounded(self, quantum: npt.NDArray[np.int64] | int) -> npt.NDArray[np.int64]:
        """The magnitudes in units of 2^quantum, rounded once, half to even. Limit: results below 2^31."""
        shift = quantum - self.exponent
        halves = self._bits_from(shift - 1)  # the result with one bit behind the point
        odd, half = (halves >> 1) & 1, halves & 1
        up = half & (odd | self._any_below(shift - 1))
        return np.asarray((halves >> 1) + up)

    def _bits_from(self, position: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The low 32 bits of floor(magnitude / 2^position); `position` may be negative."""
        index, offset = np.divmod(np.clip(position, 0, _LIMBS * LIMB_BITS), LIMB_BITS)
        padded = np.concatenate([self.limbs, np.zeros((2, *self.negative.shape), np.uint64)])
        low, high = (np.take_along_axis(padded, (index + i)[np.newaxis], axis=0)[0] for i in range(2))
        pair = low | high << np.uint64(LIMB_BITS)
        right = pair >> offset.astype(np.uint64)
        shifted = right << np.clip(-position, 0, LIMB_BITS - 1).astype(np.uint64)
        return np.asarray((shifted & np.uint64(_MASK)).astype(np.int64))

    def _any_below(self, position: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """True if a bit of the magnitude below bit `position` is 1."""
        found = np.zeros(self.negative.shape, np.bool_)
        for index, limb in enumerate(self.limbs):
            count = np.clip(position - index * LIMB_BITS, 0, LIMB_BITS).astype(np.uint64)
            found |= (limb & ((np.uint64(1) << count) - np.uint64(1))) != 0
        return found


def _carry(limbs: npt.NDArray[np.int64]) -> None:
    """Bring every limb but the last, whose sign is the number's, into 0..2^32 - 1."""
    for index in range(len(limbs) - 1):
        limbs[index + 1] += limbs[index] >> LIMB_BITS
        limbs[index] &= _MASK
