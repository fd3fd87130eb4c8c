"""Images whose channels come last, as tf2onnx leaves them, at a network's ends and between Transposes: streams have
the order of memory.
"""

from __future__ import annotations

import itertools

import numpy as np
import onnxruntime
import pytest

from systoliq.board.exchange_of import exchange_of
from systoliq.design.network import NetworkDesign
from systoliq.golden.network import Chain, Move, load_network, network_arrays
from systoliq.onnx import read_network

from .oracle import check, write

BEFORE = {
    "float": ("float", "a = QuantizeLinear(x, s, z) fa = DequantizeLinear(a, s, z)", "fa"),
    "integers": ("int8", "fa = DequantizeLinear(x, s, z)", "fa"),
    "first": ("float", None, "fa"),
}
TO_SECOND = "Transpose<perm = [0, 3, 1, 2]>"
TO_LAST = "Transpose<perm = [0, 2, 3, 1]>"
CONVOLUTION = (
    "fw = DequantizeLinear(w, s, z) h = Conv(c, fw) b = QuantizeLinear(h, t, z) fb = DequantizeLinear(b, t, z)"
)
BEHIND = {
    "second": "m = Relu(fb)", "last": f"m = {TO_LAST}(fb)", "flat": f"r = {TO_LAST}(fb) m = Flatten(r)",
    "real": f"y = {TO_LAST}(fb)",
}  # fmt: skip
SIZES = {"second": "4, 4, 3", "last": "4, 3, 4", "flat": "48", "real": "4, 3, 4"}


def model(tmp_path, before, behind):
    """A convolution of [3, 6, 5], 3 x 3, 3 to 4 channels."""
    kind, nodes, real = BEFORE[before]
    if nodes is None:
        nodes = f"l = {TO_SECOND}(x) a = QuantizeLinear(l, s, z) c = DequantizeLinear(a, s, z)"
    else:
        nodes = f"{nodes} c = {TO_SECOND}({real})"
    end = BEHIND[behind] if behind == "real" else f"{BEHIND[behind]} y = QuantizeLinear(m, t, z)"
    result = f"{'float' if behind == 'real' else 'int8'}[1, {SIZES[behind]}]"
    text = f"g ({kind}[1, 6, 5, 3] x) => ({result} y) {{ {nodes} {CONVOLUTION} {end} }}"
    # 7 bits: onnxruntime makes the image uint8, and saturates on processors without VNNI
    weights = np.random.default_rng(2).integers(-64, 64, (4, 3, 3, 3)).astype(np.int8)
    return write(
        tmp_path / "model.onnx",
        text,
        {"s": np.float32(0.7), "t": np.float32(450), "z": np.int8(-9), "w": weights},
    )


def numbers(before, count):
    rng = np.random.default_rng(4)
    if before == "integers":
        return rng.integers(-128, 128, (count, 6, 5, 3)).astype(np.int8)
    return rng.normal(0, 60, (count, 6, 5, 3)).astype(np.float32)


ENDS = list(itertools.product(BEFORE, BEHIND))


@pytest.mark.parametrize(("before", "behind"), ENDS)
def test_ends(before, behind, tmp_path):
    """Golden, the stream that enters, and what comes out of a board's answers."""
    path = model(tmp_path, before, behind)
    network, x = read_network(path), numbers(before, 4)
    compared, operators = check(path, network, {"x": x})
    assert compared >= 4 * 48
    assert "QLinearConv" in operators
    (source,), (output,) = network.inputs, network.outputs
    assert source.channels_last == (before != "first")
    assert output.channels_last == (behind == "last")
    design = NetworkDesign(network)
    exchange = exchange_of(design, {"x": x})
    pixels = source.quantize(x) if before != "integers" else x
    assert b"".join(exchange.requests) == pixels.tobytes()  # an image as it lies in memory
    golden = network.golden({"x": x})
    made = golden["y" if behind == "second" else "b"]  # by the last stage
    answers = [each.tobytes() for each in made.transpose(0, 2, 3, 1)]
    np.testing.assert_array_equal(exchange.read(answers)[output.name], golden[output.name])


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize(("before", "behind"), [("float", "last"), ("integers", "second")])
def test_verilog(before, behind, tmp_path):
    """The output, in the model's shape, is onnxruntime's."""
    path = model(tmp_path, before, behind)
    network, x = read_network(path), numbers(before, 2)
    result = NetworkDesign(network).simulate({"x": x})
    assert result.passed
    session = onnxruntime.InferenceSession(path)
    expected = np.concatenate([session.run(None, {"x": image[None]})[0] for image in x])
    np.testing.assert_array_equal(result.outputs["y"], expected)


def test_a_network_file_has_it(tmp_path):
    network = read_network(model(tmp_path, "float", "last"))
    np.savez(tmp_path / "network.npz", **network_arrays(network))
    again = load_network(tmp_path / "network.npz")
    assert [tensor.channels_last for tensor in (*again.inputs, *again.outputs)] == [True, True]
    plain = read_network(model(tmp_path, "first", "second"))
    assert b"channels_last" not in network_arrays(plain)["description"].item()


def test_only_four_dimensions_have_channels_last(tmp_path):
    (source,) = read_network(model(tmp_path, "float", "last")).inputs
    with pytest.raises(ValueError, match="must have four dimensions for channels_last, not the shape"):
        source.replace(shape=(1, 90))


ELEMENTS = {
    "a table": "e = HardSwish(fl)",
    "a weight for each channel": (
        f"p = GlobalAveragePool(fb) pq = QuantizeLinear(p, t, z) fp = DequantizeLinear(pq, t, z) l1 = {TO_LAST}(fp) "
        "e = Mul(fl, l1)"
    ),
    "a constant for each channel": "fk = DequantizeLinear(k, s, z) e = Add(fl, fk)",
    "the sum with its table": (
        "g = Sigmoid(fl) gq = QuantizeLinear(g, u, z) fg = DequantizeLinear(gq, u, z) e = Mul(fl, fg)"
    ),
}


@pytest.mark.sampled(99)
@pytest.mark.parametrize("elements", ELEMENTS)
def test_operators_on_elements_between_transposes_take_no_memory(elements, tmp_path):
    body = ELEMENTS[elements]
    rng = np.random.default_rng(5)
    second = "fv = DequantizeLinear(v, s, z) c2 = Conv(f2, fv) y = QuantizeLinear(c2, t2, z)"
    text = (
        f"g (int8[1, 3, 8, 6] x) => (int8[1, 2, 6, 4] y) {{ c = DequantizeLinear(x, s, z) {CONVOLUTION} "
        f"l = {TO_LAST}(fb) lq = QuantizeLinear(l, t, z) fl = DequantizeLinear(lq, t, z) {body} "
        f"eq = QuantizeLinear(e, t2, z) fe = DequantizeLinear(eq, t2, z) f2 = {TO_SECOND}(fe) {second} }}"
    )
    weights = {
        "w": rng.integers(-128, 128, (4, 3, 1, 1)).astype(np.int8),
        "v": rng.integers(-128, 128, (2, 4, 3, 3)).astype(np.int8),
        "k": rng.integers(-128, 128, (1, 1, 1, 4)).astype(np.int8),
    }
    scales = {name: np.float32(each) for name, each in {"s": 0.07, "t": 0.9, "t2": 70, "u": 1 / 256}.items()}
    path = write(tmp_path / "model.onnx", text, {**weights, **scales, "z": np.int8(-9)})
    network = read_network(path)
    x = rng.integers(-128, 128, (3, 3, 8, 6)).astype(np.int8)
    compared, _ = check(path, network, {"x": x})
    assert compared > 0
    assert not [node.name for node in network.nodes if isinstance(node, Move) and isinstance(node.movement, Chain)]
    design = NetworkDesign(network)
    assert design.simulate({"x": x[:2]}, simulator="icarus").passed
