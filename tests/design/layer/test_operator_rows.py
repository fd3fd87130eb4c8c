"""Rows of docs/operators.md for layers: types, forms of parameters, shapes and K, by the operators' definition."""

from __future__ import annotations

import itertools
import re

import ml_dtypes
import numpy as np
import pytest

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer

from ...golden.onnx_reference import reference

ONE = np.float32(1)


def mixes(count):
    return list(itertools.product((np.int8, np.uint8), repeat=count))


def named(types):
    return "-".join(each.__name__ for each in types)


def draw(rng, dtype, shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def parameters(rng, types, n):
    """Of a QLinearMatMul with weights [4, n]: all but a, per column for b; and the rows of A."""
    a_type, b_type, y_type = types
    return draw(rng, a_type, (6, 4)), {
        "a_scale": np.float32(0.1),
        "a_zero_point": draw(rng, a_type, ()),
        "b": draw(rng, b_type, (4, n)),
        "b_scale": rng.uniform(-0.1, 0.1, n).astype(np.float32),
        "b_zero_point": draw(rng, b_type, n),
        "y_scale": np.float32(0.7),
        "y_zero_point": draw(rng, y_type, ()),
    }


def run(layer, a):
    result = LayerDesign(layer, LayerOptions(cols=layer.n)).simulate(a, simulator="icarus")
    result.check()
    return result.y


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("types", mixes(3), ids=named)
def test_every_mix_of_integers(types):
    """int8 and uint8 for each of a, b and y; scales and zero points per column of b."""
    a, given = parameters(np.random.default_rng(1), types, 3)
    acc, y = reference(a, *given.values())
    np.testing.assert_array_equal(run(MatMulLayer(**given), a), y, strict=True)
    sums = MatMulLayer(**{name: given[name] for name in ("b", "a_zero_point", "b_zero_point")})
    np.testing.assert_array_equal(sums.golden(a), acc, strict=True)


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("types", mixes(2), ids=named)
def test_every_mix_of_integers_to_int32(types):
    rng = np.random.default_rng(2)
    a, given = parameters(rng, (*types, np.int8), 2)
    acc, _ = reference(a, *given.values())
    sums = MatMulLayer(**{name: given[name] for name in ("b", "a_zero_point", "b_zero_point")})
    np.testing.assert_array_equal(run(sums, a), acc, strict=True)


FORMS = {"0-d": ((), ()), "[1]": ((1,), (1,)), "[N]": ((1,), (3,)), "[1, N]": ((), (1, 3))}


@pytest.mark.parametrize("scale_type", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("points", "scales"), list(itertools.product(FORMS, FORMS)))
def test_forms_of_parameters(points, scales, scale_type):
    """A scale and a zero point of b may differ in form; 16-bit scales are widened first."""
    rng = np.random.default_rng(3)
    a, given = parameters(rng, (np.uint8, np.int8, np.uint8), 3)
    for name in "ab":
        given[f"{name}_zero_point"] = draw(rng, given[f"{name}_zero_point"].dtype, FORMS[points][name == "b"])
        given[f"{name}_scale"] = rng.uniform(0.1, 0.3, FORMS[scales][name == "b"]).astype(scale_type)
    given["y_scale"] = np.full(FORMS[scales][0], 0.7, scale_type)
    given["y_zero_point"] = np.full(FORMS[points][0], 77, np.uint8)
    wide = {name: np.asarray(value, np.float32) if "scale" in name else value for name, value in given.items()}
    flat = {name: value.reshape(-1) if name != "b" else value for name, value in wide.items()}
    np.testing.assert_array_equal(MatMulLayer(**given).golden(a), reference(a, *flat.values())[1], strict=True)


REFUSED = {
    "a zero point per row": ({"a_zero_point": np.zeros(6, np.uint8)}, "a_zero_point must be a scalar or have one elem"),
    "a scale per row": ({"a_scale": np.ones(6, np.float32)}, "a_scale must be a scalar or have one element"),
    "y scale per column": ({"y_scale": np.ones(3, np.float32)}, "y_scale must be a scalar or have one element"),
    "1-D b": ({"b": np.zeros(4, np.int8)}, "b must have the shape [K, N] with K and N at least 1, not [4]"),
    "3-D b": (
        {"b": np.zeros((2, 4, 3), np.int8)},
        "b must have the shape [K, N] with K and N at least 1, not [2, 4, 3]",
    ),
    "N = 0": ({"b": np.zeros((4, 0), np.int8)}, "b must have the shape [K, N] with K and N at least 1, not [4, 0]"),
    "K = 0": ({"b": np.zeros((0, 3), np.int8)}, "b must have the shape [K, N] with K and N at least 1, not [0, 3]"),
    "parameters of batches": (
        {"b_zero_point": np.zeros((2, 1, 3), np.int8)},
        "b_zero_point must be a scalar, [3] or [1, 3]",
    ),
}


@pytest.mark.parametrize(("changes", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(changes, text):
    _, given = parameters(np.random.default_rng(4), (np.uint8, np.int8, np.uint8), 3)
    with pytest.raises(ValueError, match=re.escape(text)):
        MatMulLayer(**given | changes)


@pytest.mark.parametrize("name", ["a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point"])
def test_every_parameter_is_constant(name, save):
    """None can be left to run time: a layer file has them all, or none of those that int32 sums do without."""
    _, given = parameters(np.random.default_rng(7), (np.uint8, np.int8, np.uint8), 3)
    path = save("layer.npz", **{key: value for key, value in given.items() if key != name})
    with pytest.raises(ValueError, match=f"layer file must have the key '{name}'"):
        MatMulLayer.load(path)
    sums = {key: given[key] for key in ("b", "a_zero_point", "b_zero_point") if key != name}
    if len(sums) == 2:
        with pytest.raises(ValueError, match=f"layer file must have the key '{name}'"):
            MatMulLayer.load(save("sums.npz", **sums))


def test_rows_of_a():
    """[K] is one row; [..., M, K] is to be given row by row, and no rows at all are for golden alone."""
    a, given = parameters(np.random.default_rng(5), (np.uint8, np.int8, np.uint8), 3)
    layer = MatMulLayer(**given)
    np.testing.assert_array_equal(layer.golden(a[0]), reference(a[0], *given.values())[1], strict=True)
    batches = a.reshape(2, 3, 4)
    y = layer.golden(batches.reshape(-1, 4)).reshape(2, 3, 3)
    np.testing.assert_array_equal(y, reference(batches, *given.values())[1], strict=True)
    assert layer.golden(a[:0]).shape == (0, 3)
    with pytest.raises(ValueError, match=r"a must have the shape \[M, 4\] with M at least 1, not \[0, 4\]"):
        LayerDesign(layer).simulate(a[:0])


@pytest.mark.simulator
def test_k_beyond_65535():
    k = 65600
    rng = np.random.default_rng(6)
    a, b = draw(rng, np.int8, (2, k)), rng.integers(-3, 4, (k, 1)).astype(np.int8)
    zero = np.int8(0)
    layer = MatMulLayer(
        b=b,
        a_scale=ONE,
        a_zero_point=zero,
        b_scale=np.float32(-1e-4),
        b_zero_point=zero,
        y_scale=ONE,
        y_zero_point=zero,
    )
    result = LayerDesign(layer, LayerOptions(depth=64)).simulate(a, simulator="icarus")
    result.check()
    _, y = reference(a, ONE, zero, b, layer.b_scale, zero, ONE, zero)
    np.testing.assert_array_equal(result.y, y, strict=True)
