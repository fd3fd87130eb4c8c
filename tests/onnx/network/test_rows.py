"""Networks of one spatial dimension, as images of one row, against onnxruntime, and through Verilog."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network import NetworkDesign
from systoliq.errors import InputError
from systoliq.golden.network import Convolution, load_network, network_arrays
from systoliq.onnx import read_network
from systoliq.package import make_package
from systoliq.verify import verify_package

from .oracle import check, write
from .sum_models import FLOAT_BIAS, QDQ, QLINEAR, TYPES, constants_for


@pytest.mark.parametrize("kinds", TYPES, ids=str)
def test_convolutions(kinds, tmp_path):
    rng = np.random.default_rng(6)
    low, seen = 0 if kinds[0] == "uint8" else -128, set()
    for _ in range(10):
        channels = int(rng.choice([1, 2, 3, 4, 6]))
        groups = int(rng.choice([g for g in (1, 2, 3, channels) if channels % g == 0]))
        auto = str(rng.choice(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
        dilation = int(rng.integers(1, 2 if "SAME" in auto else 4))
        pads = f"pads = {rng.integers(0, 5, 2).tolist()}" if auto == "NOTSET" else f'auto_pad = "{auto}"'
        attributes = f"group = {groups}, strides = [{rng.integers(1, 4)}], dilations = [{dilation}], {pads}"
        m, length = groups * int(rng.integers(1, 4)), int(rng.integers(14, 20))
        constants = constants_for(rng, kinds, (m, channels // groups, int(rng.integers(1, 5))), per_channel=True)
        values = (rng.integers(0, 256, (1, channels, length)) + low).astype(kinds[0])
        for body in (QDQ, FLOAT_BIAS, QLINEAR):
            head = f"g ({kinds[0]}[1, {channels}, {length}] a) => ({kinds[0]}[n, c, l] y)"
            path = write(tmp_path / "model.onnx", f"{head} {{ {body.replace('ATTRIBUTES', attributes)} }}", constants)
            network = read_network(path)
            _, operators = check(path, network, {"a": values})
            assert "QLinearConv" in operators
            (node,) = (each for each in network.nodes if isinstance(each, Convolution))
            seen.add((node.groups > 1, node.depthwise))
    assert seen >= {(False, False), (True, True)}


POOLS = {
    "MaxPool": "f = MaxPool<kernel_shape = [3], strides = [2], pads = [1, 0]>(fa) y = QuantizeLinear(f, as, az)",
    "MaxPool of integers": "y = MaxPool<kernel_shape = [3], dilations = [2], ceil_mode = 1>(a)",
    "GlobalMaxPool": "f = GlobalMaxPool(fa) y = QuantizeLinear(f, as, az)",
    "AveragePool": "f = AveragePool<kernel_shape = [3], pads = [1, 1]>(fa) y = QuantizeLinear(f, ys, yz)",
    "AveragePool of all": "f = AveragePool<kernel_shape = [17]>(fa) y = QuantizeLinear(f, ys, yz)",
    "GlobalAveragePool": "f = GlobalAveragePool(fa) y = QuantizeLinear(f, ys, yz)",
    "QLinearGlobalAveragePool": "y = com.microsoft.QLinearGlobalAveragePool(a, as, az, ys, yz)",
    "ReduceMean": "f = ReduceMean<axes = [-1]>(fa) y = QuantizeLinear(f, ys, yz)",
    "ReduceMean to vectors": "f = ReduceMean<axes = [2], keepdims = 0>(fa) y = QuantizeLinear(f, ys, yz)",
}
CONSTANTS = {
    "as": np.float32(0.0317), "az": np.int8(-5), "ys": np.float32(0.0123), "yz": np.int8(7), "one": np.int64([1]),
    "w": np.random.default_rng(1).integers(-99, 99, (4, 4, 3)).astype(np.int8), "ws": np.float32(0.01),
    "v": np.random.default_rng(2).integers(-99, 99, (4, 4, 1, 3)).astype(np.int8), "wz": np.int8(0),
    "u": np.random.default_rng(3).integers(-99, 99, (8, 5)).astype(np.int8), "two": np.int64([2]),
    "bias": np.random.default_rng(4).integers(-99, 99, (4, 1)).astype(np.int8), "hs": np.float32(0.004),
}  # fmt: skip


@pytest.mark.parametrize("body", POOLS.values(), ids=POOLS)
def test_pools(body, tmp_path):
    before = "fa = DequantizeLinear(a, as, az)" if "fa" in body else ""
    path = write(tmp_path / "model.onnx", f"g (int8[1, 4, 17] a) => (int8[n] y) {{ {before} {body} }}", CONSTANTS)
    values = np.random.default_rng(8).integers(-128, 128, (60, 4, 17)).astype(np.int8)
    compared, _ = check(path, read_network(path), {"a": values})
    assert compared >= 60 * 4


# residual and gated branches, constants for each channel, convolutions with a row of their own, a head
NETWORK = """g (float[1, 4, 12] x) => (float[n] z) {
    a = QuantizeLinear(x, as, az) fa = DequantizeLinear(a, as, az)
    fw = DequantizeLinear(w, ws, wz) fv = DequantizeLinear(v, ws, wz)
    h0 = Conv<pads = [4, 0], dilations = [2]>(fa, fw) b = QuantizeLinear(h0, as, az) fb = DequantizeLinear(b, as, az)
    h1 = Add(fb, fa) c = QuantizeLinear(h1, as, yz) fc = DequantizeLinear(c, as, yz)
    h2 = LeakyRelu<alpha = 0.1>(fc) d = QuantizeLinear(h2, as, az) fd = DequantizeLinear(d, as, az)
    h3 = Unsqueeze(fd, two) h4 = Conv<pads = [0, 1, 0, 1]>(h3, fv) h5 = Squeeze(h4, two)
    e = QuantizeLinear(h5, as, az) fe = DequantizeLinear(e, as, az)
    fp = DequantizeLinear(bias, as, az) h6 = Add(fe, fp) f = QuantizeLinear(h6, as, az) ff = DequantizeLinear(f, as, az)
    h7 = GlobalAveragePool(ff) g = QuantizeLinear(h7, hs, yz) fg = DequantizeLinear(g, hs, yz)
    h8 = Mul(ff, fg) i = QuantizeLinear(h8, ys, yz) fi = DequantizeLinear(i, ys, yz)
    h9 = MaxPool<kernel_shape = [2], strides = [2]>(fi) j = QuantizeLinear(h9, ys, yz) fj = DequantizeLinear(j, ys, yz)
    k0 = Conv<pads = [1, 1], strides = [2]>(fa, fw) k = QuantizeLinear(k0, ys, yz) fk = DequantizeLinear(k, ys, yz)
    l0 = Concat<axis = 1>(fj, fk) l = QuantizeLinear(l0, ys, yz) fl = DequantizeLinear(l, ys, yz)
    END }"""
ENDS = {
    "rows": "z = Identity(fl)",
    "features": """t0 = Transpose<perm = [0, 2, 1]>(fl) fu = DequantizeLinear(u, ws, wz) m0 = MatMul(t0, fu)
        m = QuantizeLinear(m0, ys, yz) z = DequantizeLinear(m, ys, yz)""",
}


@pytest.fixture(params=ENDS.values(), ids=ENDS)
def network(request, tmp_path):
    """The model's file, the network in it, and images."""
    path = write(tmp_path / "model.onnx", NETWORK.replace("END", request.param), CONSTANTS)
    return path, read_network(path), np.random.default_rng(9).normal(0, 2, (20, 4, 12)).astype(np.float32)


def test_network(network, tmp_path):
    path, net, x = network
    compared, _ = check(path, net, {"x": x})
    assert compared >= 20 * 6 * 48
    np.savez(tmp_path / "network.npz", **network_arrays(net))
    assert load_network(tmp_path / "network.npz").inputs[0].channels_second


@pytest.mark.slow
@pytest.mark.simulator
def test_network_in_verilog(network, tmp_path):
    _, net, x = network
    design = NetworkDesign(net)
    np.savez(tmp_path / "x.npz", x=x[:2])
    assert design.simulate(**design.read_operands(tmp_path / "x.npz")).passed


@pytest.mark.slow
@pytest.mark.simulator
def test_an_image_whose_rows_follow_one_another(tmp_path):
    """As heads of detectors have it: [batch, channels, pixels] comes pixel after pixel."""
    text = """g (int8[1, 4, 3, 5] a) => (int8[1, 4, 9] y) { fa = DequantizeLinear(a, as, az)
        fv = DequantizeLinear(v, ws, wz) h = Conv(fa, fv) b = QuantizeLinear(h, ys, yz) y = Reshape(b, shape) }"""
    path = write(tmp_path / "model.onnx", text, {**CONSTANTS, "shape": np.int64([1, 4, -1])})
    network, a = read_network(path), np.random.default_rng(1).integers(-128, 128, (9, 4, 3, 5)).astype(np.int8)
    assert check(path, network, {"a": a})[0]
    design = NetworkDesign(network)
    np.savez(tmp_path / "a.npz", a=a[:2])
    assert design.simulate(**design.read_operands(tmp_path / "a.npz")).passed


REFUSED = {
    "pads of two dimensions": (
        "Conv<pads = [0, 1, 0, 1]>(fa, fw)",
        "pads must be 2 numbers for the input's shape, not",
    ),
    "a kernel of two dimensions": ("Conv(fa, fv)", r"must have 3 dimensions, as its input has, not \[4, 4, 1"),
}


@pytest.mark.parametrize(("conv", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(conv, text, tmp_path):
    body = f"""fa = DequantizeLinear(a, as, az) fw = DequantizeLinear(w, ws, wz) fv = DequantizeLinear(v, ws, wz)
        f = {conv} y = QuantizeLinear(f, ys, yz)"""
    path = write(tmp_path / "model.onnx", f"g (int8[1, 4, 17] a) => (int8[n] y) {{ {body} }}", CONSTANTS)
    with pytest.raises(InputError, match=text):
        read_network(path)


@pytest.mark.slow
def test_heads_joined_along_the_length(tmp_path):
    """Each input of the join becomes a row, and all of them need names of their own."""
    text = """g (int8[1, 4, 3, 5] a) => (int8[1, 2, n] y) { fa = DequantizeLinear(a, as, az)
        fv = DequantizeLinear(v, ws, wz) h = Conv(fa, fv) b = QuantizeLinear(h, ys, yz) fb = DequantizeLinear(b, ys, yz)
        k = MaxPool<kernel_shape = [2, 2]>(fa) c = QuantizeLinear(k, as, az) fc = DequantizeLinear(c, as, az)
        r = Reshape(fb, shape) t = Reshape(fc, shape) d0 = Concat<axis = 2>(r, t) d = QuantizeLinear(d0, ys, yz)
        fd = DequantizeLinear(d, ys, yz) first, rest = Split<axis = 1>(fd, parts) e = Sigmoid(first)
        y = QuantizeLinear(e, hs, yz) }"""
    path = write(tmp_path / "model.onnx", text, {**CONSTANTS, "shape": np.int64([1, 4, -1]), "parts": np.int64([2, 2])})
    network = read_network(path)
    assert check(path, network, {"a": np.random.default_rng(2).integers(-128, 128, (9, 4, 3, 5)).astype(np.int8)})[0]
    make_package(NetworkDesign(network)).write(tmp_path / "package")
    assert not verify_package(tmp_path / "package").reasons
