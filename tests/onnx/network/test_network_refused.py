"""Models that are no networks: one line that names node, attribute, what was expected and what was given."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from systoliq.errors import InputError
from systoliq.onnx import Model, read_network
from systoliq.onnx.network import Fate

from .oracle import check, write
from .refused_models import CONSTANTS, IMAGE, LAST, REFUSED, ROW, A, D, Q, W


@pytest.mark.parametrize(("inputs", "nodes", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(inputs, nodes, text, tmp_path):
    constants = CONSTANTS | {"zw": np.zeros(4, np.int8)}
    path = write(tmp_path / "model.onnx", f"g ({inputs}) => (uint8[n] y) {{ {nodes} }}", constants, opset=21, ir=10)
    with pytest.raises(InputError) as caught:
        read_network(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: cannot be taken as a network: ")
    assert text in message
    assert "\n" not in message


REAL_OUTPUTS = {  # nodes from fa to f, one of which gives t
    "before a bias": (
        ROW, f"{D} t = MatMul(fa, fd) f = Add(t, real)", "float[1, 4]", "the product that it adds a bias to",
    ),
    "before a maximum": (
        IMAGE, "t = Sigmoid(fa) f = MaxPool<kernel_shape = [2, 2]>(t)", "float[1, 4, 5, 5]", "its input 't'",
    ),
    "before a move": (IMAGE, "t = Sigmoid(fa) f = Reshape(t, flat)", "float[1, 4, 5, 5]", "its input 't'"),
    "before a function": (ROW, "t = Sigmoid(fa) f = Relu(t)", "float[1, 4]", "its input 't'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REAL_OUTPUTS)
def test_an_output_that_is_not_quantized(name, tmp_path):
    """Without t among the outputs, it is a network."""
    taken, nodes, shape, reason = REAL_OUTPUTS[name]
    text = f"g ({taken} a) => (uint8[n] yMORE) {{ {A} {nodes} {Q} }}"
    read_network(write(tmp_path / "model.onnx", text.replace("MORE", ""), CONSTANTS))
    path = write(tmp_path / "model.onnx", text.replace("MORE", f", {shape} t"), CONSTANTS)
    with pytest.raises(InputError, match=f"{reason} must have this one use"):
        read_network(path)


def test_all_reasons_are_reported_without_their_consequences(tmp_path, call):
    """Seven reasons: the error has five; `layers` has all, and a node behind one that is not taken is no reason."""
    step = "fN = DequantizeLinear(aN, s, z) tN = LogSoftmax(fN) aM = QuantizeLinear(tN, s, z)"
    middle = " ".join(step.replace("N", str(i)).replace("M", str(i + 1)) for i in range(7))
    text = f"g ({ROW} a0) => (uint8[1, 4] y) {{ {middle} f = DequantizeLinear(a7, s, z) {D} "
    path = write(tmp_path / "model.onnx", text + f"g = MatMul(f, fd) {Q.replace('(f,', '(g,')} }}", CONSTANTS)
    with pytest.raises(InputError) as caught:
        read_network(path)
    assert str(caught.value).count("the operator LogSoftmax") == 5
    assert str(caught.value).endswith(f"; and 2 more: systoliq layers {path}")
    reading = Model.open(path).reading
    assert [verdict.operator for verdict in reading.verdicts if verdict.fate is Fate.REFUSED] == ["LogSoftmax"] * 7
    assert len(reading.problems) == 7
    result = call("layers", path)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert sum(line.startswith("no network: LogSoftmax 't") for line in lines) == 7
    assert "as a network: not taken, see the end; its 25 nodes:" in lines


def test_every_node_has_a_verdict(tmp_path, call):
    """What the host does, what is folded and what becomes a stage, in a network with all three."""
    text = """g (float[N, 2, 2, 4] x) => (float[N, 4] p) {
        [turn] t = Transpose<perm = [0, 3, 1, 2]>(x) [scaled] u = Mul(t, two) a = QuantizeLinear(u, s, z)
        fa = DequantizeLinear(a, s, z) fw = DequantizeLinear(w, s, i) [conv] c = Conv(fa, fw) [relu] r = Relu(c)
        b = QuantizeLinear(r, s, low) fb = DequantizeLinear(b, s, low) [pool] m = GlobalAveragePool(fb)
        q = QuantizeLinear(m, s, low) fq = DequantizeLinear(q, s, low) [flat] e = Flatten(fq) [soft] p = Softmax(e) }"""
    path = write(tmp_path / "model.onnx", text, CONSTANTS | {"low": np.uint8(0)})
    reading = Model.open(path).reading
    assert [(verdict.fate.value, verdict.text) for verdict in reading.verdicts] == [
        ("host", "before the first integers"),
        ("host", "before the first integers"),
        ("host", "before the first integers"),
        ("folded", "in Conv 'conv'"),
        ("folded", "a constant of Conv 'conv'"),
        ("stage", ""),
        ("folded", "in Conv 'conv'"),
        ("folded", "in Conv 'conv'"),
        ("folded", "in GlobalAveragePool 'pool'"),
        ("stage", ""),
        ("folded", "in GlobalAveragePool 'pool'"),
        ("host", "the last integers"),
        ("host", "behind the last integers"),
        ("host", "behind the last integers"),
    ]
    network = reading.network
    assert [tensor.name for tensor in network.outputs] == ["q"]
    assert network.multiply_accumulates == reading.multiply_accumulates == 64
    with pytest.raises(ValueError, match="a must be given: more than moves and a QuantizeLinear follow x"):
        network.golden({"x": np.zeros((1, 2, 2, 4), np.float32)})
    lines = [" ".join(line.split()) for line in call("layers", path).stdout.splitlines()]
    assert (
        lines[0]
        == "as a network: 2 stages of 14 nodes, 64 multiply-accumulates a batch, 100.0 % of all; hardware takes it:"
    )
    assert "conv Conv convolution 1 x 1, 4 -> 4 1 x 4 x 2 x 2 64 100.0 %" in lines
    assert "soft Softmax host: behind the last integers 1 x 4" in lines


@pytest.mark.parametrize(
    "inside", ["b = Sub(x, real)", "b = Div(x, real)", "b = Mul(real, x)", "b = Log(x)", "b = Relu(x)"]
)
def test_what_the_host_does_before(inside, tmp_path):
    text = f"g (float[N, 4] x) => (uint8[N, 4] y) {{ {inside} a = QuantizeLinear(b, s, z) {A} f = Relu(fa) {Q} }}"
    path = write(tmp_path / "model.onnx", text, CONSTANTS)
    verdict = Model.open(path).reading.verdicts[0]
    assert (verdict.fate, verdict.text) == (Fate.HOST, "before the first integers")
    network = read_network(path)
    assert (network.sources[0].movements, network.sources[0].tensor.shape) == (None, (1, 4))


def test_a_node_whose_result_is_not_taken(tmp_path):
    inputs, nodes, _ = REFUSED["relu with effect"]
    reading = Model.open(
        write(tmp_path / "model.onnx", f"g ({inputs}) => (uint8[n] y) {{ {nodes} }}", CONSTANTS)
    ).reading
    found = {verdict.name: (verdict.fate, verdict.derived) for verdict in reading.verdicts}
    assert found["t"] == (Fate.REFUSED, True)
    assert found["y"] == (Fate.REFUSED, False)
    assert len(reading.problems) == 1


def test_a_node_behind_one_that_is_not_taken(tmp_path):
    """It says so, and is no reason of its own, whatever else is wrong with it."""
    nodes = f"{A} {W} t = LogSoftmax(fa) b = Reshape(t, flat) f = Conv(b, fw, bias) {Q}"
    reading = Model.open(
        write(tmp_path / "model.onnx", f"g ({IMAGE} a) => (uint8[n] y) {{ {nodes} }}", CONSTANTS)
    ).reading
    found = {verdict.name: (verdict.text, verdict.derived) for verdict in reading.verdicts}
    assert found["f"] == ("its input 'b' comes from Reshape 'b', which is not taken", True)
    assert [problem[:15] for problem in reading.problems] == ["LogSoftmax 't':"]


def test_a_product_that_stays_real(tmp_path):
    text = f"""g ({ROW} a) => (float[1, 4] f) {{ {A} c = QuantizeLinear(fa, two, z) fc = DequantizeLinear(c, two, z)
        {D} f = MatMul(fc, fd) }}"""
    reading = Model.open(write(tmp_path / "model.onnx", text, CONSTANTS)).reading
    assert reading.verdicts[-1].text == "its result stays real numbers"
    assert reading.network.multiply_accumulates == 0
    assert reading.multiply_accumulates == 16


def test_integers_that_count_otherwise_for_each_node(tmp_path):
    """A DequantizeLinear may have another scale than the QuantizeLinear before it."""
    text = """g (float[N, 4] x) => (uint8[N, 4] y) { a = QuantizeLinear(x, s, z) fa = DequantizeLinear(a, two, z)
        t = Sigmoid(fa) y = QuantizeLinear(t, s, z) }"""
    path = write(tmp_path / "model.onnx", text, CONSTANTS)
    network = read_network(path)
    assert float(network.nodes[0].inputs[0].scale) == 2
    x = np.linspace(-1, 30, 1200, dtype=np.float32).reshape(300, 4)
    assert check(path, network, {"x": x})[0] == 2400


@pytest.mark.parametrize("drop", range(1, 8))
def test_operators_with_too_few_inputs(drop, tmp_path):
    """Of com.microsoft, whose nodes no checker sees: a reason, whatever is missing."""
    text = f"""g ({IMAGE} a) => (uint8[n] y) {{
        b = QLinearConv(a, s, z, w, s, i, s, z)
        c = com.microsoft.QLinearMul(b, s, z, b, s, z, s, z)
        e = com.microsoft.QLinearConcat<axis = 1>(s, z, c, s, z, c, s, z)
        k = com.microsoft.QLinearSigmoid(e, s, z, s, z)
        l = com.microsoft.QLinearGlobalAveragePool(k, s, z, s, z)
        m = com.microsoft.QLinearAdd(l, s, z, l, s, z, s, z)
        n = Flatten(m)
        o = com.microsoft.QLinearMatMul(n, s, z, v, s, i, s, z)
        y = com.microsoft.QGemm(o, s, z, d, s, i, , s, z) }}"""
    path = write(tmp_path / "model.onnx", text, CONSTANTS | {"v": np.ones((8, 4), np.int8)})
    assert Model.open(path).reading.network is not None
    model = onnx.load(path)
    for node in list(model.graph.node)[1:]:
        if len(node.input) > drop:
            kept = list(node.input)[:-drop]
            del node.input[:]
            node.input.extend(kept)
    onnx.save(model, path)
    reading = Model.open(path).reading
    assert reading.network is None
    assert all(" must " in problem for problem in reading.problems), reading.problems


def test_attention_in_one_node_is_refused(tmp_path):
    """Which is an operator of opset 23."""
    heads = "q_num_heads = 2, kv_num_heads = 2"
    nodes = f"{A} {D} t = Attention<{heads}>(fa, fa, fa) b = QuantizeLinear(t, s, z) {LAST}"
    text = f"g (uint8[1, 2, 4] a) => (uint8[n] y) {{ {nodes} }}"
    path = write(tmp_path / "model.onnx", text, CONSTANTS, opset=23, ir=11)
    with pytest.raises(InputError, match="Attention 't': attention must be MatMul, Softmax and MatMul .* opset 22"):
        read_network(path)
