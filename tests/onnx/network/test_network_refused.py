"""Models that are no networks: one line that names node, attribute, what was expected and what was given."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from systoliq.errors import InputError
from systoliq.onnx import Model, read_network
from systoliq.onnx.network import Fate

from .oracle import check, write

CONSTANTS: dict[str, Any] = {
    "s": np.float32(0.1), "z": np.uint8(3), "i": np.int8(0), "h": np.uint16(3), "many": np.full(4, 0.1, np.float32),
    "zeros": np.full(4, 3, np.uint8), "w": np.ones((4, 4, 1, 1), np.int8), "line": np.ones((4, 4, 1), np.int8),
    "wide": np.ones((4, 4, 7, 1), np.int8), "d": np.ones((4, 4), np.int8), "real": np.ones(4, np.float32),
    "sizes": np.array([1, 4, 10, 10]), "flat": np.array([4, -1]), "two": np.float32(2), "minus": np.float32(-1),
    "negative": np.float32(-0.1), "short": np.ones((4, 4), np.int16), "j": np.int16(0),
    "gates": np.ones((1, 12, 4), np.float32), "axes": np.array([1]),
    "bias": np.array([1, 2, 3, 0.05], np.float32), "far": np.array([1, 1, 1, 3e38], np.float32),
}  # fmt: skip
IMAGE = "uint8[1, 4, 5, 5]"
ROW = "uint8[1, 4]"
Q = "y = QuantizeLinear(f, s, z)"
A = "fa = DequantizeLinear(a, s, z)"
W = "fw = DequantizeLinear(w, s, i)"
D = "fd = DequantizeLinear(d, s, i)"
GRU = "k = Transpose<perm = [1, 0, 2]>(x) t = GRU<hidden_size = 4>(k, gates, gates) e = Squeeze(t, axes)"

LAST = "fb = DequantizeLinear(b, s, z) g = MatMul(fb, fd) y = QuantizeLinear(g, s, z)"
RESIZE = (
    'Resize<mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric">(fa, , , sizes)'
)
BODY = """y = If<then_branch = t () => (uint8[1, 4] p) { p = Identity(a) },
    else_branch = e () => (uint8[1, 4] q) { q = Identity(a) }>(c)"""

# inputs, nodes and a part of the error
REFUSED = {
    "dynamic": (
        "uint8[1, C] a",
        "y = Identity(a)",
        "input 'a' must have numbers for all dimensions but the first, not [1, C]: export it with one size",
    ),
    "no shape": ("uint8 a", "y = Identity(a)", "input 'a' must have a shape with a batch first, not "),
    "float in the middle": (
        f"{ROW} a",
        f"{A} {D} t = LogSoftmax(fa) b = QuantizeLinear(t, s, z) {LAST}",
        "LogSoftmax 't': the operator LogSoftmax is not supported between integers, only behind the last Quan",
    ),
    **{
        f"attention of com.microsoft, {name}": (
            "uint8[1, 2, 4] a",
            f"{A} {D} t = com.microsoft.{name}<num_heads = 2>(fa, fa, fa) b = QuantizeLinear(t, s, z) {LAST}",
            f"{name} 't': attention must be MatMul, Softmax and MatMul with quantizers between them, not one node",
        )
        for name in ("Attention", "MultiHeadAttention", "QAttention", "GroupQueryAttention")
    },
    "a fused addition": (
        f"{ROW} a",
        f"{A} {D} t = com.microsoft.SkipLayerNormalization(fa, fa, real) b = QuantizeLinear(t, s, z) {LAST}",
        "SkipLayerNormalization 't': an addition and its normalization must be two nodes: quantize the model before",
    ),
    **{
        f"fused, {operator}": (
            f"{ROW} a",
            f"{A} {D} t = {operator}(fa, real) b = QuantizeLinear(t, s, z) {LAST}",
            f"{operator.split('.')[-1]} 't': {reason}",
        )
        for operator, reason in {
            "com.microsoft.BiasGelu": "a bias and its function must be two nodes: quantize the model before an opt",
            "com.microsoft.FastGelu": "a bias and its function must be two nodes: quantize the model before an opt",
            "com.microsoft.BiasSoftmax": "a mask and its Softmax must be two nodes: quantize the model before an opt",
            "com.microsoft.RotaryEmbedding": "a rotation by positions must be Split, Concat, Mul and Add with const",
        }.items()
    },
    "a mask": (
        f"{ROW} a",
        f"{A} {D} m = Greater(fa, two) t = Where(m, fa, two) b = QuantizeLinear(t, s, z) {LAST}",
        "Where 't': elements cannot be replaced under a condition, such as an attention mask's: export the model for",
    ),
    "a recurrent layer, not the Transpose that its tool puts before it": (
        "float[1, 3, 4] x",
        f"{GRU} b = QuantizeLinear(e, s, z) {D} {LAST}",
        "a network: GRU 't': a recurrent layer keeps a state from one step to the next, which networks do not have",
    ),
    "another domain": (
        f"{ROW} a",
        f"{D} b = com.microsoft.QLinearReduceMean(a, s, z, s, z) {LAST}",
        "QLinearReduceMean 'b': the operator QLinearReduceMean of com.microsoft is not supported in a network",
    ),
    "body": (
        f"{ROW} a",
        f"{D} c = Constant<value = bool {{1}}>() {BODY.replace('y =', 'b =')} {LAST}",
        "If 'b': the operator If is not supported",
    ),
    "float convolution": (
        "float[1, 4, 5, 5] a",
        f"{W} f = Conv(a, fw) {Q}",
        "Conv 'f': its input 'a' must come from a DequantizeLinear, not from the graph's input 'a'",
    ),
    "a bound of NaN": (
        f"{ROW} a",
        f"{A} n = Constant<value = float {{nan}}>() f = Clip(fa, n) {Q}",
        "min of Clip 'f' must be a number, not NaN: leave it out for no bound",
    ),
    "float weights": (
        f"{IMAGE} a",
        f"{A} f = Mul(fa, real) {Q}",
        "Mul 'f': the constant 'real' must stand behind a DequantizeLinear, not be real numbers",
    ),
    "relu with effect": (
        f"{IMAGE} a",
        f"{A} t = GlobalAveragePool(fa) f = Relu(t) {Q}",
        "Relu 'f' must be without effect before QuantizeLinear 'y' and behind GlobalAveragePool 't', which",
    ),
    "clip with effect": (
        f"{IMAGE} a",
        f"{A} t = GlobalAveragePool(fa) f = Clip(t, minus, two) {Q}",
        "Clip 'f' must be without effect before QuantizeLinear 'y'",
    ),
    "many ties of a clipped product": (
        f"{IMAGE} a",
        f"{A} t = Mul(fa, fa) f = Clip(t, minus, two) {Q}",
        "QuantizeLinear 'y': onnxruntime computes Mul 't' in float32, because its types differ or a Relu or Clip cuts",
    ),
    "function of a sum": (
        f"{IMAGE} a",
        f"{A} {W} t = Conv(fa, fw) f = Sigmoid(t) {Q}",
        "Sigmoid 'f': its input must be quantized first, as onnxruntime would compute both in float, not come",
    ),
    "function of a sum, the way out": (
        f"{IMAGE} a",
        f"{A} {W} t = Conv(fa, fw) f = HardSwish(t) {Q}",
        "Conv 't': put a QuantizeLinear and a DequantizeLinear between them",
    ),
    "decomposed LayerNormalization": (
        f"{IMAGE} a",
        f"{A} last = Constant<value_ints = [-1]>() m = ReduceMean(fa, last) f = Sub(fa, m) {Q}",
        "as exporters write LayerNormalization below opset 17: export with opset 17 or later",
    ),
    "transposed convolution with float weights": (
        f"{IMAGE} a",
        f"{A} f = ConvTranspose(fa, real) {Q}",
        "quantize this node, too; ConvTranspose can be quantized in the QDQ format only",
    ),
    "two uses": (
        f"{IMAGE} a",
        f"{A} {W} f = Conv(fa, fw) t = QuantizeLinear(f, s, z) y = QuantizeLinear(f, two, z)",
        "QuantizeLinear 't': Conv 'f' must go to this node alone, not also to QuantizeLinear 'y'",
    ),
    "weights computed": (
        f"{ROW} a",
        f"{A} f = Gemm(fa, fa) {Q}",
        "Gemm 'f': its first input must be computed and its second constant",
    ),
    "kernels computed": (
        f"{IMAGE} a, uint8[4, 4, 1, 1] b",
        f"{A} fb = DequantizeLinear(b, s, z) f = Conv(fa, fb) {Q}",
        "Conv 'f': the weights must be constant, not from the graph's input 'b'",
    ),
    "three dimensions": (
        "uint8[1, 4, 5, 5, 5] a",
        f"{A} fw = DequantizeLinear(line, s, i) f = Conv(fa, fw) {Q}",
        "Conv 'f': it must have 1 or 2 spatial dimensions, not an input of the shape [1, 4, 5, 5, 5]",
    ),
    "window": (
        f"{IMAGE} a",
        f"{A} fw = DequantizeLinear(wide, s, i) f = Conv(fa, fw) {Q}",
        "Conv 'f': a window of [7, 1] must fit an image of [5, 5], pads included, and does not",
    ),
    "groups": (
        f"{IMAGE} a",
        f"{A} {W} f = Conv<group = 2>(fa, fw) {Q}",
        "Conv 'f': weights for 4 channels in 2 groups must fit the input's 4 channels, and do not",
    ),
    "axis": (
        f"{IMAGE} a",
        f"{A} fw = DequantizeLinear<axis = 1>(w, many, zw) f = Conv(fa, fw) {Q}",
        "Conv 'f': the weights must have one scale or one per output channel, axis 0, not along axis 1",
    ),
    "pads": (
        f"{IMAGE} a",
        f'{A} {W} f = Conv<auto_pad = "SAME_UPPER", dilations = [2, 2]>(fa, fw) {Q}',
        "Conv 'f': auto_pad must be NOTSET or VALID beside dilations [2, 2], not SAME_UPPER",
    ),
    "bias": (
        f"{IMAGE} a",
        f"{A} {W} f = Conv(fa, fw, far) {Q}",
        "Conv 'f': the bias must fit int32 in units of a_scale * b_scale, but column 3",
    ),
    "alpha": (f"{ROW} a", f"{A} {D} f = Gemm<alpha = 2.0>(fa, fd) {Q}", "Gemm 'f': alpha must be 1, not 2"),
    "linear": (
        f"{IMAGE} a",
        'f = Resize<mode = "linear">(a, , , sizes) fy = DequantizeLinear(f, s, z) y = QuantizeLinear(fy, s, z)',
        "Resize 'f': mode must be nearest between integers, not linear: put it behind a DequantizeLinear",
    ),
    "cubic": (
        f"{IMAGE} a",
        f'{A} f = Resize<mode = "cubic">(fa, , , sizes) {Q}',
        "Resize 'f': mode must be nearest or linear, not cubic",
    ),
    "interpolated by an unknown rule": (
        f"{IMAGE} a",
        f'{A} f = Resize<mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize">(fa, , , sizes) {Q}',
        "Resize 'f': coordinate_transformation_mode must be half_pixel or pytorch_half_pixel or asymmetric or ",
    ),
    "beyond float32": (
        f"{IMAGE} a",
        f"{A} f = {RESIZE.replace(', sizes', '').replace('(fa, , ', '(fa, , far')} {Q}",
        "Resize 'f': its result must have at most 67108864 elements, not the shape [1, 4, 5, 4611686018427387904]",
    ),
    "unclear places": (
        "uint8[1, 4, 6, 6] a",
        f"{A} f = {RESIZE} {Q}",
        "Resize 'f': its scales must keep places clear of rounding in float32, and ",
    ),
    "indices": (
        f"{IMAGE} a",
        f"{A} f, j = MaxPool<kernel_shape = [2, 2]>(fa) {Q}",
        "MaxPool 'f': it must have one output, not also the indices 'j'",
    ),
    "batch reshaped": (
        "uint8[2, 2, 5, 5] a",
        f"{A} f = Reshape(fa, flat) {Q}",
        "Reshape 'f': it must keep the batch, 2, as the first dimension, not give [4, 25]",
    ),
    "batch moved": (
        "uint8[2, 4] a",
        f"{A} f = Transpose<perm = [1, 0]>(fa) {Q}",
        "Transpose 'f': perm must be an order of dimensions with the batch, 0, first, not [1, 0]",
    ),
    "sixteen bits": (
        "float[1, 4] x",
        "a = QuantizeLinear(x, s, h) f = DequantizeLinear(a, s, h) y = QuantizeLinear(f, s, z)",
        "QuantizeLinear 'a': 'a' must be of int8 or uint8, not of uint16: quantize activations to 8 bits",
    ),
    "scales": (
        f"{IMAGE} a",
        f"f = DequantizeLinear(a, many, zeros) {Q}",
        "DequantizeLinear 'f': 'a' must have one scale and zero point, not of shape [4]",
    ),
    "negative scale": (
        f"{ROW} a",
        f"f = DequantizeLinear(a, negative, z) {Q}",
        "DequantizeLinear 'f': tensor 'a' must have a positive, finite scale, not -0.1",
    ),
    "weights of 16 bits": (
        f"{ROW} a",
        f"{A} fd = DequantizeLinear(short, s, j) f = MatMul(fa, fd) {Q}",
        "MatMul 'f': the weights must be of integers of 2, 4 or 8 bits, not of int16",
    ),
    "types": (
        f"{ROW} a",
        "y = com.microsoft.QLinearMul(a, s, i, a, s, i, s, i)",
        "QLinearMul 'y': the zero point of 'a' must be of uint8, not of int8",
    ),
    "missing parameters": (
        f"{ROW} a",
        "y = com.microsoft.QLinearAdd(a, s, z, a, s, z, s)",
        "QLinearAdd 'y': y_zero_point must be given",
    ),
}


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
