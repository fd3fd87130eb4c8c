"""matmul_integer and qlinear_matmul: shapes, parameters, types, errors, against sums and roundings in plain Python."""

import time

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from systoliq.golden import matmul_integer, qlinear_matmul

from .onnx_reference import f32, reference

EIGHT_BITS = [np.int8, np.uint8]


@st.composite
def products(draw):
    """The inputs of a QLinearMatMul with every shape that numpy.matmul takes and every form of parameter."""
    shapes = draw(
        hnp.mutually_broadcastable_shapes(signature="(m?,k),(k,n?)->(m?,n?)", max_dims=2, max_side=4, min_side=0)
    )
    a_shape, b_shape = shapes.input_shapes

    def parameter(elements, dtype, shape, axis):
        forms = [(), (1,)]
        if len(shape) >= 2:
            forms.append((*shape[:-1], 1) if axis == "row" else (*shape[:-2], 1, shape[-1]))
        if len(shape) == 2:
            forms.append((shape[0 if axis == "row" else 1],))
        return draw(hnp.arrays(dtype, draw(st.sampled_from(forms)), elements=elements))

    def eight_bits(dtype):
        return st.integers(np.iinfo(dtype).min, np.iinfo(dtype).max)

    scales = st.floats(2**-10, 8, width=32)
    a_type, b_type, y_type = (draw(st.sampled_from(EIGHT_BITS)) for _ in range(3))
    return (
        draw(hnp.arrays(a_type, a_shape, elements=eight_bits(a_type))),
        parameter(scales, np.float32, a_shape, "row"),
        parameter(eight_bits(a_type), a_type, a_shape, "row"),
        draw(hnp.arrays(b_type, b_shape, elements=eight_bits(b_type))),
        parameter(scales, np.float32, b_shape, "column"),
        parameter(eight_bits(b_type), b_type, b_shape, "column"),
        draw(hnp.arrays(np.float32, st.sampled_from([(), (1,)]), elements=st.floats(2**-4, 2**10, width=32))),
        draw(hnp.arrays(y_type, st.sampled_from([(), (1,)]), elements=eight_bits(y_type))),
    )


@given(products())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_shape_and_parameter_equals_the_definition(inputs):
    acc, y = reference(*inputs)
    a, _, a_zero_point, b, _, b_zero_point, *_ = inputs
    np.testing.assert_array_equal(matmul_integer(a, b, a_zero_point, b_zero_point), acc, strict=True)
    np.testing.assert_array_equal(qlinear_matmul(*inputs), y, strict=True)


@pytest.mark.parametrize("bits", [np.float16, ml_dtypes.bfloat16])
def test_16_bit_scales_are_widened_first(bits):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (20, 9)).astype(np.int8), rng.integers(0, 256, (9, 30)).astype(np.uint8)
    scales = [np.asarray(rng.uniform(0.01, 0.2, shape)).astype(bits) for shape in ((20,), (1, 30), ())]
    if bits is np.float16:
        wide = [scale.astype(np.float32) for scale in scales]
    else:  # a bfloat16 is the upper half of a float32
        wide = [(scale.view(np.uint16).astype(np.uint32) << 16).view(np.float32) for scale in scales]

    def inputs(a_scale, b_scale, y_scale):
        return a, a_scale, np.array(3, np.int8), b, b_scale, np.array(99, np.uint8), y_scale, np.array(-7, np.int8)

    _, expected = reference(*inputs(*wide))
    np.testing.assert_array_equal(qlinear_matmul(*inputs(*scales)), expected, strict=True)


def test_a_vector_for_a_means_rows_even_where_m_equals_k():
    a, b = np.ones((2, 2), np.uint8), np.array([[1, 10], [1, 10]], np.uint8)
    assert matmul_integer(a, b, np.array([0, 1], np.uint8)).tolist() == [[2, 20], [0, 0]]
    assert matmul_integer(a, b, None, np.array([0, 10], np.uint8)).tolist() == [[2, 0], [2, 0]]


def test_sums_wrap_in_int32():
    k = 33026  # the first K at which 255 * 255 * K passes 2^31 - 1
    a, b = np.full((1, k), 255, np.uint8), np.full((k, 1), 255, np.uint8)
    assert matmul_integer(a, b).tolist() == [[33026 * 65025 - 2**32]]
    assert matmul_integer(a[:, 1:], b[1:]).tolist() == [[33025 * 65025]]


def test_sums_of_more_than_65535_products():
    """Sums of 131073 products, some of which wrap, and their rescale, by the definition."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 256, (2, 131073)).astype(np.uint8), rng.integers(0, 256, (131073, 2)).astype(np.uint8)
    a[1], b[:, 1] = 255, 255
    inputs = a, np.float32(0.5), np.uint8([9, 0]), b, np.float32(1e-7), np.uint8([0, 3]), np.float32(1), np.int8(5)
    total = [sum((x - zp) * (w - 3) for x, w in zip(row.tolist(), b[:, 1].tolist(), strict=True))
             for row, zp in zip(a, (9, 0), strict=True)]  # fmt: skip
    wrapped = [(each + 2**31) % 2**32 - 2**31 for each in total]
    assert wrapped[1] != total[1]
    assert matmul_integer(a, b, inputs[2], inputs[5])[:, 1].tolist() == wrapped
    scale = f32(np.float32(0.5).item() * np.float32(1e-7).item())
    assert qlinear_matmul(*inputs)[:, 1].tolist() == [
        min(max(round(f32(f32(acc) * scale)) + 5, -128), 127) for acc in wrapped
    ]


def test_sums_of_nothing():
    a, b = np.zeros((2, 0), np.int8), np.zeros((0, 3), np.int8)
    scale = np.float32(1)
    y = qlinear_matmul(a, scale, np.int8(5), b, scale, np.int8(5), scale, np.uint8(200))
    assert matmul_integer(a, b).tolist() == [[0, 0, 0]] * 2
    assert y.tolist() == [[200] * 3] * 2
    assert y.dtype == np.uint8


def test_1024_cubed_takes_about_a_second():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (1024, 1024)).astype(np.int8) for _ in range(2))
    start = time.perf_counter()
    acc = matmul_integer(a, b, np.int8(-128), np.int8(127))
    assert time.perf_counter() - start < 5
    row, column = a[17].astype(np.int64) + 128, b[:, 18].astype(np.int64) - 127
    assert acc[17, 18] == (row * column).sum()


I8, U8, F32 = np.int8(0), np.uint8(0), np.float32(1)
A, B = np.zeros((2, 3), np.int8), np.zeros((3, 4), np.uint8)
GOOD = {
    "a": A,
    "a_scale": F32,
    "a_zero_point": I8,
    "b": B,
    "b_scale": F32,
    "b_zero_point": U8,
    "y_scale": F32,
    "y_zero_point": I8,
}
BAD = [
    ({"a": np.zeros((2, 5), np.int8)}, ValueError, r"a of shape \[2, 5\] and b of shape \[3, 4\] .* K, not 5 and 3"),
    ({"b": np.zeros(2, np.uint8)}, ValueError, r"a of shape \[2, 3\] and b of shape \[2\] .* K, not 3 and 2"),
    ({"a": I8}, ValueError, r"a must have at least one dimension, not shape \[\]"),
    (
        {"a": np.zeros((2, 1, 3), np.int8), "b": np.zeros((5, 3, 1), np.uint8)},
        ValueError,
        r"a of shape \[2, 1, 3\] and b of shape \[5, 3, 1\] must have batch dimensions that broadcast",
    ),
    ({"a": A.astype(np.int64)}, TypeError, "a must be int8, uint8 or one of float8_e4m3fn, .*, not int64"),
    ({"b": B.astype(np.float32)}, TypeError, "b must be int8, uint8 or one of .*, not float32"),
    ({"a_zero_point": U8}, TypeError, "a_zero_point must be int8 as a is, not uint8"),
    ({"b_zero_point": I8}, TypeError, "b_zero_point must be uint8 as b is, not int8"),
    ({"y_zero_point": np.int32(0)}, TypeError, "y_zero_point must be int8, uint8 or one of .*, not int32"),
    ({"y_zero_point": np.zeros(4, np.int8)}, ValueError, r"y_zero_point must be a scalar .* not shape \[4\]"),
    ({"y_scale": np.ones(4, np.float32)}, ValueError, r"y_scale must be a scalar .* not shape \[4\]"),
    ({"a_scale": np.float64(1)}, TypeError, "a_scale must be float32, float16 or bfloat16, not float64"),
    ({"y_scale": 1}, TypeError, "y_scale must be float32, float16 or bfloat16, not int64"),
    (
        {"a_scale": np.ones(3, np.float32)},
        ValueError,
        r"a_scale must be a scalar or \[2\] or \[2, 1\] \(per row\) for a of shape \[2, 3\], not of shape \[3\]",
    ),
    (
        {"b_scale": np.ones(3, np.float32)},
        ValueError,
        r"b_scale must be a scalar or \[4\] or \[1, 4\] \(per column\) for b of shape \[3, 4\], not of shape \[3\]",
    ),
    (
        {"a_zero_point": np.zeros((1, 2), np.int8)},
        ValueError,
        r"a_zero_point .* a of shape \[2, 3\], not of shape \[1, 2\]",
    ),
    (
        {"b_zero_point": np.zeros((4, 1), np.uint8)},
        ValueError,
        r"b_zero_point .* b of shape \[3, 4\], not of shape \[4, 1\]",
    ),
    (
        {"b": np.zeros((2, 3, 4), np.uint8), "b_scale": np.ones(4, np.float32)},
        ValueError,
        r"b_scale must be a scalar or \[2, 1, 4\] \(per column\) for b of shape \[2, 3, 4\], not of shape \[4\]",
    ),
    (
        {"a": np.zeros(3, np.int8), "a_scale": np.ones(3, np.float32)},
        ValueError,
        r"must be a scalar for a of shape \[3\]",
    ),
    ({"a": A.astype(ml_dtypes.float8_e4m3fn)}, TypeError, "a_zero_point must be float8_e4m3fn as a is, not int8"),
    ({"y_zero_point": ml_dtypes.float8_e4m3(0)}, TypeError, "y_zero_point must be int8, .*, not float8_e4m3$"),
    ({"y_zero_point": ml_dtypes.float8_e5m2(1)}, ValueError, "y_zero_point must be 0, as it is .*, not the code 0x3c"),
]


@pytest.mark.parametrize(("change", "error", "text"), BAD)
def test_errors_name_the_operand_and_both_shapes(change, error, text):
    with pytest.raises(error, match=text):
        qlinear_matmul(**{**GOOD, **change})


def test_errors_of_matmul_integer():
    with pytest.raises(TypeError, match="a_zero_point must be int8 as a is, not int64"):
        matmul_integer(A, B, 3)
    with pytest.raises(
        TypeError, match="a must be int8 or uint8, not float8_e5m2: float8 is for golden's qlinear_matmul"
    ):
        matmul_integer(A.astype(ml_dtypes.float8_e5m2), B)
    with pytest.raises(ValueError, match=r"b_zero_point must be .* for b of shape \[3, 4\], not of shape \[2\]"):
        matmul_integer(A, B, None, np.zeros(2, np.uint8))
