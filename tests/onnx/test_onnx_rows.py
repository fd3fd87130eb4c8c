"""Rows of docs/operators.md for products of ONNX models: types, opsets, forms of parameters, shapes of A."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import onnx
import pytest

from systoliq.onnx import read_products

from ..golden.in_onnxruntime import run
from ..golden.onnx_reference import reference

NAMES = ("a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")

ORDER = {"QLinearMatMul": NAMES, "MatMulInteger": ("b", "a_zero_point", "b_zero_point")}


def draw(rng, dtype, shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def product(path, operator, a, opset, **constants):
    """The one product of a model of `operator`, whose input a has the type and shape of `a`."""
    helper = onnx.helper
    code = helper.np_dtype_to_tensor_dtype(a.dtype)
    y = constants["y_zero_point"].dtype if "y_zero_point" in constants else np.dtype(np.int32)
    shape = np.matmul(np.zeros(a.shape), np.zeros(constants["b"].shape)).shape
    graph = helper.make_graph(
        [helper.make_node(operator, ["a", *sorted(constants, key=ORDER[operator].index)], ["y"], name="product")],
        "g",
        [helper.make_tensor_value_info("a", code, a.shape)],
        [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(y), shape)],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=5 if opset < 21 else 10)
    onnx.save(model, path)
    (found,) = read_products(path)
    return found


def given(rng, types, k=4, n=3):
    a_type, b_type, y_type = types
    a = draw(rng, a_type, (5, k))
    scales = np.float32(0.1), rng.uniform(-0.2, 0.2, n).astype(np.float32), np.float32(0.7)
    b, points = draw(rng, b_type, (k, n)), (draw(rng, a_type, ()), draw(rng, b_type, n), draw(rng, y_type, ()))
    values = (scales[0], points[0], b, scales[1], points[1], scales[2], points[2])
    return a, dict(zip(NAMES, values, strict=True))


def mixes(count):
    return list(itertools.product((np.int8, np.uint8), repeat=count))


def named(types):
    return "-".join(each.__name__ for each in types)


@pytest.mark.parametrize("opset", [10, 21])
@pytest.mark.parametrize("types", mixes(3), ids=named)
def test_every_mix_of_integers(types, opset, tmp_path):
    a, constants = given(np.random.default_rng(1), types)
    layer = product(tmp_path / "m.onnx", "QLinearMatMul", a, opset, **constants).layer
    np.testing.assert_array_equal(layer.golden(a), reference(a, *constants.values())[1], strict=True)


@pytest.mark.parametrize("types", mixes(2), ids=named)
def test_every_mix_of_integers_to_int32(types, tmp_path):
    a, constants = given(np.random.default_rng(2), (*types, np.int8))
    own = {name: constants[name] for name in ("b", "a_zero_point", "b_zero_point")}
    layer = product(tmp_path / "m.onnx", "MatMulInteger", a, 10, **own).layer
    np.testing.assert_array_equal(layer.golden(a), reference(a, *constants.values())[0], strict=True)


@pytest.mark.parametrize("scale_type", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("form", [(), (1,), (3,), (1, 3)], ids=str)
def test_forms_of_parameters(form, scale_type, tmp_path):
    """Of b as `form` says, of a and y 0-d or [1]."""
    rng = np.random.default_rng(3)
    a, constants = given(rng, (np.uint8, np.int8, np.uint8))
    one = (1,) * (len(form) > 0)
    constants |= {
        "a_scale": np.full(one, 0.1, scale_type),
        "b_scale": rng.uniform(0.1, 0.2, form).astype(scale_type),
        "b_zero_point": draw(rng, np.int8, form[-1:]),
        "y_scale": np.full(one, 0.7, scale_type),
        "y_zero_point": np.full(one, 9, np.uint8),
    }
    layer = product(tmp_path / "m.onnx", "QLinearMatMul", a, 21, **constants).layer
    wide = {name: value.astype(np.float32) if "scale" in name else value for name, value in constants.items()}
    wide["b_scale"] = wide["b_scale"].reshape(-1)
    np.testing.assert_array_equal(layer.golden(a), reference(a, *wide.values())[1], strict=True)


@pytest.mark.parametrize(("shape", "m"), [((4,), "1"), ((5, 4), "5"), ((2, 3, 4), "6"), ((0, 4), "0")], ids=str)
def test_shapes_of_a(shape, m, tmp_path):
    """A is given row by row, whatever its shape in the model."""
    rng = np.random.default_rng(4)
    _, constants = given(rng, (np.int8, np.int8, np.int8))
    a = draw(rng, np.int8, shape)
    found = product(tmp_path / "m.onnx", "QLinearMatMul", a, 21, **constants)
    assert found.shape == f"{m} x 4 x 3"
    y = found.layer.golden(a.reshape(-1, 4)).reshape(*shape[:-1], 3)
    np.testing.assert_array_equal(y, reference(a, *constants.values())[1], strict=True)


ODD = {
    "negative": np.float32([-0.1, 0.1, -0.3]),
    "zero": np.float32([0, -0.0, 1e-45]),
    "NaN": np.float32([np.nan, 0.1, -0.1]),
    "infinite": np.float32([np.inf, -np.inf, np.nan]),
}


@pytest.mark.parametrize("b_scale", ODD.values(), ids=ODD)
def test_scales_that_are_not_positive_and_finite(b_scale, tmp_path):
    a, constants = given(np.random.default_rng(5), (np.int8, np.int8, np.int8))
    constants |= {"b_scale": b_scale, "b_zero_point": np.zeros(3, np.int8)}
    a[2] = constants["a_zero_point"]  # sums of 0
    layer = product(tmp_path / "m.onnx", "QLinearMatMul", a, 21, **constants).layer
    y = run("QLinearMatMul", "int8", a, *constants.values())
    np.testing.assert_array_equal(layer.golden(a), y, strict=True)
    assert np.isfinite(layer.canonical.scale).all()


REFUSED = {
    "a zero point per row": ({"a_zero_point": np.zeros(5, np.uint8)}, "a_zero_point must be a scalar or have one elem"),
    "a scale per row": ({"a_scale": np.ones(5, np.float32)}, "a_scale must be a scalar or have one element"),
    "1-D b": ({"b": np.zeros(4, np.int8)}, "b must have the shape [K, N] with K and N at least 1, not [4]"),
    "3-D b": ({"b": np.zeros((1, 4, 3), np.int8)}, "b must have the shape [K, N] with K and N at least 1, not [1, 4,"),
    "N = 0": ({"b": np.zeros((4, 0), np.int8)}, "b must have the shape [K, N] with K and N at least 1, not [4, 0]"),
    "parameters of batches": (
        {"b": np.zeros((2, 4, 3), np.int8), "b_scale": np.ones((2, 1, 3), np.float32)}, "b must have the shape [K, N]",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(changes, text, tmp_path):
    a, constants = given(np.random.default_rng(6), (np.uint8, np.int8, np.uint8))
    found = product(tmp_path / "m.onnx", "QLinearMatMul", a, 21, **constants | changes)
    assert found.layer is None
    assert found.reason.startswith(text)


def test_no_products_of_nothing(tmp_path):
    a, constants = given(np.random.default_rng(7), (np.uint8, np.int8, np.uint8), k=1)
    constants["b"] = constants["b"][:0]
    found = product(tmp_path / "m.onnx", "QLinearMatMul", a[:, :0], 21, **constants)
    assert found.reason == "b must have the shape [K, N] with K and N at least 1, not [0, 3]"
