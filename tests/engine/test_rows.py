"""Rows of docs/operators.md for the engine that no other test shows: what it refuses, and 16-bit scales."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from engines import engine
from operations import values

from systoliq.golden import qlinear_matmul

ONE, ZERO = np.float32(1), np.int8(0)


@pytest.mark.parametrize("name", ["a", "b", "y_zero_point"])
@pytest.mark.parametrize("kind", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"])
def test_float8_is_refused_by_an_engine_of_integers(kind, name):
    dtype = np.dtype(getattr(ml_dtypes, kind))
    inputs = {
        "a": np.zeros((2, 3), np.int8), "a_scale": ONE, "a_zero_point": ZERO, "b": np.zeros((3, 4), np.int8),
        "b_scale": ONE, "b_zero_point": ZERO, "y_scale": ONE, "y_zero_point": ZERO,
    }  # fmt: skip
    inputs[name] = inputs[name].astype(dtype)
    with pytest.raises(
        TypeError, match=f"{name} must be int8 or uint8, not {kind}: float8 is for golden's qlinear_matmul, and for eng"
    ):
        engine().plan_qlinear_matmul(*inputs.values())


@pytest.mark.parametrize("scale_type", [np.float16, ml_dtypes.bfloat16])
def test_scales_of_16_bits_are_widened(scale_type):
    """For a, for b per column, for y: the same as float32 of the same value."""
    hardware = engine()
    rng = np.random.default_rng(1)
    a, b = values(rng, np.uint8, (4, 6)), values(rng, np.int8, (6, 5))
    sizes = zip(((), (1, 5), (1,)), (0.2, 0.2, 5), strict=True)
    scales = [np.asarray(rng.uniform(0.5, 1, shape) * size).astype(scale_type) for shape, size in sizes]

    def inputs(a_scale, b_scale, y_scale):
        return a, a_scale, np.uint8(3), b, b_scale, np.int8([0, 1, -2, 3, 4]), y_scale, np.int8(5)

    y = hardware.qlinear_matmul(*inputs(*scales))
    np.testing.assert_array_equal(
        y, qlinear_matmul(*inputs(*(each.astype(np.float32) for each in scales))), strict=True
    )


def test_forms_of_one_element():
    """Scalars, 0-d arrays and [1] are the same; zero points that are left out are 0."""
    hardware = engine()
    rng = np.random.default_rng(2)
    a, b = values(rng, np.uint8, (4, 6)), values(rng, np.int8, (6, 5))
    forms = [lambda each: each, np.asarray, lambda each: np.asarray(each).reshape(1)]
    plans = []
    for form in forms:
        scales = [form(np.float32(each)) for each in (0.1, 0.2, 3)]
        points = [form(np.uint8(9)), form(np.int8(-4)), form(np.int8(1))]
        plans.append(
            hardware.plan_qlinear_matmul(a, scales[0], points[0], b, scales[1], points[1], scales[2], points[2])
        )
    plans += [hardware.plan_matmul_integer(a, b), hardware.plan_matmul_integer(a, b, np.uint8(0), np.int8([0]))]
    results = [result.y for result in hardware.run(plans)]
    right = qlinear_matmul(a, np.float32(0.1), np.uint8(9), b, np.float32(0.2), np.int8(-4), np.float32(3), np.int8(1))
    for y in results[:3]:
        np.testing.assert_array_equal(y, right, strict=True)
    for acc in results[3:]:
        np.testing.assert_array_equal(acc, a.astype(np.int64) @ b.astype(np.int64))


REFUSED = {
    "scales of y": ({"y_scale": np.ones(4, np.float32)}, "y_scale must be a scalar or have one element"),
    "scales along K": ({"a_scale": np.ones(3, np.float32)}, "a_scale must be a scalar or [2] or [2, 1] (per row)"),
    "int16": ({"a": np.zeros((2, 3), np.int16)}, "a must be int8 or uint8, not int16"),
    "another type of zero point": ({"a_zero_point": np.uint8(0)}, "a_zero_point must be int8 as a is, not uint8"),
}


@pytest.mark.parametrize(("changes", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_operators_do_not_allow_is_refused(changes, text):
    inputs = {
        "a": np.zeros((2, 3), np.int8), "a_scale": ONE, "a_zero_point": ZERO, "b": np.zeros((3, 4), np.int8),
        "b_scale": ONE, "b_zero_point": ZERO, "y_scale": ONE, "y_zero_point": ZERO,
    }  # fmt: skip
    with pytest.raises((TypeError, ValueError), match=re.escape(text)):
        engine().plan_qlinear_matmul(*(inputs | changes).values())
