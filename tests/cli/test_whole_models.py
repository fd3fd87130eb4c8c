"""FILE.onnx as SOURCE of every command: the whole model, or one line with all reasons; never a part for the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from systoliq.design import LayerDesign, LayerOptions, NetworkDesign, open_source
from systoliq.design.sources import open_network
from systoliq.golden.network import Convolution, Dense, ResidualSum

from ..onnx.network.oracle import write
from .refused import assert_refused

GENERATOR = np.random.default_rng(11)
CONSTANTS: dict[str, Any] = {
    "s": np.float32(0.1), "z": np.uint8(3), "i": np.int8(0), "axes": np.array([2, 3]), "one": np.float32(1),
    "w": GENERATOR.integers(-64, 65, (4, 4, 1, 1)).astype(np.int8), "ws": np.float32(0.02),
    "d": GENERATOR.integers(-64, 65, (4, 4)).astype(np.int8), "real": np.ones(4, np.float32),
    "lo": np.uint8(5), "hi": np.uint8(200), "bits": np.float32(8), "fd": np.ones((4, 4), np.float32),
    "fk": np.ones((4, 4, 1, 1), np.float32), "zero": np.array([0]), "square": np.array([1, 2, 2]),
}  # fmt: skip
IMAGE = "float[1, 4, 5, 5] x"
A = "a = QuantizeLinear(x, s, z) fa = DequantizeLinear(a, s, z)"
W = "fw = DequantizeLinear(w, ws, i)"
D = "gd = DequantizeLinear(d, ws, i)"
CONV = f"{A} {W} [conv] c = Conv(fa, fw) b = QuantizeLinear(c, s, z) fb = DequantizeLinear(b, s, z)"
GEMM = f"{D} [fc] g = Gemm(h, gd) y = QuantizeLinear(g, s, z)"
Y = "uint8[1, n] y"
EINSUM = 'Einsum<equation = "nchw,ocij->nohw">'
UNREAD = "is not supported"
FLOAT = "must be quantized, not float: none of its nodes works on integers; quantize it by systoliq quantize FILE.onnx"

# the graph's inputs, outputs and nodes, and what the error must say
REFUSED = {
    "an operator between Conv and Gemm": (
        IMAGE, Y,
        (f"{CONV} m = ReduceL1<axes = [2, 3], keepdims = 0>(fb) e = QuantizeLinear(m, s, z) "
        f"h = DequantizeLinear(e, s, z) {GEMM}"),
        f"ReduceL1 'm': the operator ReduceL1 {UNREAD}",
    ),
    "one without a Gemm": (
        IMAGE, "uint8[1, 4, 5, 5] y",
        (f"{CONV} t = LogSoftmax(fb) e = QuantizeLinear(t, s, z) fe = DequantizeLinear(e, s, z) r = Sigmoid(fe) "
        "y = QuantizeLinear(r, s, z)"),
        f"LogSoftmax 't': the operator LogSoftmax {UNREAD}",
    ),
    "one on integers": (
        IMAGE, "uint8[1, 4, 5, 5] y",
        (f"a = QuantizeLinear(x, s, z) k = Mod(a, lo) fa = DequantizeLinear(k, s, z) {W} c = Conv(fa, fw) "
        "y = QuantizeLinear(c, s, z)"),
        f"Mod 'k': the operator Mod {UNREAD}",
    ),
    "one behind a sum": (
        IMAGE, "float[1, 4, 5, 5] f",
        (f"{A} {W} c = Conv(fa, fw) r = Relu(c) n = BatchNormalization(r, real, real, real, real) "
        "y = QuantizeLinear(n, s, z) f = DequantizeLinear(y, s, z)"),
        "BatchNormalization 'n': its input must be quantized first",
    ),
    "a last Einsum": (
        IMAGE, "float[1, 4, 5, 5] f",
        f"{CONV} t = {EINSUM}(fb, fw) y = QuantizeLinear(t, s, z) f = DequantizeLinear(y, s, z)",
        f"Einsum 't': the operator Einsum {UNREAD}",
    ),
    "an Einsum alone": (
        IMAGE, "float[1, 4, 5, 5] f",
        f"{A} {W} t = {EINSUM}(fa, fw) y = QuantizeLinear(t, s, z) f = DequantizeLinear(y, s, z)",
        f"Einsum 't': the operator Einsum {UNREAD}",
    ),
    "a ConvTranspose with ties": (
        IMAGE, "float[1, 4, 5, 5] f",
        f"{CONV} t = ConvTranspose(fb, fw) y = QuantizeLinear(t, s, z) f = DequantizeLinear(y, s, z)",
        "the scales around ConvTranspose 't' must leave few sums half-way between two results",
    ),
    "a last QLinearConv of another domain": (
        IMAGE, "uint8[1, 4, 5, 5] y",
        f"{CONV} y = com.microsoft.QLinearConv<channels_last = 1>(b, s, z, w, ws, i, s, z)",
        f"QLinearConv 'y': the operator QLinearConv of com.microsoft {UNREAD}",
    ),
    "a float LSTM before": (
        "float[3, 1, 4] x", Y,
        ("l, k = LSTM<hidden_size = 4>(x, lw, lw) q = Squeeze(k, zero) a = QuantizeLinear(q, s, z) "
        f"h = DequantizeLinear(a, s, z) {GEMM}"),
        "LSTM 'l': a recurrent layer keeps a state from one step to the next",
    ),
    "dynamic quantization of two layers": (
        "float[1, 4] x", "float[1, 4] y",
        ("p, ps, pz = DynamicQuantizeLinear(x) n = MatMulInteger(p, d, pz) f = Cast<to = 1>(n) e = Mul(f, ps) "
        "q, qs, qz = DynamicQuantizeLinear(e) [second] m = MatMulInteger(q, d, qz) g = Cast<to = 1>(m) y = Mul(g, qs)"),
        "must be quantized statically, not dynamically: DynamicQuantizeLinear 'p' and 1 more find scales",
    ),
    "moves alone": (
        "float[1, 4] x", "float[1, 2, 2] y",
        f"{A} h = Reshape(fa, square) b = QuantizeLinear(h, s, z) y = DequantizeLinear(b, s, z)",
        "a network must have an operator other than moves",
    ),
    "nothing but host": (
        "float[1, 4] x", "float[1, 4] y", f"{A} y = Softmax(fa)",
        "and has only Softmax 'y', which the host computes",
    ),
}  # fmt: skip

# models without any operator on integers: refused with one reason, by `run`, `compile` and #NODE too
UNQUANTIZED = {
    "a float network": (
        IMAGE, "float[1, 4] y",
        "c = Conv(x, fk) r = Relu(c) m = GlobalAveragePool(r) e = Flatten(m) [fc] y = Gemm(e, fd)",
        FLOAT,
    ),
    "a float layer": ("float[1, 4] x", "float[1, 4] y", "[fc] y = MatMul(x, fd)", FLOAT),
    "Quant of QONNX": (
        "float[1, 4] x", "float[1, 4] y",
        "q = qonnx.custom_op.general.Quant(x, s, one, bits) [fc] y = MatMul(q, fd)",
        "must be quantized by QuantizeLinear and DequantizeLinear, not by Quant of qonnx.custom_op.general",
    ),
    "another domain": (
        "float[1, 4] x", "float[1, 4] y", "y = ai.onnx.ml.Scaler<offset = [0.0], scale = [1.0]>(x)",
        "must have an operator on integers, and has only Scaler of ai.onnx.ml",
    ),
    "no node": ("float[1, 4] x", "float[1, 4] x", "", "must have at least one node in its graph, and has none"),
}  # fmt: skip

OPENED = {
    "emit": ["emit", "{}", "--out", "{out}"],
    "emit a network": ["emit", "{}", "--out", "{out}", "--multipliers", "8"],
    "synth": ["synth", "{}", "--target", "ecp5-85k"],
    "simulate": ["simulate", "{}", "--input", "{x}"],
    "bitstream": ["bitstream", "{}", "--board", "ulx3s-85f", "--out", "{out}"],
    "board simulate": ["board", "simulate", "{}", "--seconds", "1"],
    "explore": ["explore", "{}", "--require", "throughput=1000"],
    "explore --out": ["explore", "{}", "--out", "{out}", "--target", "osu018"],
    "explore --bits": ["explore", "{}", "--bits", "4"],
    "explore --smallest": ["explore", "{}", "--smallest", "--require", "throughput=1000"],
}
RUN = {"run": ["run", "{}", "--input", "{x}"], "compile": ["compile", "{}", "--out", "{out}"]}


def made(path, graph):
    inputs, outputs, nodes, *_ = graph
    constants = CONSTANTS | {
        "lw": np.ones((1, 16, 4), np.float32),
        "zero": np.array([0]),
        "square": np.array([1, 2, 2]),
    }
    write(path, f"g ({inputs}) => ({outputs}) {{ {nodes} }}", constants, opset=17, ir=8)
    model = onnx.load(path)
    for domain, version in (("qonnx.custom_op.general", 1), ("ai.onnx.ml", 3)):
        model.opset_import.append(onnx.helper.make_opsetid(domain, version))
    onnx.save(model, path)
    return path


def called(call, tmp_path, words, path):
    """The result of a command, which leaves no file behind."""
    np.savez(tmp_path / "x.npz", x=np.zeros((1, 4), np.float32))
    places = {"out": tmp_path / "out", "x": tmp_path / "x.npz"}
    result = call(*(path if word == "{}" else word.format(**places) for word in words))
    assert {each.name for each in tmp_path.iterdir()} == {"m.onnx", "x.npz"}
    return result


@pytest.mark.sampled(16)
@pytest.mark.parametrize("words", OPENED.values(), ids=OPENED)
@pytest.mark.parametrize("graph", (REFUSED | UNQUANTIZED).values(), ids=REFUSED | UNQUANTIZED)
def test_every_command_gives_the_cause(graph, words, call, tmp_path):
    path = made(tmp_path / "m.onnx", graph)
    result = called(call, tmp_path, words, path)
    assert_refused(result, graph[3])
    assert result.stderr.startswith(f"error: {path}: ")


@pytest.mark.parametrize("words", RUN.values(), ids=RUN)
@pytest.mark.parametrize("graph", UNQUANTIZED.values(), ids=UNQUANTIZED)
def test_run_and_compile_give_the_cause(graph, words, call, tmp_path):
    path = made(tmp_path / "m.onnx", graph)
    result = called(call, tmp_path, words, path)
    assert_refused(result, f"error: {path}: {graph[3]}")


@pytest.mark.parametrize("graph", (REFUSED | UNQUANTIZED).values(), ids=REFUSED | UNQUANTIZED)
def test_layers_gives_the_cause(graph, call, tmp_path):
    result = call("layers", made(tmp_path / "m.onnx", graph))
    assert result.exit_code == 0, (result.output, result.exception)
    reasons = [line for line in result.stdout.splitlines() if line.startswith(("no network: ", "no hardware: "))]
    assert any(graph[3] in line for line in reasons)
    if graph[3] == FLOAT:
        assert len(reasons) == 1
        assert "not taken:" not in result.stdout


@pytest.mark.parametrize("name", ["a float network", "a float layer", "Quant of QONNX"])
def test_a_product_of_an_unquantized_model_gives_the_cause(name, call, tmp_path):
    path = made(tmp_path / "m.onnx", UNQUANTIZED[name])
    assert_refused(call("emit", f"{path}#fc", "--out", tmp_path / "out"), UNQUANTIZED[name][3])


def test_a_refused_model_names_a_layer_that_is_a_source(call, tmp_path):
    path = made(tmp_path / "m.onnx", REFUSED["an operator between Conv and Gemm"])
    result = call("emit", path, "--out", tmp_path / "out")
    assert_refused(result, f"; one layer of it alone is '{path}#fc': see systoliq layers")
    assert isinstance(open_source(f"{path}#fc"), LayerDesign)


BEHIND = "y = QuantizeLinear(g, s, z)"
LAYERS = {
    "QLinearMatMul": ("uint8[M, 4] a", "uint8[M, 4] y", "[fc] y = QLinearMatMul(a, s, z, d, ws, i, s, z)"),
    "QGemm": ("uint8[M, 4] a", "uint8[M, 4] y", "[fc] y = com.microsoft.QGemm(a, s, z, d, ws, i, , s, z)"),
    "MatMulInteger": ("uint8[M, 4] a", "int32[M, 4] y", "[fc] y = MatMulInteger(a, d, z)"),
    "with both ends": (
        "float[M, 4] x", "float[M, 4] p",
        (f"t = Sigmoid(x) a = QuantizeLinear(t, s, z) h = DequantizeLinear(a, s, z) {GEMM} "
        "fy = DequantizeLinear(y, s, z) p = Softmax(fy)"),
    ),
    "a result that stays float": ("float[M, 4] x", "float[M, 4] p", f"{A} {D} [fc] g = Gemm(fa, gd) p = Softmax(g)"),
    "a Flatten before": (IMAGE.replace("5, 5", "1, 1"), "uint8[1, 4] y", f"{A} h = Flatten(fa) {GEMM}"),
    "dynamic quantization": (
        "float[M, 4] x", "float[M, 4] r",
        ("p, ps, pz = DynamicQuantizeLinear(x) [fc] n = MatMulInteger(p, d, pz, i) f = Cast<to = 1>(n) m = Mul(ps, ws) "
        "e = Mul(f, m) k = Add(e, real) r = Relu(k)"),
    ),
    "dynamic quantization in one node": (
        "float[M, 4] x", "float[M, 4] r", "[fc] r = com.microsoft.DynamicQuantizeMatMul(x, d, ws, i)"
    ),
    "16 bits": (
        "float[M, 4] x", "float[M, 4] f",
        f"a = QuantizeLinear(x, s, z16) h = DequantizeLinear(a, s, z16) {GEMM} f = DequantizeLinear(y, s, z)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("graph", LAYERS.values(), ids=LAYERS)
def test_one_layer_alone_is_the_whole_model(graph, tmp_path):
    inputs, outputs, nodes = graph
    constants = CONSTANTS | {"z16": np.uint16(300)}
    path = write(tmp_path / "m.onnx", f"g ({inputs}) => ({outputs}) {{ {nodes} }}", constants, opset=21, ir=10)
    design = open_source(str(path), LayerOptions(cols=2, depth=2))
    named = open_source(f"{path}#fc", LayerOptions(cols=2, depth=2))
    assert isinstance(design, LayerDesign)
    assert (design.name, design.origin) == (named.name, named.origin)
    arrays, alone = design.layer.arrays(), named.layer.arrays()
    assert arrays.keys() == alone.keys()
    for key, array in arrays.items():
        np.testing.assert_array_equal(array, alone[key])


PARTS = {
    "a Transpose before": (
        "float[1, 2, 3, 4] x", f"{A} t = Transpose<perm = [0, 2, 1, 3]>(fa) h = Reshape(t, rows) {GEMM}"
    ),
    "a Sigmoid behind": (
        "float[1, 4] x", (f"{A} {D} g = MatMul(fa, gd) b = QuantizeLinear(g, s, z) fb = DequantizeLinear(b, s, z) "
        "f = Sigmoid(fb) y = QuantizeLinear(f, s, z)")
    ),
    "a Clip behind": (
        "float[1, 4] x", f"{A} {D} g = MatMul(fa, gd) k = Clip(g, low, high) y = QuantizeLinear(k, s, z)"
    ),
    "a MaxPool before": (
        "uint8[1, 4, 2, 2] a", ("m = MaxPool<kernel_shape = [2, 2]>(a) e = Flatten(m) "
        "y = QLinearMatMul(e, s, z, d, ws, i, s, z)")
    ),
}  # fmt: skip


@pytest.mark.parametrize(("inputs", "nodes"), PARTS.values(), ids=PARTS)
def test_a_layer_among_others_is_not_taken_for_the_whole(inputs, nodes, tmp_path):
    constants = CONSTANTS | {"rows": np.array([1, -1, 4]), "low": np.float32(-0.3), "high": np.float32(25.2)}
    path = write(tmp_path / "m.onnx", f"g ({inputs}) => (uint8[n] y) {{ {nodes} }}", constants)
    assert open_network(str(path)) is not None


@pytest.mark.slow
@pytest.mark.simulator
def test_a_single_convolution_is_a_network(call, tmp_path):
    path = made(tmp_path / "m.onnx", (IMAGE, "uint8[1, 4, 5, 5] b", CONV.partition(" fb =")[0]))
    assert isinstance(open_source(str(path)), NetworkDesign)
    x = np.random.default_rng(1).uniform(-1, 26, (1, 4, 5, 5)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    places = ["--input", tmp_path / "x.npz", "--output", tmp_path / "y.npz", "--simulator", "icarus"]
    result = call("simulate", path, *places)
    assert result.exit_code == 0, result.output
    (right,) = onnxruntime.InferenceSession(path).run(None, {"x": x})
    assert len(np.unique(right)) > 20
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["b"], right)


def test_explore_refuses_what_no_plan_builds(call, tmp_path):
    """An average of windows that count different numbers of pixels, as `emit` has it."""
    nodes = f"{CONV} h = AveragePool<kernel_shape = [6, 6], pads = [3, 3, 2, 2]>(fb) y = QuantizeLinear(h, s, z)"
    path = write(tmp_path / "m.onnx", f"g ({IMAGE}) => (uint8[1, 4, 5, 5] y) {{ {nodes} }}", CONSTANTS)
    reason = "all windows must count the same number of pixels, not 9 to 25: count_include_pad must be 1 where"
    assert_refused(call("emit", path, "--out", tmp_path / "out"), reason)
    assert_refused(call("explore", path, "--require", "throughput=1000"), reason)


def test_a_product_that_the_host_computes_is_named(call, tmp_path):
    """A last Gemm whose result stays float is the host's, and the package says so."""
    nodes = f"{CONV} m = GlobalAveragePool(fb) k = QuantizeLinear(m, s, z) fk2 = DequantizeLinear(k, s, z) "
    nodes += f"h = Flatten(fk2) {D} [fc] g = Gemm(h, gd)"
    path = made(tmp_path / "m.onnx", (IMAGE, "float[1, 4] g", nodes))
    result = call("emit", path, "--out", tmp_path / "out", "--multipliers", 8)
    assert result.exit_code == 0, result.output
    left = "the host computes Gemm 'fc', whose result stays real numbers"
    assert f"note: {left}" in result.stderr
    assert left in (tmp_path / "out" / "m.json").read_text()


def test_a_float_model_quantized_as_the_message_says_is_taken(call, save, tmp_path):
    path = made(tmp_path / "m.onnx", UNQUANTIZED["a float network"])
    rows = save("c.npz", x=np.random.default_rng(0).normal(size=(8, 4, 5, 5)).astype(np.float32))
    result = call("quantize", path, "--data", rows, "--out", tmp_path / "q.onnx")
    assert result.exit_code == 0, result.output
    network, _ = open_network(str(tmp_path / "q.onnx"))
    assert [type(node) for node in network.nodes if isinstance(node, Convolution | Dense)] == [Convolution, Dense]


@pytest.mark.parametrize("kind", ["*/m.onnx", pytest.param("zoo/*.onnx", marks=pytest.mark.slow)])
def test_cases_from_outside_are_whole_or_refused_by_cause(kind, call, shared, tmp_path):
    """Every product of a model that is taken is a stage, or the layer; a model that is not taken says why."""
    cases = sorted((shared / "cases").glob(kind))
    if not cases:
        pytest.skip(f"{shared / 'cases'} is not there")
    for path in cases:
        nodes = onnx.load(path, load_external_data=False).graph.node
        products = {each.name or each.output[0] for each in nodes if each.op_type in ("Conv", "MatMul", "Gemm")}
        assert call("layers", path).exit_code == 0, path
        try:
            opened = open_network(str(path))
        except ValueError as error:
            refused = " ".join(str(error).split())
            assert_refused(call("emit", path, "--out", tmp_path / "out"), refused)
            continue
        stages = (
            [node.name for node in opened[0].nodes if isinstance(node, Convolution | Dense | ResidualSum)]
            if opened
            else products
        )
        assert products <= set(stages), path
        assert opened or len(products) == 1, path
