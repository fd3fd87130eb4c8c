"""Products of QDQ models that onnxruntime leaves in float, each with what keeps it from integers."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.errors import InputError
from systoliq.inference.division import Division
from systoliq.inference.lowering import lowered

from ..onnx.network.oracle import write

CONSTANTS = {
    "s": np.float32(0.02), "t": np.float32(0.5), "z": np.int8(3), "n": np.int8(0), "u": np.uint8(128), "h": np.int16(0),
    "w": np.arange(-18, 18, dtype=np.int8).reshape(4, 1, 3, 3),
    "v": np.arange(36, dtype=np.uint8).reshape(4, 1, 3, 3), "wide": np.arange(36, dtype=np.int16).reshape(4, 1, 3, 3),
    "b": np.arange(4, dtype=np.int32), "e": np.float32(0.0004),
    "zero": np.int32(0), "b8": np.arange(4, dtype=np.int8),
}  # fmt: skip
A = "a = QuantizeLinear(x, s, z) fa = DequantizeLinear(a, s, z)"
W = "fw = DequantizeLinear(w, s, n)"
CONV = "[conv] h0 = Conv(fa, fw)"
Q = "q = QuantizeLinear(h0, t, z) y = DequantizeLinear(q, t, z)"
# A product on integers beside, so that the model has one.
BESIDE = (
    "[beside] g = Conv(fa, fs) p = QuantizeLinear(g, t, z) k = DequantizeLinear(p, t, z) fs = DequantizeLinear(w, s, n)"
)

# nodes, and what is said of the convolution
CASES = {
    "an operand": (f"{A} {W} r = Sigmoid(x) [conv] h0 = Conv(r, fw) {Q}",
        "its first input 'r' is real numbers of Sigmoid 'r', not of a DequantizeLinear"),
    "weights": (f"{A} {W} c = Sin(x) r = ReduceMean(c) m = Mul(r, fw) [conv] h0 = Conv(fa, m) {Q}",
        "its second input 'm' is real numbers of Mul 'm', not of a DequantizeLinear"),
    "wide weights": (f"{A} fw = DequantizeLinear(wide, s, h) {CONV} {Q}",
        "its weight tensor 'fw' must stand for int8 or uint8, not int16"),
    "mixed": (f"{A} fw = DequantizeLinear(v, s, u) {CONV} {Q}",
        "its first input stands for int8 and its second for uint8, and int8 must meet int8"),
    "no Q": (f"{A} {W} [conv] y = Conv(fa, fw)",
        "its result 'y' leaves the model as real numbers, not by a QuantizeLinear"),
    "a Relu": (f"{A} {W} {CONV.replace('h0', 'g0')} h0 = Relu(g0) {Q}",
        "its result 'g0' goes to Relu 'h0', which changes it, not right to a QuantizeLinear"),
    "an Add": (f"{A} {W} {CONV.replace('h0', 'g0')} h0 = Sin(g0) {Q}",
        "its result 'g0' goes to Sin 'h0', not right to a QuantizeLinear"),
    "two uses": (f"{A} {W} {CONV} c = Sin(h0) {Q.replace('y =', 'd =')} y = Add(c, d)",
        "its result 'h0' goes to Sin 'c', QuantizeLinear 'q', not to one QuantizeLinear alone"),
    "another type": (f"{A} {W} {CONV} q = QuantizeLinear(h0, t, u) y = DequantizeLinear(q, t, u)",
        "its first input stands for int8 and its result for uint8, which must be of one type"),
    "a wide result": (f"{A} {W} {CONV} q = QuantizeLinear(h0, t, h) y = DequantizeLinear(q, t, h)",
        "its result 'h0' must be quantized to int8 or uint8, not int16"),
    "a bias of 8 bits": (f"{A} {W} fb = DequantizeLinear(b8, e, n) [conv] h0 = Conv(fa, fw, fb) {Q}",
        "its bias 'fb' must stand for int32, not int8"),
    "a bias in other units": (f"{A} {W} fb = DequantizeLinear(b, t, zero) [conv] h0 = Conv(fa, fw, fb) {Q}",
        "the scale of its bias 'fb' is not the product of the scales of its two operands"),
}  # fmt: skip


def model(tmp_path, nodes, outputs="float[1, 4, 4, 4] y, float[1, 4, 4, 4] k"):
    path = tmp_path / "model.onnx"
    return write(path, f"g (float[1, 1, 6, 6] x) => ({outputs}) {{ {nodes} }}", CONSTANTS, opset=21, ir=10)


@pytest.mark.parametrize(("nodes", "why"), CASES.values(), ids=CASES)
def test_reasons(nodes, why, tmp_path):
    """Where onnxruntime has the convolution on integers the case would be no case: it is then not the host's."""
    division = Division(lowered(model(tmp_path, f"{nodes} {BESIDE}")))
    assert [step.name for step in division.products] == ["beside"]
    ((operator, reason),) = division.host.values()
    assert operator in ("Conv", "FusedConv")
    assert reason == f"onnxruntime left it in float: {why}"


def test_what_is_quantized_well(tmp_path):
    division = Division(lowered(model(tmp_path, f"{A} {W} {CONV} {Q} {BESIDE}")))
    assert (len(division.products), division.host) == (2, {})


def test_the_error_has_it(tmp_path):
    path = model(tmp_path, CASES["a Relu"][0], "float[1, 4, 4, 4] y")
    with pytest.raises(InputError, match=r"and has (Fused)?Conv 'conv': onnxruntime left it in float: its result 'g0'"):
        Division(lowered(path))


def test_operators_that_the_engine_does_not_have(tmp_path):
    nodes = f"{A} {W} [up] y = ConvTranspose(fa, ft) ft = DequantizeLinear(s1, s, n) {BESIDE}"
    path = tmp_path / "model.onnx"
    text = f"g (float[1, 1, 6, 6] x) => (float[1, 2, 6, 6] y, float[1, 4, 4, 4] k) {{ {nodes} }}"
    division = Division(lowered(write(path, text, CONSTANTS | {"s1": np.ones((1, 2, 1, 1), np.int8)}, opset=21, ir=10)))
    assert division.host == {"up": ("ConvTranspose", "the engine does not compute this operator")}
