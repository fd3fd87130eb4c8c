"""golden's float8 products against DequantizeLinear -> MatMul -> QuantizeLinear in onnxruntime.

onnxruntime has no QLinearMatMul of float8. Its chain rounds the dequantized operands, every step of the sum and the
quotient to float32; where it differs from golden, exact rationals must say that golden is right and that one of these
roundings was inexact.
"""

import itertools
from fractions import Fraction

import float8_oracle as oracle
import numpy as np
import pytest

from systoliq.golden import combined_scale, qlinear_matmul

onnx = pytest.importorskip("onnx", reason="onnx builds the models for onnxruntime")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is the reference here")

PAIRS = list(itertools.product(oracle.FLOAT8, repeat=2))


def chain(a, a_scale, b, b_scale, y_scale, y_type):
    """float32 values of the chain's result, and its float32 sums; a and b are arrays of ml_dtypes."""
    helper, types = onnx.helper, onnx.TensorProto

    def kind(name):
        return getattr(types, name.replace("_", "").upper())

    def constant(name, array):
        return helper.make_tensor(name, kind(array.dtype.name), array.shape, array.tobytes(), raw=True)

    scales = {"a_scale": a_scale, "b_scale": b_scale, "y_scale": y_scale}
    graph = helper.make_graph(
        [
            helper.make_node("DequantizeLinear", ["a", "a_scale"], ["x"]),
            helper.make_node("DequantizeLinear", ["b", "b_scale"], ["w"]),
            helper.make_node("MatMul", ["x", "w"], ["sum"]),
            helper.make_node("QuantizeLinear", ["sum", "y_scale", "zero"], ["y"]),
            helper.make_node("Cast", ["y"], ["value"], to=types.FLOAT),
        ],
        "chain",
        [],
        [helper.make_tensor_value_info(name, types.FLOAT, None) for name in ("value", "sum")],
        [
            constant("a", a),
            constant("b", b),
            helper.make_tensor("zero", kind(y_type), [], b"\0", raw=True),
            *(helper.make_tensor(name, types.FLOAT, [], [float(value)]) for name, value in scales.items()),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {})


def operands(rng, a_type, b_type, m, k, n, specials):
    arrays = []
    for name, shape in ((a_type, (m, k)), (b_type, (n, k))):
        codes = rng.integers(0, 256, shape).astype(np.uint8)
        number = np.isfinite(oracle.values(name))[codes]
        keep = number | (rng.random(shape) < specials)
        arrays.append(np.where(keep, codes, 1).astype(np.uint8).view(oracle.dtype(name)))
    return arrays[0], arrays[1].T.copy()


def differences(a_type, b_type, y_type, scales, rng, shape):
    """Outputs compared and outputs that differ; each of these is checked."""
    a, b = operands(rng, a_type, b_type, *shape, specials=0.01)
    a_scale, b_scale, y_scale = scales
    zeros = [np.zeros((), oracle.dtype(name)) for name in (a_type, b_type, y_type)]
    y = qlinear_matmul(a, a_scale, zeros[0], b, b_scale, zeros[1], y_scale, zeros[2])
    values, float_sums = chain(a, a_scale, b, b_scale, y_scale, y_type)
    ours = oracle.values(y_type)[y.view(np.uint8)].astype(np.float32)
    both_nan = np.isnan(ours) & np.isnan(values)
    different = np.argwhere((ours.view(np.uint32) != values.view(np.uint32)) & ~both_nan)
    s, output = combined_scale(*scales).item(), oracle.Output(y_type)
    for m, n in different:
        (exact,) = oracle.sums(a[m : m + 1], 0, b[:, n : n + 1], 0).ravel()
        assert isinstance(exact, int), "NaN and infinities must agree"
        assert y.view(np.uint8)[m, n] == output.round(oracle.times(exact, 40, s))
        real = Fraction(exact, 2**40) * Fraction(a_scale.item()) * Fraction(b_scale.item())
        if exact == 0 and float_sums[m, n] == 0:
            assert not np.signbit(ours[m, n])  # the chain may give -0 here
        elif all(np.frexp(scale)[0] == 0.5 for scale in scales):
            assert Fraction(float(float_sums[m, n])) != real  # the scales round nothing
        else:
            quotient = Fraction(float(float_sums[m, n])) / Fraction(y_scale.item())
            assert quotient != Fraction(exact, 2**40) * Fraction(s)
    return y.size, len(different)


@pytest.mark.parametrize(("a_type", "b_type"), PAIRS)
def test_powers_of_two_differ_only_where_the_float32_sum_is_inexact(a_type, b_type):
    rng = np.random.default_rng(len(a_type) * 16 + len(b_type))
    total = different = 0
    for y_type, k in itertools.product(oracle.FLOAT8, (1, 8, 64)):
        reach = [float(oracle.finite(name)[-1]) for name in (a_type, b_type, y_type)]
        scales = [np.float32(2.0 ** -int(np.log2(value))) for value in reach]
        scales[2] *= np.float32(2.0 ** int(rng.integers(-3, 6)))
        counts = differences(a_type, b_type, y_type, scales, rng, (60, k, 60))
        total, different = total + counts[0], different + counts[1]
    assert total == 43200
    assert different <= 0.001 * total


@pytest.mark.parametrize("name", oracle.FLOAT8)
def test_general_scales_differ_rarely_and_golden_is_right(name):
    rng = np.random.default_rng(len(name))
    total = different = 0
    for _ in range(20):
        scales = rng.uniform(0.01, 0.1, 3).astype(np.float32)
        scales[2] *= np.float32(8 * float(oracle.finite(name)[-1]) / 10)
        counts = differences(name, name, name, scales, rng, (100, 48, 100))
        total, different = total + counts[0], different + counts[1]
    assert total == 200_000
    assert different <= 0.001 * total
