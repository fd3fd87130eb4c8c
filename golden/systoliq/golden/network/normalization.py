"""Layer normalization of the channels of each pixel: DequantizeLinear, LayerNormalization, QuantizeLinear, in integers.

For n integers s of a row, with their sum S, all in exact integers and rational constants:

    u = n s - S,  V = n sum(s^2) - S^2                          x less the mean, and the variance, in units of n and n^2
    R = isqrt(4^j V + E),  E = rint(4^j epsilon n^2 / x_scale^2)
    p = floor(|u| floor(2^c / R) / 2^drop)                      |x - mean| / deviation in units of 2^-24
    y = rint((sign(u) p G + B) / 2^(24 + q)) + zero point       G = rint(2^q gain / y_scale), B the shift likewise

j, c and q are chosen so that p and G have 24 bits: what is rounded lies within 2^-16 of the real value where that is in
the output's range, so another integer is only possible next to a tie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .node import Node

__all__ = ["FRACTION", "MOST_CHANNELS", "LayerNormalization", "Steps"]

FRACTION = 24
"""Bits of p behind the point."""
MOST_CHANNELS = 4096
_MOST_SHIFT = 1 << 13  # of a shift in steps of the output


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The constants of the module's description: ``half`` is j, ``offset`` E, ``dividend`` c, ``gain_bits`` q."""

    half: int
    offset: int
    dividend: int
    drop: int
    gain_bits: int
    gains: tuple[int, ...]
    shifts: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerNormalization(Node):
    """The channels of each pixel less their mean, by their deviation, times `gain` plus `shift` [channels]."""

    gain: npt.NDArray[np.float32]
    shift: npt.NDArray[np.float32]
    epsilon: np.float32

    def __post_init__(self) -> None:
        (x,) = self.inputs
        self.expect_bytes()
        self.expect_shape(x.shape)
        for name in ("gain", "shift"):
            value = np.array(getattr(self, name), np.float32)
            if value.shape != (self.length,):
                raise ValueError(
                    f"the {name} of {self.name!r} must be {self.length} numbers, one for each channel, not of shape "
                    f"{list(value.shape)}"
                )
            if not np.isfinite(value).all():
                raise ValueError(f"the {name} of {self.name!r} must be finite")
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "epsilon", np.float32(self.epsilon))
        if not 2 <= self.length <= MOST_CHANNELS:
            raise ValueError(f"{self.name!r} must normalize 2 to {MOST_CHANNELS} channels, not {self.length}")
        if not (np.isfinite(self.epsilon) and self.epsilon > 0):
            raise ValueError(f"epsilon of {self.name!r} must be positive and finite, not {float(self.epsilon)!r}")
        if self._offset >= 1 << 48:
            raise ValueError(
                f"the scale of {x.name!r} must not be so small beside epsilon, {float(self.epsilon):.6g}, that "
                f"results do not depend on the input, as {float(x.scale):.6g} is"
            )
        steps = np.abs(np.stack([self.gain, self.shift]).astype(np.float64)) / float(self.output.scale)
        if not steps.max() < _MOST_SHIFT:
            raise ValueError(
                f"gain and shift of {self.name!r} must be below {_MOST_SHIFT} steps of the output, not "
                f"{steps.max():.6g}"
            )

    @property
    def kind(self) -> str:
        """With the number of channels."""
        return f"normalization of {self.length}"

    @property
    def length(self) -> int:
        """Elements of a row."""
        return self.inputs[0].channels

    @property
    def _offset(self) -> Fraction:
        """Epsilon in units of V."""
        return Fraction(float(self.epsilon)) * self.length**2 / Fraction(float(self.inputs[0].scale)) ** 2

    @property
    def most_variance(self) -> int:
        """No V is greater."""
        return self.length**2 * (self.inputs[0].format.max - self.inputs[0].format.min) ** 2 // 4

    @cached_property
    def steps(self) -> Steps:
        """The integer constants."""
        least = self.length - 1 + self._offset  # V is 0 or at least n - 1
        half = max(0, math.ceil((2 * FRACTION + 2 - math.log2(least)) / 2))
        offset = max(1, round(self._offset * 4**half))
        most = math.isqrt((self.most_variance << 2 * half) + offset)
        dividend = most.bit_length() + FRACTION + 1
        drop = max(0, dividend - half - FRACTION)
        scale = Fraction(float(self.output.scale))
        greatest = max(abs(Fraction(float(each))) / scale for each in self.gain)
        gain_bits = next(q for q in range(FRACTION, -1, -1) if round(greatest * 2**q) < 1 << FRACTION)
        return Steps(
            half=half,
            offset=offset,
            dividend=dividend + max(0, half + FRACTION - dividend),
            drop=drop,
            gain_bits=gain_bits,
            gains=tuple(round(Fraction(float(each)) * 2**gain_bits / scale) for each in self.gain),
            shifts=tuple(round(Fraction(float(each)) * 2 ** (gain_bits + FRACTION) / scale) for each in self.shift),
        )

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """In the input's shape."""
        (x,) = inputs
        steps = self.steps
        rows = self.inputs[0].raster(x).astype(np.int64)
        total = rows.sum(axis=-1, keepdims=True)
        apart = self.length * rows - total
        variance = self.length * (rows * rows).sum(axis=-1) - total[..., 0] ** 2
        inverse = {0: 0}  # of V = 0, where all elements are the mean
        for each in np.unique(variance).tolist():
            if each:
                inverse[each] = (1 << steps.dividend) // math.isqrt((each << 2 * steps.half) + steps.offset)
        by = np.array([inverse[each] for each in variance.reshape(-1).tolist()], np.int64).reshape(variance.shape)
        normal = np.sign(apart) * (np.abs(apart) * by[..., np.newaxis] >> steps.drop)
        sums = normal * np.array(steps.gains, np.int64) + np.array(steps.shifts, np.int64)
        places = FRACTION + steps.gain_bits
        down, rest = sums >> places, sums & (1 << places) - 1
        half = 1 << places - 1
        levels = down + ((rest > half) | ((rest == half) & (down & 1 == 1)))
        return self.inputs[0].unraster(self.output.format.saturate(levels + self.output.zero_point))
