"""The requantizer and the accumulator width of a layer: the cheapest that are proven to be enough.

The proofs depend on the reachable sums, which follow from the weights, the bias and the format of A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from systoliq.golden.exact import SmallestExact, smallest_exact
from systoliq.golden.formats import signed_bits
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import integer_format
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.thresholds import int32_range

from ..errors import InputError

__all__ = ["AUTO", "REQUANTIZERS", "Choice", "choose_requantization", "reachable", "sum_bits"]

AUTO = "auto"
REQUANTIZERS = (*(rounding.value for rounding in Rounding), AUTO)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Integer constants for a layer; `full_bits` is the width of the multiplier that takes the whole mantissas."""

    requantization: Requantization
    full_bits: int

    @property
    def saved_bits(self) -> int:
        """Multiplier bits that the layer does without."""
        return self.full_bits - self.requantization.multiplier_bits


def choose_requantization(
    layer: MatMulLayer, requantizer: str = Rounding.NEAR_TIE.value, *, multiplier_bits: int | None = None
) -> Choice:
    """The integer constants for `layer`.

    near-tie        the whole mantissas: exact for every int32 accumulator, reachable or not
    nearest, floor  the smallest constants that are exact on all that the layer can reach; an InputError that says
                    why if there are none
    auto            the one of the three that needs the fewest multiplier bits

    `multiplier_bits` takes mantissas of that width instead, rounded, whether that is exact or not; for floor with the
    offset of rounding half up.
    """
    if requantizer not in REQUANTIZERS:
        raise ValueError(f"requantizer must be one of {', '.join(REQUANTIZERS)}, not {requantizer!r}")
    layer = layer.canonical
    output = integer_format("y_format", layer.y_format)
    whole = Requantization.from_scales(layer.scale, layer.y_zero_point, output)
    if multiplier_bits is not None:
        if requantizer == AUTO:
            raise ValueError("multiplier_bits cannot be used with requantizer auto")
        plain = Requantization.from_scales(
            layer.scale,
            layer.y_zero_point,
            output,
            rounding=Rounding(requantizer),
            multiplier_bits=multiplier_bits,
        )
        return Choice(requantization=plain, full_bits=whole.multiplier_bits)
    if requantizer == Rounding.NEAR_TIE.value:
        return Choice(requantization=whole, full_bits=whole.multiplier_bits)
    try:
        found = smallest(layer, None if requantizer == AUTO else Rounding(requantizer))
    except ValueError as error:
        column = str(error).partition(" for column ")[2]
        raise InputError(
            f"requantizer must be near-tie or auto for this layer, not {requantizer}: it cannot be exact for column "
            f"{column}; with multiplier_bits it is made all the same"
        ) from error
    return Choice(requantization=found.requantization, full_bits=found.full_bits)


def smallest(layer: MatMulLayer, form: Rounding | None = None) -> SmallestExact:
    """The smallest exact constants of `form`, or of the best form, over all that `layer` can reach."""
    layer = layer.canonical
    low, high = reachable(layer)
    output = integer_format("y_format", layer.y_format)
    return smallest_exact(layer.scale, layer.y_zero_point, output, low, high, form or "auto")


def reachable(layer: MatMulLayer) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Least and greatest int32 accumulator of each column, [N] each: all of int32 in a column whose sum may wrap.

    Of `MatMulLayer.canonical`, like everything in this module.
    """
    return int32_range(*layer.canonical.accumulator_range())


def sum_bits(layer: MatMulLayer) -> int:
    """Bits, the sign included, of the widest sum that `layer` can reach, its bias included."""
    low, high = layer.canonical.accumulator_range()
    return signed_bits(int(low.min()), int(high.max()))
