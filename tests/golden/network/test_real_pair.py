"""What a function of two tensors refuses."""

from __future__ import annotations

import re

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import RealPair, Tensor

A = Tensor(name="a", shape=(1, 3), format=INT8, scale=np.float32(0.5), zero_point=0)
REFUSED = {
    "function must be one of sum, difference, minimum, maximum, not 'mean'": ("mean", A),
    "both operands must be of one format, not of int8 and uint8": ("sum", A.replace(format=UINT8)),
    "the scale of 'b' must be below 2^100, not 1.26765e+30": ("sum", A.replace(name="b", scale=np.float32(2.0**100))),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused(message):
    function, b = REFUSED[message]
    with pytest.raises(ValueError, match=f"{re.escape(message)}$"):
        RealPair(name="pair", inputs=(A, b), output=A.replace(name="y"), function=function)


def test_a_scale_just_below_the_limit_is_taken():
    a = A.replace(scale=np.nextafter(np.float32(2.0**100), np.float32(0)))
    assert RealPair(name="pair", inputs=(a, A), output=A, function="maximum").kind == "maximum"
