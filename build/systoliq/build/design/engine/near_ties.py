"""Job of sums near ties: a column each, with its own scale, told from a tie by a bit that is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import INT8, UINT8, matmul_integer, requantize_float32
from systoliq.golden.formats import INT32
from systoliq.golden.requantization import MANTISSA_BITS
from systoliq.hw.engine.host import Job

from ..beats import random_operands

__all__ = ["COLUMNS", "near_tie_job"]

COLUMNS = 96  # of the job, at the most
_LEAST_EXPONENT = 32  # of a scale, negated: only the greatest sums are above 0
_FEW_BITS = 7  # of a mantissa: with it there are sums for all fractions, within int32 and the results' range
_RESULT_BITS = 8
_SPARE = 1 << 17  # more than a product of two operands, zero points included
_LOW, _HIGHER = 15, 2048  # bits of a sum, all of whose values are tried, each with so many values of those above


def near_tie_job(m: int, n: int, generator: np.random.Generator) -> tuple[Job, npt.NDArray[Any]]:
    """A job [m, 1] x [1, n] to int8 with golden's answer: in row 0 each column's sum is by a tie, or on it.

    Mantissas of scales have 1 to 24 bits, results up to 8; some of them saturate.
    """
    a, b = random_operands(UINT8, (m, 1), generator), random_operands(INT8, (1, n), generator)
    a_zero_point, b_zero_point = random_operands(UINT8, (1,), generator), random_operands(INT8, (n,), generator)
    constants = [_constants(generator) for _ in range(n)]
    scale = np.array([np.ldexp(multiplier, -shift) for multiplier, shift in constants], np.float32)
    sums = np.array([_near_tie(*each, generator) for each in constants])
    products = matmul_integer(a, b, a_zero_point[0], b_zero_point)
    bias = (sums - products[0]).astype(np.int32)
    y_zero_point = int(generator.integers(-3, 4))
    job = Job(
        a=a, b=b, a_zero_point=a_zero_point, b_zero_point=b_zero_point, bias=bias, scale=scale,
        y_zero_point=y_zero_point, y_format=INT8,
    )  # fmt: skip
    return job, requantize_float32(products + bias, scale, y_zero_point, INT8)


def _constants(generator: np.random.Generator) -> tuple[int, int]:
    """Multiplier, odd, and shift of a scale multiplier / 2^shift, at most 1; in every second one of few bits."""
    bits = int(generator.integers(1, generator.choice([_FEW_BITS, MANTISSA_BITS]) + 1))
    multiplier = int(generator.integers(1 << (bits - 1), 1 << bits)) | 1
    return multiplier, bits + int(generator.integers(0, _LEAST_EXPONENT))


def _near_tie(multiplier: int, shift: int, generator: np.random.Generator) -> int:
    """A sum whose product with the multiplier is a tie, or a power of two beside one, or as close to that as any."""
    one = 1 << shift
    beside = int(generator.integers(-1, 2)) << int(generator.integers(shift))
    wanted = ((one >> 1) + beside) % one
    most = min((one << int(generator.integers(_RESULT_BITS + 1))) // multiplier, INT32.max - _SPARE)
    if multiplier >> _FEW_BITS == 0:
        least = wanted * pow(multiplier, -1, one) % one
        turns = range(-((most + least) // one), (most - least) // one + 1)  # by which it stays within `most`
        if turns:
            return least + int(generator.choice(turns)) * one
    low = np.arange(min(1 << _LOW, most + 1))
    higher = generator.integers(-(most >> _LOW) - 1, (most >> _LOW) + 1, _HIGHER) << _LOW
    fractions = low * multiplier % one
    order = np.argsort(fractions)
    missing = (wanted - higher * multiplier) % one
    places = np.minimum(np.searchsorted(fractions[order], missing), len(low) - 1)
    best = int(np.argmin(np.abs(fractions[order][places] - missing)))
    return int(low[order[places[best]]] + higher[best])
