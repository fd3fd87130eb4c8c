"""Functions that differ by channel, BatchNormalization, PRelu and arithmetic, against onnxruntime: all 256 integers of
each channel.
"""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network import NetworkDesign
from systoliq.errors import InputError
from systoliq.golden.network import Addition, Convolution, Table
from systoliq.onnx import read_network

from .oracle import check, write

CODES = np.arange(256).astype(np.uint8)
SHAPES = {2: (7,), 3: (7, 3), 4: (7, 2, 3)}
BODIES = {
    "BatchNormalization": "f = BatchNormalization<epsilon = 0.001>(fa, scale, bias, mean, variance)",
    "BatchNormalization, Relu": "t = BatchNormalization(fa, scale, bias, mean, variance) f = Relu(t)",
    "BatchNormalization of quantized constants": """u = DequantizeLinear<axis = 0>(us, uss, usz)
        v = DequantizeLinear(vs, as, vsz) f = BatchNormalization(fa, u, v, mean, variance)""",
    "PRelu": "f = PRelu(fa, slopes)",
    "PRelu of some negative slopes": "f = PRelu(fa, bias1)",
    "BatchNormalization, PRelu": "t = BatchNormalization(fa, scale, bias, mean, variance) f = PRelu(t, slopes)",
    "Mul": "f = Mul(scale1, fa)",
    "Mul, Add": "t = Mul(fa, bias1) f = Add(t, mean1)",
    "Sub": "f = Sub(mean1, fa)",
    "Div": "f = Div(fa, scale1)",
    "alike": "f = Mul(same1, fa)",
}


def constants(rng, kind, rank, channels=7):
    draw = {name: rng.normal(0, 1, channels).astype(np.float32) for name in ("bias", "mean")}
    draw |= {
        "scale": rng.uniform(0.2, 2, channels),
        "variance": rng.uniform(0.1, 2, channels),
        "same": np.full(channels, 0.7),
    }
    draw = {name: value.astype(np.float32) for name, value in draw.items()}
    draw |= {f"{name}1": value.reshape(-1, *[1] * (rank - 2)) for name, value in draw.items()}
    a_scale = np.float32(2.0 ** rng.uniform(-7, -4))
    points = rng.integers(0, 256, 2).astype(np.uint8).view(kind)
    return draw | {
        "slopes": rng.uniform(0.01, 0.4, draw["bias1"].shape).astype(np.float32),
        "as": a_scale, "az": points[:1].reshape(()), "ys": np.float32(a_scale * rng.uniform(0.5, 2)),
        "yz": points[1:].reshape(()), "vsz": np.int32(0), "us": rng.integers(1, 128, channels).astype(np.int8),
        "uss": rng.uniform(0.01, 0.02, channels).astype(np.float32),
        "usz": np.zeros(channels, np.int8), "vs": rng.integers(-99, 99, channels).astype(np.int32),
    }  # fmt: skip


def model(tmp_path, body, kind, rank, held):
    size = ", ".join(map(str, SHAPES[rank]))
    text = f"""g ({kind}[256, {size}] a) => ({kind}[n] y) {{ fa = DequantizeLinear(a, as, az) {body}
        y = QuantizeLinear(f, ys, yz) }}"""
    return write(tmp_path / "model.onnx", text, held, opset=15)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_by_channel(body, kind, tmp_path):
    rng, kinds = np.random.default_rng(3), set()
    for rank in (2, 3, 4) * 3:
        path = model(tmp_path, body, kind, rank, constants(rng, kind, rank))
        network = read_network(path)
        a = np.broadcast_to(CODES.view(kind).reshape(-1, *[1] * (rank - 1)), (256, *SHAPES[rank]))
        compared, _ = check(path, network, {"a": a})
        assert compared == a.size
        kinds |= {type(node) for node in network.nodes}
    assert kinds >= ({Table} if "same1" in body else {Convolution} if "PRelu" not in body else {Convolution, Addition})


@pytest.mark.slow
@pytest.mark.simulator
def test_in_verilog(tmp_path):
    rng = np.random.default_rng(4)
    path = model(tmp_path, BODIES["PRelu"], "int8", 4, constants(rng, "int8", 4))
    design = NetworkDesign(read_network(path))
    np.savez(tmp_path / "a.npz", a=rng.integers(-128, 128, (3, 7, 2, 3)).astype(np.int8))
    assert design.simulate(**design.read_operands(tmp_path / "a.npz")).passed


REFUSED = {
    "by element": (
        "f = PRelu(fa, matrix)",
        r"its slope must be one float32 number, or one for each channel, not float32 \[2, 3\]",
    ),
    "no line": ("t = Mul(fa, scale1) f = Tanh(t)", "must be one line for each channel, or two that meet at 0, rounded"),
    "behind a sum": (
        "c = Conv(fa, fw) t = Relu(c) f = BatchNormalization(t, scale, bias, mean, variance)",
        "BatchNormalization 'f': its input must be quantized first, .* not come from Relu 't'; fold it before",
    ),
    "in training": (
        "f = BatchNormalization<training_mode = 1>(fa, scale, bias, mean, variance)",
        "training_mode must be 0, not 1",
    ),
}


@pytest.mark.parametrize(("body", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(body, text, tmp_path):
    held = constants(np.random.default_rng(3), "int8", 4)
    held |= {"matrix": np.ones((2, 3), np.float32), "w": np.ones((7, 7, 1, 1), np.int8), "wz": np.int8(0)}
    path = model(tmp_path, f"fw = DequantizeLinear(w, as, wz) {body}", "int8", 4, held)
    with pytest.raises(InputError, match=text):
        read_network(path)
