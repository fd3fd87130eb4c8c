"""Softmax and LayerNormalization against onnxruntime, along every dimension, at every scale; what is refused."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from systoliq.errors import InputError
from systoliq.golden.network import LayerNormalization, Softmax
from systoliq.hw.network.operators import operator_of
from systoliq.onnx import read_network

from .operator_models import KINDS, between, codes, compare
from .oracle import session, write
from .row_models import drawn, normal_constants, rows

QLINEAR = "y = com.microsoft.QLinearSoftmax<axis = -1, opset = 13>(a, as, az, ys, yz)"


@pytest.mark.parametrize("form", ["QDQ", "QLinear"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [1, 2, 3, 10, 16, 65])
def test_softmax_of_rows(length, kind, form, tmp_path):
    body = between("f = Softmax(fa)", "a") if form == "QDQ" else QLINEAR
    for draw in range(4):
        rng = np.random.default_rng([length, draw])
        a = rows(rng, kind, 2000, length)
        head = f"g ({kind}[N, {length}] a) => ({kind}[N, {length}] y)"
        network, operators = compare(tmp_path, head, body, drawn(rng, kind, draw), {"a": a})
        assert operators == {"QLinearSoftmax"}
        assert [type(node) for node in network.nodes] == [Softmax]
        assert network.nodes[0].kind == f"softmax of {length}"


@pytest.mark.parametrize(
    ("shape", "inside", "opset"),
    [
        ((3, 4, 5), "f = Softmax(fa)", 17),
        ((3, 4, 5), "f = Softmax<axis = 1>(fa)", 17),
        ((3, 4, 5, 6), "f = Softmax<axis = 1>(fa)", 17),
        ((3, 4, 5, 6), "f = Softmax<axis = 2>(fa)", 17),
        ((3, 4, 5, 6), "f = Softmax<axis = -1>(fa)", 13),
        ((3, 2, 3, 4, 5), "f = Softmax<axis = -2>(fa)", 17),
        ((3, 4), "f = Softmax(fa)", 11),
        ((3, 4, 1, 1), "f = Softmax(fa)", 11),
        ((3, 4, 5), "f = Softmax<axis = 2>(fa)", 11),
    ],
    ids=str,
)
def test_softmax_along(shape, inside, opset, tmp_path):
    rng = np.random.default_rng(len(inside) + opset)
    text = ", ".join(map(str, shape[1:]))
    head = f"g (int8[1, {text}] a) => (int8[1, {text}] y)"
    inputs = {"a": rng.choice(codes("int8"), shape)}
    network, _ = compare(
        tmp_path, head, between(inside, "a"), drawn(rng, "int8", 1) | {"as": np.float32(0.1)}, inputs, opset=opset
    )
    assert sum(isinstance(node, Softmax) for node in network.nodes) == 1


@pytest.mark.parametrize(
    ("inside", "scales", "opset", "refusal"),
    [
        ("f = Softmax<axis = 0>(fa)", {}, 17, "axis must be another dimension than the batch, the first"),
        ("f = Softmax<axis = 4>(fa)", {}, 17, "axis must be -4 to 3, not 4"),
        ("f = Softmax(fa)", {}, 11, "axis must be the last dimension up to opset 12, where Softmax works along all"),
        ("f = Softmax(fa)", {"ys": np.float32(1e-5)}, 17, "must be at least 1 / 65536, not 9.99"),
        ("f = Softmax(fa)", {"yz": np.uint8(0)}, 17, "inputs and output must be all of int8 or all of uint8"),
    ],
)  # fmt: skip
def test_softmax_that_is_refused(inside, scales, opset, refusal, tmp_path):
    constants = {"as": np.float32(0.1), "az": np.int8(0), "ys": np.float32(1 / 256), "yz": np.int8(-128)} | scales
    kind = constants["yz"].dtype.name
    text = f"g (int8[1, 4, 2, 3] a) => ({kind}[1, 4, 2, 3] y) {{ {between(inside, 'a')} }}"
    with pytest.raises(InputError, match=refusal):
        read_network(write(tmp_path / "model.onnx", text, constants, opset=opset))


RARE = 1e-4
"""Of all integers, those that onnxruntime's float32 may round to the other side of a tie: about 8 in a million."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("shape", "inside"),
    [
        ((200, 16), "f = LayerNormalization(fa, g, b)"),
        ((200, 192), "f = LayerNormalization<axis = 1, epsilon = 0.001>(fa, g)"),
        ((40, 3, 64), "f = LayerNormalization(fa, g, b)"),
        ((40, 2, 3, 5), "f = LayerNormalization<axis = 3>(fa, g, b)"),
    ],
    ids=str,
)
def test_layer_normalization(shape, inside, kind, tmp_path):
    rng = np.random.default_rng(shape[-1])
    constants = normal_constants(rng, kind, shape[-1])
    text = ", ".join(map(str, shape[1:]))
    body = f"g ({kind}[N, {text}] a) => ({kind}[N, {text}] y) {{ {between(inside, 'a')} }}"
    path = write(tmp_path / "model.onnx", body, constants)
    network = read_network(path)
    assert sum(isinstance(node, LayerNormalization) for node in network.nodes) == 1
    a = rng.choice(codes(kind), shape)
    a[: len(a) // 2] = np.clip(rng.normal(0, 6, shape), a.min(), a.max()).astype(kind)[: len(a) // 2]
    (expected,) = session(onnx.load(path)).run(["y"], {"a": a})
    difference = np.abs(network.golden({"a": a})["y"].astype(int) - expected)
    assert difference.max() <= 1
    assert np.count_nonzero(difference) <= max(1, RARE * a.size)


@pytest.mark.parametrize(
    ("inside", "changed", "refusal"),
    [
        ("f = LayerNormalization<axis = 2>(fa, g, b)", {}, "axis must be the last dimension, -1, not 2 of an input of"),
        ("f = LayerNormalization<axis = 0>(fa, g, b)", {}, "axis must be another dimension than the batch, the first"),
        ("f, m = LayerNormalization(fa, g, b)", {}, "it must have one output, not also the mean 'm'"),
        ("f = LayerNormalization<epsilon = 0.0>(fa, g, b)", {}, "epsilon of 'f' must be positive and finite, not 0.0"),
        ("f = LayerNormalization(fa, g, b)", {"g": np.ones((1, 3), np.float32)}, "its scale must be float32 of one"),
        ("f = LayerNormalization(fa, g, b)", {"b": np.ones(1, np.float32)}, "must be 3 numbers, one for each channel"),
        ("f = LayerNormalization(fa, g, b)", {"g": np.float32([1, np.inf, 1])}, "the gain of 'f' must be finite"),
        ("f = LayerNormalization(fa, g, b)", {"ys": np.float32(1e-5)}, "gain and shift of 'f' must be below 8192"),
        ("f = LayerNormalization(fa, g, b)", {"as": np.float32(1e-10)}, "must not be so small beside epsilon, 1e"),
    ],
)  # fmt: skip
def test_layer_normalization_that_is_refused(inside, changed, refusal, tmp_path):
    constants = normal_constants(np.random.default_rng(0), "int8", 3) | changed
    text = f"g (int8[1, 4, 2, 3] a) => (int8[1, 4, 2, 3] y) {{ {between(inside, 'a')} }}"
    with pytest.raises(InputError, match=refusal):
        read_network(write(tmp_path / "model.onnx", text, constants))


def test_elements_along_a_dimension_that_is_turned_twice_take_no_hardware(tmp_path):
    """Between transposes that put channels last, as ConvNeXt has them, no memory is needed."""
    constants = normal_constants(np.random.default_rng(1), "int8", 3) | {
        "w": np.ones((3, 3, 1, 1), np.int8),
        "i": np.int8(0),
    }
    text = """g (int8[N, 3, 4, 5] a) => (int8[N, 3, 4, 5] y) {
        fa = DequantizeLinear(a, as, az) fw = DequantizeLinear(w, as, i) c = Conv(fa, fw) q = QuantizeLinear(c, as, az)
        fq = DequantizeLinear(q, as, az) t = Transpose<perm = [0, 2, 3, 1]>(fq) qt = QuantizeLinear(t, as, az)
        ft = DequantizeLinear(qt, as, az) f = LayerNormalization(ft, g, b) n = QuantizeLinear(f, ys, yz)
        fn = DequantizeLinear(n, ys, yz) u = Transpose<perm = [0, 3, 1, 2]>(fn) qu = QuantizeLinear(u, ys, yz)
        fu = DequantizeLinear(qu, ys, yz) e = Conv(fu, fw) y = QuantizeLinear(e, ys, yz) }"""
    network = read_network(write(tmp_path / "model.onnx", text, constants))
    stages = [node for node in network.nodes if operator_of(node).is_stage]
    assert [type(node).__name__ for node in stages] == ["Convolution", "LayerNormalization", "Convolution"]


def instance(path, rng, shape, *, gain=1.0, shift=0.0):
    """An InstanceNormalization of int8; `gain` and `shift`: numbers, or one for each channel."""
    channels = shape[1]
    constants = {
        "as": np.float32(rng.uniform(0.005, 0.05)), "az": np.int8(rng.integers(-60, 60)),
        "ys": np.float32(rng.uniform(0.015, 0.04)), "yz": np.int8(rng.integers(-20, 20)),
        "g": np.broadcast_to(np.float32(gain), channels), "b": np.broadcast_to(np.float32(shift), channels),
    }  # fmt: skip
    text = f"""g (float[{", ".join(map(str, shape))}] x) => (float[n, c, h, w] y) {{
        a = QuantizeLinear(x, as, az) fa = DequantizeLinear(a, as, az) f = InstanceNormalization(fa, g, b)
        q = QuantizeLinear(f, ys, yz) y = DequantizeLinear(q, ys, yz) }}"""
    return write(path, text, constants)


def test_instance_normalization(tmp_path):
    """A float32 kernel may be on the other side of a tie, rarely, and never further away."""
    rng = np.random.default_rng(8)
    count = wrong = 0
    for draw, shape in enumerate([(4, 3, 5, 7), (2, 8, 16, 16), (1, 2, 1, 2), (2, 4, 24, 30), (8, 6, 20, 20)] * 2):
        number = {} if draw % 2 else {"gain": rng.uniform(0.3, 2), "shift": rng.normal(0, 0.3)}
        path = instance(tmp_path / "m.onnx", rng, shape, **number)
        network = read_network(path)
        (x,), (y,) = network.inputs, network.outputs
        assert sum(isinstance(node, LayerNormalization) for node in network.nodes) == 1
        image = np.clip(np.rint(rng.normal(0, rng.uniform(3, 60), x.shape)), -128, 127).astype(np.int8)
        golden = network.golden({x.name: image})[y.name]
        expected = session(onnx.load(path)).run(["y"], {"x": x.dequantize(image)})[0]
        away = np.abs(golden - np.rint(expected / y.scale) - y.zero_point)
        assert away.max() <= 1
        count, wrong = count + away.size, wrong + np.count_nonzero(away)
    assert count > 50_000
    assert wrong <= 2


@pytest.mark.parametrize(
    ("shape", "numbers", "message"),
    [
        ((1, 2, 4, 4), {"gain": [1, 2]}, "its scale must be the same number for all channels, not 1 to 2: export it"),
        ((1, 2, 4, 4), {"shift": [0.5, 2]}, "its bias must be the same number for all channels, not 0.5 to 2: export"),
        ((1, 2, 1, 1), {}, "it must normalize 2 to 4096 pixels, not 1"),
        ((1, 2, 65, 64), {}, "it must normalize 2 to 4096 pixels, not 4160"),
    ],
)
def test_instance_normalization_that_is_refused(shape, numbers, message, tmp_path):
    path = instance(tmp_path / "m.onnx", np.random.default_rng(1), shape, **numbers)
    with pytest.raises(InputError, match=message):
        read_network(path)
