"""Layers of int32 sums: MatMulInteger's results, in every form that their parameters may have."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT32, MatMulLayer, Unscaled, matmul_integer

RNG = np.random.default_rng(3)
A = RNG.integers(0, 256, (7, 12)).astype(np.uint8)
B = RNG.integers(-128, 128, (12, 5)).astype(np.int8)
FIELDS = {"b": B, "a_zero_point": np.uint8(117), "b_zero_point": np.int8(-9)}
SCALES = {"a_scale": np.float32(0.25), "b_scale": np.float32([1, 2, 3, 4, 5])}


@pytest.mark.parametrize("b_zero_point", [np.int8(3), np.array([3], np.int8), B[0], B[:1]], ids=lambda z: str(z.shape))
def test_golden_is_matmul_integer(b_zero_point):
    layer = MatMulLayer(**FIELDS | {"b_zero_point": b_zero_point})
    expected = matmul_integer(
        A, B, FIELDS["a_zero_point"], b_zero_point.reshape(-1) if b_zero_point.ndim else b_zero_point
    )
    np.testing.assert_array_equal(layer.golden(A), expected, strict=True)
    np.testing.assert_array_equal(Unscaled().apply(layer.accumulate(A)), expected, strict=True)
    assert (layer.gives_sums, layer.y_format, layer.y_zero_point, layer.sum_scale) == (True, INT32, None, None)
    assert layer.replace(name="other").gives_sums


def test_sums_wrap_as_int32():
    b = np.full((70000, 1), -32768, np.int16)
    layer = MatMulLayer(b=b, a_zero_point=np.int16(0), b_zero_point=np.int16(0))
    a = np.full((1, 70000), -32768, np.int16)
    assert layer.golden(a).tolist() == [[((70000 << 30) + (1 << 31)) % (1 << 32) - (1 << 31)]]


@pytest.mark.parametrize("fields", [FIELDS, FIELDS | SCALES, FIELDS | {"bias": np.arange(5, dtype=np.int32)}])
def test_files_give_the_layer_back(fields, tmp_path):
    layer = MatMulLayer(**fields)
    np.savez(tmp_path / "sums.npz", **layer.arrays())
    assert set(layer.arrays()) == set(fields)
    np.testing.assert_array_equal(MatMulLayer.load(tmp_path / "sums.npz").golden(A), layer.golden(A))


def test_known_scales_say_what_sums_count():
    layer = MatMulLayer(**FIELDS | SCALES)
    assert layer.sum_scale.tolist() == [0.25, 0.5, 0.75, 1.0, 1.25]
    assert layer.quantize(np.array([0.5])).tolist() == [119]
    with pytest.raises(TypeError, match="scale must be asked of a layer with y_scale, not of int32 sums"):
        _ = layer.scale
    with pytest.raises(ValueError, match="a_scale must be known to quantize real numbers"):
        MatMulLayer(**FIELDS).quantize(np.array([0.5]))
    with pytest.raises(TypeError, match="acc must be int32, not int64"):
        Unscaled().apply(np.zeros(3, np.int64))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"y_scale": 1.0}, "y_zero_point must be given too, or y_scale and y_zero_point left out"),
        ({"y_zero_point": np.int8(0)}, "a_scale must be given too, or y_scale and y_zero_point left out"),
        (SCALES | {"y_zero_point": np.int8(0)}, "y_scale must be given too, or y_scale and y_zero_point left out"),
        ({"a_scale": 1.0}, "b_scale must be given too, or a_scale and b_scale left out together for int32 sums"),
        ({"b_scale": 1.0}, "a_scale must be given too, or a_scale and b_scale left out"),
        ({"y_format": INT32, "y_scale": 1.0, "y_zero_point": 0}, "at most 16 bits, not 32"),
        ({"a_scale": 1e30, "b_scale": 1e30}, r"a_scale \* b_scale must be finite in float32, not inf"),
        (
            {"a_zero_point": np.zeros(7, np.uint8)},
            r"a_zero_point must be a scalar or have one element, not shape \[7\]",
        ),
        ({"b_zero_point": np.zeros(7, np.int8)}, r"b_zero_point must be a scalar, \[5\] or \[1, 5\] .* shape \[7\]"),
    ],
)
def test_bad_fields_are_named(changes, text):
    with pytest.raises(ValueError, match=text):
        MatMulLayer(**FIELDS | changes)


def test_a_file_with_half_of_the_scales(tmp_path):
    np.savez(tmp_path / "half.npz", **FIELDS, a_scale=np.float32(1))
    with pytest.raises(ValueError, match=r"half.npz: layer file must have the key 'b_scale'; it has b, a_zero_point"):
        MatMulLayer.load(tmp_path / "half.npz")
