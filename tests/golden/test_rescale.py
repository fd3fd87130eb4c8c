"""The float32 formula at the ends of what it is defined for; onnxruntime is compared with in test_onnxruntime.py."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import IntFormat
from systoliq.golden.formats import INT32
from systoliq.golden.rescale import requantize_float32


@pytest.mark.parametrize("form", [IntFormat(16, signed=True), IntFormat(16, signed=False)], ids=str)
def test_outputs_of_16_bits(form):
    acc = np.array([-(1 << 31), -1, 0, 1, (1 << 31) - 1])
    y = requantize_float32(acc, np.float32(0.5), 7, form)
    # -1 / 2 and 1 / 2 are ties, and 0 is even
    np.testing.assert_array_equal(y, np.array([form.min, 7, 7, 7, form.max], form.dtype), strict=True)


def test_more_than_16_bits_and_non_integers_are_refused():
    with pytest.raises(ValueError, match="output must have at most 16 bits, not 32"):
        requantize_float32(0, 1.0, 0, INT32)
    with pytest.raises(TypeError, match="acc must hold integers, not float64"):
        requantize_float32(0.5, 1.0, 0, IntFormat(8, signed=True))
    with pytest.raises(ValueError, match="zero_point must be in int8, -128 to 127, not 128"):
        requantize_float32(0, 1.0, 128, IntFormat(8, signed=True))
