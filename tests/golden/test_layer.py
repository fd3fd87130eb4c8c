"""MatMulLayer and layer files: golden results on a real layer, exact bounds, and every bad input by name."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8, IntFormat, MatMulLayer

from ..support.resnet8 import resnet8_layer

RESNET8 = Path(__file__).parents[3] / "shared" / "data" / "resnet8_fc.npz"
INT4 = IntFormat(4, True)


def arrays(**changes):
    """A small good layer, K = 3 and N = 2, with some of its arrays changed, or left out where None."""
    good = {
        "b": np.array([[1, -2], [3, 4], [-5, 6]], np.int8),
        "a_scale": np.float32(0.5),
        "a_zero_point": np.uint8(100),
        "b_scale": np.array([0.25, 0.5], np.float32),
        "b_zero_point": np.array([0, 1], np.int8),
        "y_scale": np.float32(2),
        "y_zero_point": np.int8(-3),
    }
    return {key: value for key, value in {**good, **changes}.items() if value is not None}


@pytest.fixture(scope="module")
def resnet8():
    if not RESNET8.exists():
        pytest.skip(f"{RESNET8} is not here: it is kept outside the project")
    with np.load(RESNET8) as archive:
        return dict(archive)


def test_the_real_layer_gives_what_onnxruntime_gave(resnet8):
    layer = resnet8_layer(resnet8)
    assert (layer.name, layer.k, layer.n, layer.a_format, layer.y_format) == ("resnet8_fc", 64, 10, INT8, INT8)
    np.testing.assert_array_equal(layer.golden(resnet8["a"]), resnet8["y_qgemm_bias"], strict=True)
    bare = layer.replace(bias=None)
    np.testing.assert_array_equal(bare.accumulate(resnet8["a"]), resnet8["acc"], strict=True)
    np.testing.assert_array_equal(bare.golden(resnet8["a"]), resnet8["y_qlinearmatmul"], strict=True)


def test_its_archive_is_not_a_layer_file(resnet8):
    with pytest.raises(ValueError, match=r"resnet8_fc\.npz: layer file must have the key 'b'; it has weights, bias"):
        MatMulLayer.load(RESNET8)


def test_a_small_layer_by_hand():
    layer = MatMulLayer(**arrays(bias=np.array([4, -6], np.int32)))
    a = np.array([[101, 102, 103], [100, 100, 100]], np.uint8)
    # centered a: 1 2 3 and 0 0 0; centered b: columns 1 3 -5 and -3 3 5
    assert layer.accumulate(a).tolist() == [[1 + 6 - 15 + 4, -3 + 6 + 15 - 6], [4, -6]]
    assert layer.scale.tolist() == [0.0625, 0.125]
    # -4 / 16 = -0.25 -> 0; 12 / 8 = 1.5 -> 2; 4 / 16 -> 0; -6 / 8 = -0.75 -> -1; then -3
    assert layer.golden(a).tolist() == [[-3, -1], [-3, -4]]
    assert layer.golden(a[0]).tolist() == [-3, -1]
    assert layer.golden(a).dtype == np.int8


def test_the_bounds_of_the_accumulator_are_reached_and_not_passed():
    layer = MatMulLayer(
        **arrays(a_zero_point=3, bias=np.array([4, -6], np.int32), a_format=IntFormat(3, False)),
    )
    every = np.array(list(itertools.product(range(8), repeat=3)), np.uint8)
    acc = layer.accumulate(every)
    least, greatest = layer.accumulator_range()
    assert least.tolist() == acc.min(axis=0).tolist()
    assert greatest.tolist() == acc.max(axis=0).tolist()


def test_the_bounds_do_not_wrap_where_the_accumulator_does():
    layer = MatMulLayer(**arrays(bias=np.array([2**31 - 1, -(2**31)], np.int32)))
    least, greatest = layer.accumulator_range()
    assert (greatest[0], least[1]) == (2**31 - 1 + 4 * 155 + 5 * 100, -(2**31) - 3 * 155 - 8 * 100)
    assert layer.accumulate(np.array([255, 255, 0], np.uint8))[0] == -(2**31) - 1 + 4 * 155 + 5 * 100


def test_one_form_is_kept_and_read_only():
    layer = MatMulLayer(**arrays(b_scale=np.array([0.5], np.float16), b_zero_point=np.zeros((1, 2), np.int8)))
    assert (layer.name, layer.a_format, layer.b_format, layer.y_format) == ("layer", UINT8, INT8, INT8)
    assert (layer.b_scale.tolist(), layer.b_scale.dtype) == ([0.5, 0.5], np.float32)
    assert (layer.b_zero_point.tolist(), layer.b_zero_point.dtype) == ([0, 0], np.int8)
    assert type(layer.a_zero_point) is type(layer.y_zero_point) is int
    for array in (layer.b, layer.b_scale, layer.b_zero_point):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        layer.name = "other"


def test_the_arrays_given_are_not_touched():
    given = arrays(bias=np.zeros(2, np.int32))
    layer = MatMulLayer(**given)
    given["b"][0, 0] = given["bias"][0] = 77
    assert (layer.b[0, 0], layer.bias[0]) == (1, 0)


def test_replace_validates_again():
    layer = MatMulLayer(**arrays(), a_format=IntFormat(7, False))
    assert layer.replace(name="wide").name == "wide"
    assert layer.replace(y_zero_point=7).y_zero_point == 7
    with pytest.raises(ValueError, match="y_zero_point must be in int8, -128 to 127, not 128"):
        layer.replace(y_zero_point=128)


def test_a_layer_survives_its_file(tmp_path):
    path = tmp_path / "small.npz"
    np.savez(path, **MatMulLayer(**arrays(bias=np.array([1, 2], np.int32))).arrays())
    layer = MatMulLayer.load(path)
    for key, value in arrays(bias=np.array([1, 2], np.int32)).items():
        np.testing.assert_array_equal(layer.arrays()[key], value, strict=True)
    assert layer.name == "small"
    assert MatMulLayer.load(path, name="other", b_format=INT4).b_format == INT4


BAD = [
    (
        {"b": np.zeros((3, 2), np.float32)},
        TypeError,
        "b must be an array of int8, uint8, int16, uint16 or float8, not float32",
    ),
    ({"b": np.zeros((0, 2), np.int8)}, ValueError, r"b must have the shape .* at least 1, not \[0, 2\]"),
    ({"b": np.zeros(3, np.int8)}, ValueError, r"b must have the shape \[K, N\] .* not \[3\]"),
    (
        {"b_format": INT4, "b": np.array([[7, 7], [7, -9]], np.int8)},
        ValueError,
        r"b\[1, 1\] must be in int4, -8 to 7, not -9",
    ),
    ({"b_format": IntFormat(12, True)}, TypeError, r"b must have the type int16 \(for int12\), not int8"),
    ({"b_format": IntFormat(32, True)}, ValueError, "format of b must have at most 16 bits, not 32"),
    ({"b_format": "int4"}, TypeError, "b_format must be an IntFormat or a Float8Format, not 'int4'"),
    (
        {"a_zero_point": 100},
        TypeError,
        "a_zero_point must be an array of int8, uint8, int16, uint16 or float8, not 100",
    ),
    ({"a_zero_point": np.zeros(3, np.int8)}, ValueError, r"a_zero_point must be a scalar .* not shape \[3\]"),
    ({"a_format": IntFormat(4, False)}, ValueError, "a_zero_point must be in uint4, 0 to 15, not 100"),
    ({"b_zero_point": np.zeros(2, np.uint8)}, TypeError, "b_zero_point must have the type int8, not uint8"),
    (
        {"b_zero_point": np.zeros(3, np.int8)},
        ValueError,
        r"b_zero_point must be .* \[2\] .* 2 columns, not shape \[3\]",
    ),
    ({"b_scale": np.ones((2, 1), np.float32)}, ValueError, r"b_scale must be .* 2 columns, not shape \[2, 1\]"),
    ({"y_zero_point": np.float32(3)}, TypeError, "y_zero_point must be an array of .* not float32"),
    ({"y_zero_point": np.zeros(2, np.int8)}, ValueError, r"y_zero_point must be a scalar .* not shape \[2\]"),
    ({"a_scale": np.float64(1)}, TypeError, "a_scale must be float32, .* not float64"),
    ({"bias": np.zeros(2, np.int64)}, TypeError, "bias must be int32, not int64"),
    ({"bias": np.zeros((1, 2), np.int32)}, ValueError, r"bias must have the shape \[2\] .* not \[1, 2\]"),
    (
        {"y_scale": None, "y_zero_point": None, "y_format": INT8},
        ValueError,
        "y_scale and y_zero_point must be given for results of int8",
    ),
    ({"name": 3}, TypeError, "name must be a str, not 3"),
    ({"name": ""}, ValueError, "name must not be empty"),
]


@pytest.mark.parametrize(("changes", "error", "text"), BAD)
def test_errors_name_the_field(changes, error, text):
    with pytest.raises(error, match=text):
        MatMulLayer(**arrays(**changes))


def test_what_cannot_be_quantized_is_named():
    for scale in (np.inf, 0.0):
        with pytest.raises(ValueError, match=f"a_scale must be finite and not 0 to quantize real numbers, not {scale}"):
            MatMulLayer(**arrays(a_scale=np.float32(scale))).quantize([[0.5]])
    with pytest.raises(ValueError, match=r"a must hold numbers, not nan \(at \[0, 1\]\)"):
        MatMulLayer(**arrays()).quantize([[0.5, np.nan]])


def test_a_combined_scale_may_vanish():
    layer = MatMulLayer(**arrays(a_scale=1e-30, b_scale=1e-30))
    assert layer.scale.tolist() == [0, 0]
    assert layer.golden(np.array([255, 0, 255], np.uint8)).tolist() == [-3, -3]


@pytest.mark.parametrize(
    ("a", "error", "text"),
    [
        (np.zeros((2, 3), np.int8), TypeError, r"a must have the type uint8 \(for uint7\), not int8"),
        (np.zeros((2, 4), np.uint8), ValueError, r"a must have the shape \[M, 3\] or \[3\] .* not \[2, 4\]"),
        (np.zeros((1, 2, 3), np.uint8), ValueError, r"not \[1, 2, 3\]"),
        (np.uint8(0), ValueError, r"not \[\]"),
        (np.array([[0, 127, 0], [0, 0, 128]], np.uint8), ValueError, r"a\[1, 2\] must be in uint7, 0 to 127, not 128"),
    ],
)
def test_bad_input_is_refused(a, error, text):
    layer = MatMulLayer(**arrays(), a_format=IntFormat(7, False))
    with pytest.raises(error, match=text):
        layer.golden(a)


def test_no_rows_give_no_rows():
    assert MatMulLayer(**arrays()).golden(np.zeros((0, 3), np.uint8)).shape == (0, 2)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"y_scale": None}, ValueError, "must have the key 'y_scale'; it has b, a_scale"),
        ({"label": np.zeros(3)}, ValueError, "must not have the key 'label'; it may have b, .*, bias"),
        ({"a_scale": np.int8(1)}, TypeError, "a_scale must be float32"),
        ({"b": np.array([[None]])}, ValueError, "must be a readable .npz archive of plain arrays"),
    ],
)
def test_errors_name_the_layer_file(tmp_path, changes, error, text):
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays(**changes))
    with pytest.raises(error, match=f"bad.npz: .*{text}"):
        MatMulLayer.load(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.npz: there is no such file"):
        MatMulLayer.load(tmp_path / "none.npz")
    whole = tmp_path / "whole.npz"
    np.savez_compressed(whole, **arrays())
    for name, content in {"text": b"hello", "empty": b"", "cut": whole.read_bytes()[:300]}.items():
        path = tmp_path / f"{name}.npz"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{name}.npz: must be a readable \.npz archive"):
            MatMulLayer.load(path)
    np.save(tmp_path / "single.npy", np.zeros(3))
    with pytest.raises(ValueError, match="it holds a single array"):
        MatMulLayer.load(tmp_path / "single.npy")


def test_layers_are_themselves_alone():
    """They are keys of what is made of them."""
    layer = MatMulLayer(**arrays())
    assert layer.replace() != layer
    assert len({layer, layer.replace()}) == 2


def test_formats_of_operands_whose_zero_points_come_at_run_time():
    for bits in (2, 15, 16):
        assert (
            MatMulLayer(
                b=np.ones((2, 1), np.int8), b_zero_point=np.int8(0), a_format=IntFormat(bits, True)
            ).a_format.bits
            == bits
        )
    with pytest.raises(ValueError, match="of integers of at most 16 bits, where it comes at run time, not int32"):
        MatMulLayer(b=np.ones((2, 1), np.int8), b_zero_point=np.int8(0), a_format=IntFormat(32, True))


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_scales_of_sums_are_positive_and_finite(scale):
    """Those of a layer whose zero point of A comes at run time."""
    b = np.ones((2, 2), np.int8)
    with pytest.raises(ValueError, match="b_scale must be positive and finite, not "):
        MatMulLayer(b=b, b_zero_point=np.int8(0), a_format=INT8, b_scale=np.float32([1, scale]))
