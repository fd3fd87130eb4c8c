"""Ends of a layer: each layer gets its own, and constants that are not its kind are refused."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import E4M3FN, E5M2, INT8, MatMulLayer, Requantization, Unscaled
from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.hw import ArrayConfig, Dense
from systoliq.hw.float8_requantizer import Float8Requantizer
from systoliq.hw.requantizer import Requantizer
from systoliq.hw.requantizers import lane_requantizer, requantizer_config, requantizer_constants
from systoliq.hw.unscaled_sum import UnscaledSum

SCALES = np.float32([0.5, 0.3])
INTEGERS = Requantization.from_scales(SCALES, 3, INT8)
FLOATS = Float8Requantization.from_scales(SCALES, E5M2)
TO_INTEGERS = Float8Requantization.from_scales(SCALES, INT8, 3)
FLOAT8_ARRAY = ArrayConfig(a=E4M3FN, b=E4M3FN, accumulator_bits=40)


@pytest.mark.parametrize(
    ("requantization", "array", "kind"),
    [
        (INTEGERS, ArrayConfig(), Requantizer),
        (FLOATS, FLOAT8_ARRAY, Float8Requantizer),
        (TO_INTEGERS, FLOAT8_ARRAY, Float8Requantizer),
        (FLOATS, ArrayConfig(), Float8Requantizer),
        (Unscaled(), ArrayConfig(), UnscaledSum),
    ],
)
def test_constants_go_to_ports(requantization, array, kind):
    block = lane_requantizer(requantizer_config(requantization, array, 20))
    assert isinstance(block, kind)
    for column in (0, 1):
        constants = requantizer_constants(requantization, array, column)
        assert set(constants) <= set(block.constants) <= set(block.signature.members)
    assert requantizer_constants(FLOATS, FLOAT8_ARRAY, 0) == {"multiplier": 1 << 23, "exponent": -24 - 18 + 15}
    assert requantizer_constants(TO_INTEGERS, FLOAT8_ARRAY, 0) == {"multiplier": 1 << 23, "exponent": -24 - 18 - 7}


def test_the_wrong_kind_is_refused():
    with pytest.raises(TypeError, match="requantization must be a Float8Requantization for operands of float8_e4m3fn"):
        requantizer_config(INTEGERS, FLOAT8_ARRAY, 20)
    layer = MatMulLayer(b=np.ones((2, 2), np.int8), a_zero_point=np.int8(0), b_zero_point=np.int8(0))
    with pytest.raises(TypeError, match="requantization must be Unscaled for int32 results, not Requantization"):
        Dense(layer, INTEGERS, ArrayConfig())
    ends = layer.replace(a_scale=1.0, b_scale=1.0, y_scale=1.0, y_zero_point=np.int8(0), y_format=INT8)
    with pytest.raises(TypeError, match="requantization must not be Unscaled for int8 results"):
        Dense(ends, Unscaled(), ArrayConfig())
    with pytest.raises(TypeError, match="must not be a Float8Requantization for int8 x int8 -> int8, not Float8Requ"):
        Dense(ends, TO_INTEGERS, ArrayConfig())
    floats = ends.replace(y_zero_point=0, y_format=E5M2)
    with pytest.raises(TypeError, match="must be a Float8Requantization for int8 x int8 -> float8_e5m2, not Requanti"):
        Dense(floats, INTEGERS, ArrayConfig())
