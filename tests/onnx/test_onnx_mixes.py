"""float8 beside integers in a model: the layer is what docs/float8.md defines, by Python integers; in QDQ form also
what onnxruntime computes, where its float32 sums are exact.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from systoliq.onnx import read_onnx

from ..golden import float8_oracle as oracle
from .float8_models import GENERAL, POINTS, POWERS, QDQ, by_definition, codes, few_bits, in_onnxruntime, model
from .onnx_models import K, N
from .onnx_nodes import QLINEAR

FLOAT8, INTEGERS = {*oracle.FLOAT8}, {*oracle.INTEGERS}
TYPES = itertools.product((*oracle.FLOAT8, *oracle.INTEGERS), repeat=3)
MIXES = [types for types in TYPES if FLOAT8 & {*types} and INTEGERS & {*types}]
FEW = [
    ("float8_e4m3fn", "int8", "float8_e5m2"),
    ("uint8", "float8_e5m2", "uint8"),
    ("int8", "uint8", "float8_e4m3fn"),
    ("float8_e5m2fnuz", "float8_e4m3fn", "int8"),
]


def middling(rng, name, shape, odd):
    """Any integers, or codes of numbers around 1, and with the probability `odd` any code."""
    found = codes(rng, name, shape, 1)
    if name in INTEGERS:
        return found
    numbers = rng.normal(0, 1, shape).astype(found.dtype).view(np.uint8)
    return np.where(rng.random(shape) < odd, found.view(np.uint8), numbers).view(found.dtype)


def scale_of(types, y):
    """A scale for results that spread: products of integers are some thousands, those of float8 some ones."""
    return np.float32(y / 64 ** sum(name in INTEGERS for name in types[2:]) * 64 ** len(INTEGERS & {*types[:2]}))


def results(layer, a):
    """Of the layer; float8 as codes."""
    y = layer.golden(a)
    return y.view(np.uint8) if layer.y_format.name in FLOAT8 else y


@pytest.mark.parametrize("types", MIXES, ids="-".join)
def test_qlinear_matmul_of_every_mix(types, tmp_path):
    rng = np.random.default_rng(6)
    w, a = middling(rng, types[1], (K, N), 0.01), middling(rng, types[0], (12, K), 0.02)
    scales = GENERAL["a_s"], GENERAL["w_s"], scale_of(types, 0.3)
    layer = read_onnx(model(tmp_path / "model.onnx", QLINEAR, types, *scales, w))
    assert (layer.a_format.name, layer.b_format.name, layer.y_format.name) == types
    np.testing.assert_array_equal(results(layer, a), by_definition(a, w, scales, types[2]))
    assert len(np.unique(results(layer, a))) > 12


@pytest.mark.parametrize("graph", QDQ.values(), ids=QDQ)
@pytest.mark.parametrize("types", FEW, ids="-".join)
def test_qdq_is_what_onnxruntime_computes(types, graph, tmp_path):
    rng = np.random.default_rng(6)
    w, a = few_bits(rng, types[1], (K, N)), few_bits(rng, types[0], (200, K))
    points = {key: np.array(point, name) for (key, point), name in zip(POINTS.items(), types, strict=True)}
    left_out = {key: 0 * point for key, point in points.items() if types[list(POINTS).index(key)] in INTEGERS}
    scales = POWERS["a_s"], POWERS["w_s"], scale_of(types, 2.0**-7)
    path = model(tmp_path / "model.onnx", graph, types, *scales, w, **({} if "w_z" in graph else left_out))
    layer = read_onnx(path)
    y, golden = in_onnxruntime(path, a), results(layer, a)
    np.testing.assert_array_equal(golden if types[2] in INTEGERS else oracle.values(types[2])[golden], y)
    assert len(np.unique(y)) > 30
