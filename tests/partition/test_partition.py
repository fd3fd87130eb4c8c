"""Partition of a model: the largest part that is a network, and the whole played with that part in Verilog."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest

from systoliq.errors import InputError
from systoliq.onnx import read_network
from systoliq.partition import partition_of

from ..onnx.network.oracle import session, write

RNG = np.random.default_rng(3)
CONSTANTS = {
    "as": np.float32(2**-5), "az": np.int8(3), "ws": np.float32(2**-7), "wz": np.int8(0), "ys": np.float32(0.043),
    "yz": np.int8(-20), "ns": np.float32(2**-7), "us": np.float32(0.02), "uz": np.int8(1),
    "V": RNG.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8),
    "W": RNG.integers(-127, 128, (4, 4, 3, 3)).astype(np.int8),
}  # fmt: skip
FIRST, LATER = 4 * 4 * 5 * 27, 4 * 2 * 3 * 36  # multiply-accumulates of the convolutions
CONV = "fv = DequantizeLinear(V, ws, wz) c = Conv(fa, fv) q = QuantizeLinear(c, ys, yz) d = DequantizeLinear(q, ys, yz)"
START = f"a = QuantizeLinear(x, as, az) fa = DequantizeLinear(a, as, az) {CONV}"
BETWEEN = "n = LpNormalization<axis = 1>(d) p = QuantizeLinear(n, ns, yz) fp = DequantizeLinear(p, ns, yz)"
END = """fw = DequantizeLinear(W, ws, wz) e = Conv(fp, fw) u = QuantizeLinear(e, us, uz) f = DequantizeLinear(u, us, uz)
    m = Relu(f) v = QuantizeLinear(m, us, uz) r = DequantizeLinear(v, us, uz)"""
SKIP = "k = GlobalMaxPool(d) y = Mul(r, k)"  # the end takes a tensor from before the normalization


def model(tmp_path, body, outputs="float[n] y"):
    return write(tmp_path / "model.onnx", f"g (float[1, 3, 6, 7] x) => ({outputs}) {{ {body} }}", CONSTANTS)


@pytest.fixture
def split(tmp_path):
    """A model with a normalization in the middle: the convolution before it is the larger one."""
    return model(tmp_path, f"{START} {BETWEEN} {END} {SKIP}")


@pytest.fixture
def images(tmp_path):
    x = RNG.normal(0, 1, (3, 3, 6, 7)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    return x


def test_the_largest_part(tmp_path):
    found = partition_of(model(tmp_path, f"{START} {BETWEEN} {END} y = Identity(r)"))
    assert (found.start, found.end, found.boundary) == ("a", "q", ("a",))
    assert (found.multiply_accumulates, found.all_multiply_accumulates) == (FIRST, FIRST + LATER)
    (cause,) = (each for each in found.causes if each.multiply_accumulates)
    assert (cause.node, cause.multiply_accumulates) == ("LpNormalization 'n'", LATER)
    assert "LpNormalization" in cause.reason


def test_a_tensor_goes_around_the_part(tmp_path):
    larger = f"{END.replace('e = Conv(fp', 'e0 = Conv<pads = [2, 2, 2, 2]>(fp').replace('Linear(e,', 'Linear(e0,')}"
    found = partition_of(model(tmp_path, f"{START} {BETWEEN} {larger} k = GlobalMaxPool(d) y = Mul(r, k)"))
    assert (found.start, found.end) == ("p", "v")
    assert set(found.boundary) == {"p", "d"}
    assert [each.name for each in found.before.graph.output] == list(found.boundary)
    assert {each.name for each in found.after.graph.input} == {"d", "v"}


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("body", [f"{START} {BETWEEN} {END} {SKIP}", f"{START} y = LpNormalization<axis = 1>(d)"])
def test_the_whole_model_is_played(body, images, call, tmp_path):
    path = model(tmp_path, body)
    written = call("partition", path, "--out", tmp_path / "parts")
    assert written.exit_code == 0, written.output
    assert f"{FIRST:,} of " in written.output
    arguments = ["--input", tmp_path / "x.npz", "--output", tmp_path / "y.npz", "--simulator", "icarus"]
    result = call("run", tmp_path / "parts", *arguments, "--stalls", 0.2, "--report", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    own = session(onnx.load(path))
    right = np.concatenate([own.run(["y"], {"x": image[None]})[0] for image in images])
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"].view(np.uint32), right.view(np.uint32))
    assert f"PASS: {right.size:,} elements" in result.output
    assert json.loads((tmp_path / "r.json").read_text())["passed"]


@pytest.mark.slow
@pytest.mark.simulator
def test_another_network_is_found(split, images, call, tmp_path):
    """The Verilog of a changed network equals golden and onnxruntime for that network, but not the whole model."""
    call("partition", split, "--out", tmp_path / "parts")
    changed = onnx.load(tmp_path / "parts/network.onnx")
    (weights,) = (each for each in changed.graph.initializer if each.name == "V")
    weights.CopyFrom(onnx.numpy_helper.from_array(-CONSTANTS["V"], "V"))
    onnx.save(changed, tmp_path / "parts/network.onnx")
    result = call("run", tmp_path / "parts", "--input", tmp_path / "x.npz", "--simulator", "icarus")
    assert result.exit_code == 1
    assert "compared with golden, 0 differ; 0 differ from onnxruntime" in result.output
    assert "FAIL: " in result.output


def test_a_model_that_is_a_network_is_one_part(tmp_path):
    found = partition_of(model(tmp_path, f"{START} y = Identity(d)"))
    assert (found.multiply_accumulates, found.all_multiply_accumulates) == (FIRST, FIRST)
    assert found.before is not None
    assert not found.causes


def test_the_part_is_a_source(split, call, tmp_path):
    call("partition", split, "--out", tmp_path / "parts")
    network = read_network(tmp_path / "parts/network.onnx")
    assert network.multiply_accumulates == FIRST
    assert call("partition", split, "--out", tmp_path / "parts").exit_code == 0  # replaces its own files


def test_the_reason_where_no_part_is_a_network(tmp_path):
    body = "a = QuantizeLinear(x, as, az) fa = DequantizeLinear(a, as, az) fv = DequantizeLinear(V, ws, wz) "
    path = model(tmp_path, f"{body} c = Conv(fa, fv) n = LpNormalization(c) q = QuantizeLinear(n, ys, yz)", "int8[n] q")
    with pytest.raises(InputError, match=r"no part with a matrix product can be a network: .*LpNormalization 'n'"):
        partition_of(path)


INSTEAD = {
    "m = MatMul(fa, fv) n = com.microsoft.BiasGelu(m, B)": (
        "BiasGelu 'n': a bias and its function must be two nodes: quantize the model before an optimizer fuses them"
    ),
    "n = com.microsoft.Attention<num_heads = 2>(fa, fv, B)": (
        "Attention 'n': attention must be MatMul, Softmax and MatMul with quantizers between them, not one node of real"
    ),
    "n = MatMul(fa, fv)": r"input 'a' must have numbers for all dimensions but the first, not \[1, L, 4\]: export",
}


@pytest.mark.parametrize("nodes", INSTEAD)
def test_it_says_what_to_export_instead(nodes, tmp_path):
    shape = "1, L, 4" if r"\[1, L, 4" in INSTEAD[nodes] else "1, 2, 4"
    text = f"g (uint8[{shape}] a) => (uint8[{shape}] y) {{ fa = DequantizeLinear(a, s, z)"
    text += " fv = DequantizeLinear(w, s, i)"
    constants = {"s": np.float32(0.1), "z": np.uint8(3), "i": np.int8(0), "w": np.ones((4, 4), np.int8)}
    constants["B"] = np.ones(4, np.float32)
    path = write(tmp_path / "m.onnx", f"{text} {nodes} y = QuantizeLinear(n, s, z) }}", constants)
    with pytest.raises(InputError, match=f"no part with a matrix product can be a network: {INSTEAD[nodes]}"):
        partition_of(path)


REFUSED = {
    "a float model": (["partition", "float.onnx", "--out", "o"], "must be quantized, not float"),
    "a directory with other files": (["partition", "model.onnx", "--out", "."], "it holds other files"),
    "another directory": (["run", "empty", "--input", "x.npz"], "must be a model or a directory of systoliq partition"),
    "an option of the engine": (["run", "parts", "--input", "x.npz", "--rows", 4], "rows cannot be used with a part"),
    "no file": (["partition", "nothing.onnx", "--out", "o"], "nothing.onnx: there is no such file"),
    "an input of another name": (["run", "parts", "--input", "z.npz"], "inputs must hold 'x', and have 'z'"),
    "an input of another shape": (["run", "parts", "--input", "w.npz"], "x must have the shape [1, 3, 6, 7], not "),
    "a part that is gone": (["run", "half", "--input", "x.npz"], "network.onnx: there is no such file"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("arguments", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(arguments, text, split, images, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body = "g (float[1, 3, 6, 7] x, float[4, 3, 3, 3] w) => (float[n] y) { y = Conv(x, w) }"
    write(tmp_path / "float.onnx", body, {})
    (tmp_path / "empty").mkdir()
    for name in ("parts", "half"):
        call("partition", split, "--out", name)
    (tmp_path / "half/network.onnx").unlink()
    np.savez("z.npz", z=images)
    np.savez("w.npz", x=images[:, :2])
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    assert text in " ".join(result.output.split())
    assert not (tmp_path / "o").exists()
