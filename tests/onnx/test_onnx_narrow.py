"""Weights, activations and results of 4 and 2 bits in a model: the layer is what the model computes, bit for bit.

onnxruntime is the reference, or ONNX's own evaluator for A of 4 bits and weights of int2, which onnxruntime does not
run. Scales are powers of two, so that their float32 sums are exact.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from systoliq.golden import IntFormat
from systoliq.onnx import read_onnx

from .onnx_models import K, N, run, write

A_SCALE, W_SCALE, Y_SCALE = np.float32(2.0**-5), np.float32(2.0**-4), np.float32(2.0**-3)
PER_CHANNEL = np.ldexp(np.float32(1), [-4, -3, -6, -5, -2]).astype(np.float32)
TYPES = {name: np.dtype(getattr(ml_dtypes, name)) for name in ("int4", "uint4", "int2", "uint2")}
TYPES |= {name: np.dtype(name) for name in ("int8", "uint8")}
BEHIND_Q = "v = QuantizeLinear<axis = 1>(F, w_s, w_z) w = DequantizeLinear<axis = 1>(v, w_s, w_z)"
GRAPH = "x = DequantizeLinear(xq, a_s, a_z) {weights} [fc] y = MatMul(x, w) yq = QuantizeLinear(y, y_s, y_z)"
GEMM = GRAPH.replace("MatMul(x, w)", "Gemm(x, w, c)").replace("[fc]", "c = DequantizeLinear(bias, s, z) [fc]")

# Types of A, weights and Y, and what becomes of the weights before the product
MODELS = {
    "int4 weights": ("uint8", "int4", "uint8", "w = DequantizeLinear(W, w_s, w_z)"),
    "int4 weights, no zero point": ("uint8", "int4", "uint8", "w = DequantizeLinear(W, w_s)"),
    "int4 weights, per channel": ("int8", "int4", "int8", "w = DequantizeLinear<axis = 1>(W, w_s, w_z)"),
    "uint4 weights, per channel": ("uint8", "uint4", "uint8", "w = DequantizeLinear<axis = 1>(W, w_s, w_z)"),
    "int4 weights, transposed": ("uint8", "int4", "uint8",
        "v = DequantizeLinear<axis = 0>(Wt, w_s, w_z) w = Transpose<perm = [1, 0]>(v)"),
    "int4 weights behind Q": ("uint8", "int4", "uint8", BEHIND_Q),
    "int4 A": ("int4", "int4", "int8", "w = DequantizeLinear(W, w_s, w_z)"),
    "uint4 A and Y": ("uint4", "int8", "uint4", "w = DequantizeLinear(W, w_s, w_z)"),
    "int2 weights": ("uint8", "int2", "uint8", "w = DequantizeLinear(W, w_s, w_z)"),
    "uint2 weights, per channel": ("int8", "uint2", "int8", "w = DequantizeLinear<axis = 1>(W, w_s, w_z)"),
}  # fmt: skip


def random(rng, name, shape):
    """Integers of a type, all of its values."""
    fmt = IntFormat.parse(name)
    return rng.integers(fmt.min, fmt.max, shape, endpoint=True).astype(fmt.dtype)


def model(path, graph, a, b, y, weights, rng):
    """A model in these types, and its weights [K, N] and their zero points as bytes."""
    channels = "axis" in weights
    w, zero = random(rng, b, (K, N)), random(rng, b, (N,) if channels else ())
    if "w_z" not in weights:
        zero = np.zeros_like(zero)
    w_scale = PER_CHANNEL if channels else W_SCALE
    fields = {
        "a_s": A_SCALE, "a_z": random(rng, a, ()).astype(TYPES[a]), "y_s": Y_SCALE,
        "y_z": random(rng, y, ()).astype(TYPES[y]), "w_s": w_scale, "w_z": zero.astype(TYPES[b]),
        "W": w.astype(TYPES[b]), "Wt": np.ascontiguousarray(w.T).astype(TYPES[b]),
        "F": ((w.astype(np.float32) - zero.astype(np.float32)) * w_scale).astype(np.float32),
        "s": np.float32(A_SCALE * W_SCALE), "z": np.int32(0),
    }  # fmt: skip
    write(path, graph.format(weights=weights), opset=25 if "2" in b else 21, ir=13 if "2" in b else 10, **fields)
    return w, zero


def check(path, a, b, y, w, zero):
    layer = read_onnx(path)
    assert (layer.a_format.name, layer.b_format.name, layer.y_format.name) == (a, b, y)
    np.testing.assert_array_equal(layer.b, w)
    np.testing.assert_array_equal(layer.b_zero_point, np.broadcast_to(zero, N))
    given = random(np.random.default_rng(2), a, (300, K))
    inputs = {"xq": given.astype(TYPES[a])}
    (expected,) = ReferenceEvaluator(str(path)).run(None, inputs) if "4" in a or b == "int2" else run(path, inputs)[0]
    found = layer.golden(given)
    assert len(np.unique(found)) >= 8
    np.testing.assert_array_equal(found, np.asarray(expected).astype(found.dtype))


@pytest.mark.parametrize(("a", "b", "y", "weights"), MODELS.values(), ids=MODELS)
def test_layer_is_what_the_model_computes(a, b, y, weights, tmp_path):
    path = tmp_path / "model.onnx"
    w, zero = model(path, GRAPH, a, b, y, weights, np.random.default_rng(1))
    check(path, a, b, y, w, zero)


def test_bias_of_a_gemm_with_narrow_weights(tmp_path):
    path = tmp_path / "model.onnx"
    w, zero = model(path, GEMM, "uint8", "int4", "uint8", "w = DequantizeLinear(W, w_s, w_z)", np.random.default_rng(1))
    check(path, "uint8", "int4", "uint8", w, zero)
