"""Products of uint8 by int8 stated as uint8 by uint8: the exact result, of every operator that saturates."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper, numpy_helper

from systoliq.onnx.runtime import Session
from systoliq.onnx.unsaturated import unsaturated

from ..saturating import saturate

RNG = np.random.default_rng(0)
U8, S8 = np.uint8, np.int8
M, K, N = 3, 16, 5
F32 = {"a_scale": np.float32(0.02), "b_scale": np.float32(0.01), "y_scale": np.float32(2), "y_zero_point": U8(7)}
BIAS = RNG.integers(-999, 999, N).astype(np.int32)


def integers(kind, *shape):
    """Of the full range, the greatest ones together: pairs of their products exceed 16 bits."""
    array = RNG.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
    array.reshape(len(array), -1)[:, :4] = np.iinfo(kind).max
    return array


A, B = integers(U8, M, K), integers(S8, N, K).T.copy()
ZA, ZB = U8(100), RNG.integers(-20, 20, N).astype(S8)
SUMS = (A.astype(np.int64) - ZA) @ (B.astype(np.int64) - ZB)
BARE = A.astype(np.int64) @ B.astype(np.int64)
X = RNG.uniform(0, 255, (M, K)).astype(np.float32)
X[0, :2] = 0, 255  # DynamicQuantizeLinear then has scale 1 and zero point 0
PIXELS, KERNELS = integers(U8, 1, 4, 6, 6), integers(S8, 6, 2, 3, 3)


def quantized(sums):
    """The formula of QLinearMatMul, in float32."""
    s = np.float32(F32["a_scale"] * F32["b_scale"]) / F32["y_scale"]
    return np.clip(np.rint(sums.astype(np.float32) * s) + 7, 0, 255).astype(U8)


def convolved(pixels, kernels, groups):
    windows = np.lib.stride_tricks.sliding_window_view(pixels.astype(np.int64), (3, 3), axis=(2, 3))
    parts = zip(np.split(windows, groups, axis=1), np.split(kernels.astype(np.int64), groups), strict=True)
    return np.concatenate([np.einsum("bcijkl,ockl->boij", *part) for part in parts], axis=1)


QUANTIZED = {"a_zero_point": ZA, "b": B, "b_zero_point": ZB, **F32}
CONV = {"a_zero_point": U8(0), "b": KERNELS, "b_zero_point": S8(0), **F32}
ORDER = "a a_scale a_zero_point b b_scale b_zero_point"
CASES = {  # operator, domain, names of inputs, constants, attributes, a, result
    "QLinearMatMul": ("", f"{ORDER} y_scale y_zero_point", QUANTIZED, {}, A, quantized(SUMS)),
    "QGemm": (
        "com.microsoft", f"{ORDER} bias y_scale y_zero_point",
        {**QUANTIZED, "b": B.T.copy(), "b_scale": np.full(N, F32["b_scale"]), "bias": BIAS},
        {"transB": 1}, A, quantized(SUMS + BIAS),
    ),
    "MatMulInteger": (
        "", "a b a_zero_point b_zero_point", {"b": B, "a_zero_point": ZA, "b_zero_point": ZB}, {}, A, SUMS
    ),
    "MatMulInteger without zero points": ("", "a b", {"b": B}, {}, A, BARE),
    "MatMulIntegerToFloat": (
        "com.microsoft", "a b one one a_zero_point b_zero_point",
        {"b": B, "one": np.float32(1), "a_zero_point": ZA, "b_zero_point": ZB}, {}, A, SUMS.astype(np.float32),
    ),
    "MatMulIntegerToFloat without zero points": (
        "com.microsoft", "a b one ones", {"b": B, "one": np.float32(1), "ones": np.ones(N, np.float32)}, {}, A,
        BARE.astype(np.float32),
    ),
    "DynamicQuantizeMatMul": (
        "com.microsoft", "a b ones", {"b": B, "ones": np.ones(N, np.float32)}, {}, X,
        (np.rint(X).astype(np.int64) @ B.astype(np.int64)).astype(np.float32),
    ),
    "QLinearConv": (
        "", f"{ORDER} y_scale y_zero_point", CONV, {"group": 2}, PIXELS, quantized(convolved(PIXELS, KERNELS, 2))
    ),
    "ConvInteger": ("", "a b", {"b": KERNELS}, {"group": 2}, PIXELS, convolved(PIXELS, KERNELS, 2)),
    "ConvInteger of int8": (
        "", "a b", {"b": integers(U8, 6, 4, 3, 3)}, {}, integers(S8, 1, 4, 6, 6), None
    ),
}  # fmt: skip


def model_of(operator, a, constants, domain, names, attributes, *, computed):
    """One node; with `computed`, b is an input as a is."""
    inputs = {"a": a} | ({"b": constants["b"]} if computed else {})
    node = helper.make_node(operator.split()[0], names.split(), ["y"], domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for n, x in inputs.items()
        ],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(np.asarray(c), name) for name, c in constants.items() if name not in inputs],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), inputs


def run(model, inputs):
    return Session(model.SerializeToString(), "the model", as_it_is=True).run(["y"], inputs)["y"]


@pytest.mark.parametrize("computed", [False, True], ids=["constant", "computed"])
@pytest.mark.parametrize("operator", CASES)
def test_the_result_is_exact(operator, computed):
    domain, names, constants, attributes, a, expected = CASES[operator]
    if expected is None:
        expected = convolved(a, constants["b"], 1)
    model, inputs = model_of(operator, a, constants, domain, names, attributes, computed=computed)
    stated = unsaturated(model)
    assert [node.op_type for node in stated.graph.node][-1] == operator.split()[0]
    np.testing.assert_array_equal(run(stated, inputs), expected)
    if "Conv" not in operator:  # on any processor: where kernels saturate, only the model as it was does
        np.testing.assert_array_equal(run(saturate(stated), inputs), expected)
        assert np.any(run(saturate(model), inputs) != expected)


def test_other_types_and_other_nodes_stay():
    domain, names, constants, attributes, a, _ = CASES["MatMulInteger without zero points"]
    for kinds in ((U8, U8), (S8, S8), (S8, U8)):
        operands = {"a": a.astype(kinds[0])}, {"b": constants["b"].astype(kinds[1])}
        model, _ = model_of("MatMulInteger", operands[0]["a"], operands[1], domain, names, attributes, computed=True)
        assert unsaturated(model) == model
    model, _ = model_of("MatMulInteger", a, constants, domain, names, attributes, computed=True)
    assert unsaturated(model, only=["another"]) == model
    assert unsaturated(model, only=["y"]) != model
