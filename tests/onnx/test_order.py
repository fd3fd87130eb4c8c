"""Models whose nodes come in any order, as onnxruntime takes them; cycles are refused by their nodes."""

from __future__ import annotations

import random

import numpy as np
import onnx
import pytest

from systoliq.onnx import Model
from systoliq.onnx.model_file import read_model

from ..cli.refused import assert_refused
from .network.networks import NETWORKS, images, quantized
from .network.oracle import check, write
from .onnx_models import write as write_product
from .onnx_nodes import DQ_A, DQ_W, MATMUL, Q_Y, nodes

IF = """p = If<then_branch = t () => (float[1, 4] v) { v = Relu(u) u = Neg(fa) },
    else_branch = e () => (float[1, 4] w) { w = Identity(fa) }>(c) c = Constant<value = bool {1}>() """


def reorder(path, order) -> None:
    """Write the model in the file `path` with its nodes in another order."""
    model = onnx.load(path)
    kept = type(model.graph)(node=order(list(model.graph.node)))
    del model.graph.node[:]
    model.graph.node.extend(kept.node)
    onnx.save(model, path)


def backwards(nodes):
    return nodes[::-1]


@pytest.mark.parametrize("seed", range(4))
def test_a_network_in_any_order(seed, tmp_path):
    net = NETWORKS["branches"]()
    path = quantized(tmp_path, net)
    sorted_ = Model.open(path).reading
    reorder(path, lambda nodes: random.Random(seed).sample(nodes, len(nodes)) if seed else nodes[::-1])
    reading = Model.open(path).reading
    assert {each.name: (each.fate, each.shape) for each in reading.verdicts} == {
        each.name: (each.fate, each.shape) for each in sorted_.verdicts
    }
    x = images(net.shape, 3, 9)
    expected, given = sorted_.network.golden({"x": x}), reading.network.golden({"x": x})
    for name, array in expected.items():
        np.testing.assert_array_equal(given[name], array)


def test_onnxruntime_takes_it_backwards(tmp_path):
    text = """g (float[1, 4] x) => (int8[1, 4] y) {
        y = QuantizeLinear(f, s, z) f = Relu(fa) fa = DequantizeLinear(a, s, z) a = QuantizeLinear(x, s, z) }"""
    path = write(tmp_path / "model.onnx", text, {"s": np.float32(0.1), "z": np.int8(3)})
    network = Model.open(path).reading.network
    x = np.random.default_rng(1).normal(0, 9, (50, 4)).astype(np.float32)
    compared, _ = check(path, network, {"x": x})
    assert compared == 2 * 50 * 4


def test_the_order_of_nodes_that_are_sorted_stays(tmp_path):
    path = quantized(tmp_path, NETWORKS["mobilenet"]())
    assert [node.name for node in read_model(path).graph.node] == [node.name for node in onnx.load(path).graph.node]


def test_bodies_and_functions(tmp_path):
    """Nodes of an If wait for what its bodies take; nodes in a body and in a function are sorted, too."""
    text = f"""g (float[1, 4] x) => (float[1, 4] q) {{ q = mine.Twice(p) {IF}
        fa = DequantizeLinear(a, s, z) a = QuantizeLinear(x, s, z) }}"""
    path = write(tmp_path / "model.onnx", text, {"s": np.float32(0.1), "z": np.int8(3)})
    model = onnx.load(path)
    function = '<opset_import: ["": 17], domain: "mine"> Twice (p) => (r) { r = Add(h, h) h = Abs(p) }'
    model.functions.append(onnx.parser.parse_function(function))
    model.opset_import.append(onnx.helper.make_opsetid("mine", 1))
    onnx.save(model, path)
    read = read_model(path)
    order = [node.op_type for node in read.graph.node]
    assert order.index("DequantizeLinear") < order.index("If") < order.index("Abs") < order.index("Add")
    (branch,) = (node for node in read.graph.node if node.op_type == "If")
    assert [node.op_type for node in branch.attribute[0].g.node] == ["Neg", "Relu"]


BODY = """c = Constant<value = bool {1}>() y = If<then_branch = t () => (float[1, 4] v) { v = Relu(u) %s },
    else_branch = e () => (float[1, 4] w) { w = Identity(a) }>(c) """
CYCLES = {
    "two": ("f = Relu(g) [second] g = Neg(f) y = Add(f, a)", "Relu 'f' -> Neg 'second' -> Relu 'f'"),
    "itself": ("f = Add(f, a) y = Relu(f)", "Add 'f' -> Add 'f'"),
    "behind others": ("b = Relu(a) y = Neg(h) f = Add(b, h) h = Abs(f)", "Add 'f' -> Abs 'h' -> Add 'f'"),
    "long": (
        "y = Neg(t9) t0 = Neg(t9)" + "".join(f" t{i} = Neg(t{i - 1})" for i in range(1, 10)),
        "Neg 't0' -> Neg 't1' -> Neg 't2' -> Neg 't3' -> 6 more -> Neg 't0'",
    ),
    "in a body": (BODY % "u = Neg(v)", "Relu 'v' -> Neg 'u' -> Relu 'v'"),
    "by way of a body": (BODY % "" + "u = Neg(y)", "If 'y' -> Neg 'u' -> If 'y'"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", ["layers", "emit", "run"])
@pytest.mark.parametrize(("text", "cycle"), CYCLES.values(), ids=CYCLES)
def test_cycles(text, cycle, command, call, tmp_path):
    path = write(tmp_path / "model.onnx", f"g (float[1, 4] a) => (float[1, 4] y) {{ {text} }}", {})
    np.savez(tmp_path / "x.npz", a=np.zeros((1, 4), np.float32))
    more = {"layers": [], "emit": ["--out", tmp_path / "out"], "run": ["--input", tmp_path / "x.npz"]}[command]
    result = call(command, path, *more)
    assert_refused(result, f"must be a valid ONNX model (its nodes must not form a cycle: {cycle})")


def test_a_tensor_that_two_nodes_make(call, tmp_path):
    text = "g (float[1, 4] a) => (float[1, 4] y) { y = Neg(b) b = Relu(a) [other] b = Abs(a) }"
    result = call("layers", write(tmp_path / "model.onnx", text, {}))
    assert_refused(result, "(the tensor 'b' must be the result of one node, not of both Relu 'b' and Abs 'other')")


def test_a_product_backwards(call, tmp_path):
    path = write_product(tmp_path / "model.onnx", nodes(DQ_A, DQ_W, MATMUL, Q_Y))
    there = call("emit", path, "--out", tmp_path / "there")
    reorder(path, backwards)
    back = call("emit", path, "--out", tmp_path / "back")
    assert (there.exit_code, back.exit_code) == (0, 0), back.output
    verilog = [next((tmp_path / name).glob("*fc.v")).read_bytes() for name in ("there", "back")]
    assert verilog[0] == verilog[1]


@pytest.mark.parametrize("location", ["w.bin", "data/w.bin"])
def test_data_outside_of_a_model_backwards(location, call, tmp_path, monkeypatch):
    """The library's check looks for the data in the current folder where it is given the sorted model."""
    net = NETWORKS["autoencoder"]()
    path = quantized(tmp_path, net)
    inside = Model.open(path).reading.network
    reorder(path, backwards)
    (tmp_path / location).parent.mkdir(exist_ok=True)
    onnx.save(onnx.load(path), path, save_as_external_data=True, location=location, size_threshold=0)
    monkeypatch.chdir("/")
    network = Model.open(path).reading.network
    x = images(net.shape, 3, 9)
    expected, given = inside.golden({"x": x}), network.golden({"x": x})
    for name, array in expected.items():
        np.testing.assert_array_equal(given[name], array)
    (tmp_path / location).unlink()
    result = call("emit", path, "--out", tmp_path / "out")
    assert_refused(result, f"there is no regular file {tmp_path / location}")
