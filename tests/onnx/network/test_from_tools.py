"""What quantizers of PyTorch, NNCF and Brevitas write between operators, against onnxruntime: the essence of each."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.errors import InputError
from systoliq.golden.network import MaxPool, RealPair, Table, WholeAverage
from systoliq.onnx import read_network

from .oracle import check, write

RNG = np.random.default_rng(8)
# weights of 7 bits: with uint8 images, onnxruntime saturates on processors without VNNI
CONSTANTS = {
    "s": np.float32(0.02), "z": np.uint8(120), "i": np.int8(-9), "t": np.float32(0.031), "u": np.float32(0.0173),
    "w": RNG.integers(-64, 64, (4, 3, 3, 3)).astype(np.int8), "ws": np.float32(0.004), "wz": np.int8(0),
}  # fmt: skip
CONV = "fa = DequantizeLinear(a, s, z) fw = DequantizeLinear(w, ws, wz) c = Conv<pads = [1, 1, 1, 1]>(fa, fw)"
HEAD = "uint8[20, 3, 8, 8] a"
IMAGES = RNG.integers(0, 256, (20, 3, 8, 8)).astype(np.uint8)

ONE = "q = QuantizeLinear(c, t, z) fq = DequantizeLinear(q, t, z)"
TWO = f"{ONE} r = QuantizeLinear(fq, u, z) fr = DequantizeLinear(r, u, z)"
POOL = "MaxPool<kernel_shape = [2, 2]>"

# nodes to the output, its type, and an operator of the network
CASES = {
    "torch FX: a Cast to the type that the integers have": (
        f"q = QuantizeLinear(c, t, z) k = Cast<to = 2>(q) fk = DequantizeLinear(k, t, z) p = {POOL}(fk)",
        "y = QuantizeLinear(p, t, z)", "uint8[20, 4, 7, 7] y", MaxPool,
    ),
    "a Cast of real numbers to float32": (
        f"{ONE} k = Cast<to = 1>(fq) p = {POOL}(k)", "y = QuantizeLinear(p, t, z)", "uint8[20, 4, 7, 7] y", MaxPool,
    ),
    "NNCF: a sum of uint8 and int8": (
        f"{ONE} r = QuantizeLinear(fq, u, i) fr = DequantizeLinear(r, u, i) g = Add(fq, fr)",
        "y = QuantizeLinear(g, t, z)", "uint8[20, 4, 8, 8] y", RealPair,
    ),
    "Brevitas: a MaxPool between a residual Relu and its QuantizeLinear": (
        f"{TWO} g = Add(fq, fr) h = Relu(g) p = {POOL}(h)",
        "y = QuantizeLinear(p, t, z)", "uint8[20, 4, 7, 7] y", MaxPool,
    ),
    "a MaxPool of a difference that is not quantized": (
        f"{TWO} g = Sub(fq, fr) p = GlobalMaxPool(g)", "y = QuantizeLinear(p, t, z)", "uint8[20, 4, 1, 1] y", MaxPool,
    ),
    "Brevitas: an average whose output has another type": (
        f"{ONE} g = GlobalAveragePool(fq)", "y = QuantizeLinear(g, u, i)", "int8[20, 4, 1, 1] y", WholeAverage,
    ),
}  # fmt: skip


def model(tmp_path, *body, outputs):
    return write(tmp_path / "model.onnx", f"g ({HEAD}) => ({outputs}) {{ {' '.join([CONV, *body])} }}", CONSTANTS)


@pytest.mark.parametrize("name", CASES)
def test_every_integer_is_onnxruntime_s(name, tmp_path):
    *body, output, operator = CASES[name]
    path = model(tmp_path, *body, outputs=output)
    network = read_network(path)
    assert any(isinstance(node, operator) for node in network.nodes)
    compared, _ = check(path, network, {"a": IMAGES})
    assert compared > 0


def test_types_are_changed_by_a_table_that_moves_the_zero_point(tmp_path):
    *body, output, _ = CASES["NNCF: a sum of uint8 and int8"]
    tables = [node for node in read_network(model(tmp_path, *body, outputs=output)).nodes if isinstance(node, Table)]
    types = tables[-1]
    assert types.output.zero_point - types.inputs[0].zero_point == types.output.format.min - types.inputs[0].format.min
    np.testing.assert_array_equal(types.entries, types.output.codes)


def test_a_cast_to_another_type_is_named(tmp_path):
    body = f"q = QuantizeLinear(c, t, i) k = Cast<to = 2>(q) fk = DequantizeLinear(k, t, z) p = {POOL}(fk)"
    path = model(tmp_path, body, "y = QuantizeLinear(p, t, z)", outputs="uint8[20, 4, 7, 7] y")
    with pytest.raises(InputError, match="Cast 'k': the operator Cast is not supported between integers"):
        read_network(path)


def test_a_tensor_that_is_pooled_and_used_before_is_named(tmp_path):
    body = f"{TWO} g = Sub(fq, fr) p = GlobalMaxPool(g) y = QuantizeLinear(p, t, z) x = QuantizeLinear(g, t, z)"
    path = model(tmp_path, body, outputs="uint8[20, 4, 1, 1] y, uint8[20, 4, 8, 8] x")
    with pytest.raises(InputError, match="its input 'g' must have this one use, as it is not yet quantized"):
        read_network(path)
