"""Layers with float8: sums that just fit their accumulator, and zeros that meet no infinity."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import E4M3FN, E5M2, FLOAT8, INT8, UINT8, MatMulLayer, sum_bits
from systoliq.hw import ArrayConfig, Schedule
from systoliq.hw.float8_layer import float8_sum_bits, has_infinities, tail_mask


def layer_of(b, form):
    formats = {"a_format": form, "b_format": form, "y_format": form}
    zero_points = {"a_zero_point": 0, "b_zero_point": 0, "y_zero_point": 0}
    return MatMulLayer(b=b, a_scale=1.0, b_scale=1.0, y_scale=1.0, **zero_points, **formats)


@pytest.mark.parametrize("form", FLOAT8, ids=str)
def test_width_is_that_of_the_greatest_sum(form):
    most = np.full((64, 1), form.max_code, np.uint8)
    assert float8_sum_bits(layer_of(most, form)) == sum_bits(form, form, 64)
    one = np.full((64, 1), (form.bias << form.mantissa_bits), np.uint8)
    assert sum_bits(form, form, 1) <= float8_sum_bits(layer_of(one, form)) < sum_bits(form, form, 64)
    integers = np.zeros((2, 2), np.int8)
    zero = np.int8(0)
    scales = {"a_scale": 1.0, "b_scale": 1.0, "y_scale": 1.0}
    plain = MatMulLayer(b=integers, a_zero_point=zero, b_zero_point=zero, y_zero_point=zero, **scales)
    assert float8_sum_bits(plain) is None


@pytest.mark.parametrize(("zero_point", "least"), [(0, 0), (200, -200)])
def test_width_of_integers_is_that_of_their_ends(zero_point, least):
    """uint8, less a zero point, times 448 in units of 2^-9."""
    most = np.full((64, 1), E4M3FN.max_code, np.uint8)
    fields = {"a_zero_point": zero_point, "b_zero_point": 0, "y_zero_point": 0, "b_scale": 1.0, "y_scale": 1.0}
    layer = MatMulLayer(b=most, a_scale=1.0, **fields, a_format=UINT8, b_format=E4M3FN, y_format=UINT8)
    greatest = 64 * 448 * 512 * max(255 - zero_point, -least)
    assert float8_sum_bits(layer) == greatest.bit_length() + 1


def test_infinite_weights_are_seen():
    assert has_infinities(E5M2, np.array([[0, 0xFC]]))
    assert not has_infinities(E5M2, np.array([[0, 0x7D]]))
    assert not has_infinities(E4M3FN, np.array([[0x7C, 0xFF]]))
    assert not has_infinities(INT8, np.array([[0x7C, -4]]))


def test_what_is_beyond_k_is_masked():
    config = ArrayConfig(rows=2, depth=3, a=E4M3FN, b=E4M3FN, accumulator_bits=40)
    assert tail_mask(Schedule(k=7, n=1, config=config)) == 0x0000FF_0000FF
    assert tail_mask(Schedule(k=8, n=1, config=config)) == 0x00FFFF_00FFFF
    assert tail_mask(Schedule(k=6, n=1, config=config)) is None
    assert tail_mask(Schedule(k=7, n=1, config=ArrayConfig(depth=3))) is None
