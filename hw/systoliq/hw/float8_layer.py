"""Support of float8 operands in `Dense`: the width of sums, and operands of 0 where NaN and infinities could cause
errors.

Zero times NaN or infinity is NaN. Therefore, padding of A or B must be multiplied by zeros.
"""

from __future__ import annotations

import numpy as np

from systoliq.golden.float8 import Float8Format
from systoliq.golden.float8_matmul import sum_bits
from systoliq.golden.float8_thresholds import reachable_sums
from systoliq.golden.formats import signed_bits
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import Format

from .centring import array_format
from .folding import fold
from .schedule import Schedule

__all__ = ["float8_sum_bits", "has_infinities", "tail_mask"]


def float8_sum_bits(layer: MatMulLayer) -> int | None:
    """Bits that hold every sum of a layer with a float8 operand, whose weights are known; None where it has none."""
    if layer.multiplies_integers:
        return None
    lo, hi = reachable_sums(layer)
    return max(signed_bits(min(lo), max(hi)), sum_bits(array_format(layer), fold(layer).b_format, 1))


def has_infinities(form: Format, weights: np.ndarray) -> bool:
    """True if a weight is infinite. A weight that is NaN makes all sums of its column NaN, whatever the operand."""
    return isinstance(form, Float8Format) and bool((form.decode(weights.astype(np.uint8)).infinity != 0).any())


def tail_mask(schedule: Schedule) -> int | None:
    """Mask with ones for the bits of a group's last beat that hold operands within K; None if all bits do."""
    config = schedule.config
    operands = schedule.k % config.depth
    if not config.flag_bits or not operands:
        return None
    row_bits = config.depth * config.a.bits
    return sum(((1 << operands * config.a.bits) - 1) << row * row_bits for row in range(config.rows))
