"""Stimulus of a float8 engine: jobs with golden's answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import qlinear_matmul
from systoliq.golden.float8 import Float8Format
from systoliq.hw.engine.host import Float8Job

from ..beats import random_operands

__all__ = ["float8_job"]


def float8_job(
    shape: tuple[int, int, int],
    formats: tuple[Float8Format, Float8Format, Float8Format],
    generator: np.random.Generator,
    *,
    extreme: bool,
) -> tuple[Float8Job, npt.NDArray[np.uint8]]:
    """A job [m, k] x [k, n] and its codes Y [m, n]: operands at random, scales that spread the results.

    Where it is `extreme`, row 0 and column 0 have the least numbers, the last row begins with NaN, and the last column
    with an infinity if B has one.
    """
    (m, k, n), (a_format, b_format, y_format) = shape, formats
    a, b = (
        random_operands(form, size, generator).view(np.uint8) for form, size in ((a_format, (m, k)), (b_format, (k, n)))
    )
    if extreme:
        a[0], b[:, 0] = a_format.max_code | 0x80, b_format.max_code | 0x80
        a[-1, 0] = a_format.nan_code
        if b_format.infinity_code is not None:
            b[0, -1] = b_format.infinity_code
    largest = (_magnitudes(a, a_format) @ _magnitudes(b, b_format)).max(axis=0)
    greatest = y_format.max_units * 2.0**y_format.unit
    scale = (greatest / np.where(largest == 0, 1, largest) * generator.uniform(0.01, 3, n)).astype(np.float32)
    scale[::2] = np.exp2(np.floor(np.log2(scale[::2])))  # powers of two: some results are ties
    one, zeros = np.float32(1), [np.zeros((), form.dtype) for form in formats]
    operands = a.view(a_format.dtype), one, zeros[0], b.view(b_format.dtype), scale, zeros[1], one, zeros[2]
    return Float8Job(a=a, b=b, scale=scale), qlinear_matmul(*operands).view(np.uint8)


def _magnitudes(codes: npt.NDArray[np.uint8], form: Float8Format) -> npt.NDArray[Any]:
    """Magnitudes of the codes; 0 for NaN and infinities."""
    decoded = form.decode(codes)
    return np.ldexp(np.abs(decoded.significand).astype(np.float64), decoded.shift + form.unit)
