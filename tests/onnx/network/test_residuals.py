"""A Conv that is not quantized before a tensor is added to it, against onnxruntime, which computes both in float32:
almost no integer may differ.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from systoliq.design import NetworkDesign, NetworkOptions
from systoliq.golden.network import ResidualSum, Table
from systoliq.onnx import Model, read_network

from .line_models import constants, differing, model_of
from .oracle import session, write

HEAD = """fa = DequantizeLinear(a, as, az) fw = DequantizeLinear<axis = 0>(w, ws, wz)
    f = Conv<group = GROUPS, pads = [1, 1, 1, 1]>(fa, fw, c)"""
BODIES = {
    "of the input": f"{HEAD} g = Add(f, fa) y = QuantizeLinear(g, ys, yz)",
    "with a Relu": f"{HEAD} g = Add(fa, f) h = Relu(g) y = QuantizeLinear(h, ys, yl)",
    "with a Relu that has an effect": f"{HEAD} g = Add(fa, f) h = Relu(g) y = QuantizeLinear(h, ys, yz)",
    "of a table": f"""{HEAD} r = Sigmoid(fa) t = QuantizeLinear(r, ss, az) u = DequantizeLinear(t, ss, az)
        g = Add(f, u) h = Relu(g) y = QuantizeLinear(h, ys, yl)""",
    "behind BatchNormalization": f"""{HEAD} n = BatchNormalization(f, steep, c, mean, variance)
        g = Add(n, fa) h = Relu(g) p = MaxPool<kernel_shape = [1, 1]>(h) y = QuantizeLinear(p, ys, yl)""",
}  # fmt: skip


def held_for(rng, kind: str, channels: int, groups: int) -> dict[str, np.ndarray]:
    held = constants(rng, kind, channels, groups)
    return held | {"steep": np.abs(held["gain"]), "ys": np.float32(held["ys"] * 1.37), "ss": np.float32(1 / 255)}


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_residuals(body, tmp_path):
    rng = np.random.default_rng(13)
    compared = differ = 0
    for number in range(8):
        kind = ("uint8", "int8")[number % 2]
        channels, groups = 6, (1, 6, 3)[number % 3]
        path = model_of(tmp_path, body, kind, held_for(rng, kind, channels, groups), groups, channels)
        network = read_network(path)
        assert sum(isinstance(node, ResidualSum) for node in network.nodes) == 1
        assert isinstance(network.nodes[-1], Table) == ("yz" in body and "Relu" in body)
        more = differing(path, network, rng, kind, channels)
        compared, differ = compared + more[0], differ + more[1]
    assert compared == 41472
    assert differ <= 4  # near ties


@pytest.mark.parametrize(
    ("body", "changes", "reason"),
    [
        (
            f"{HEAD} g = Add(f, fa) h = Mul(f, g) y = QuantizeLinear(h, ys, yz)", {},
            "its input 'f' must have this one use, as it is not yet quantized",
        ),
        (BODIES["of the input"], {"ys": np.float32(1e-6)}, "its addend and bias must be wrong by at most 0.00195"),
        (BODIES["of the input"], {"c": np.full(4, 1e5, np.float32)}, "fit"),
        (
            BODIES["behind BatchNormalization"], {"steep": -np.ones(4, np.float32)},
            "the gain of each channel behind Conv 'f' must be positive and finite",
        ),
        (
            f"{HEAD} e = Conv<pads = [1, 1, 1, 1]>(fa, fw) g = Add(f, e) y = QuantizeLinear(g, ys, yz)", {},
            "its input 'e' must come from a DequantizeLinear, not from Conv 'e'",
        ),
        (
            f"{HEAD} p = MaxPool<kernel_shape = [12, 12]>(fa) g = Add(f, p) y = QuantizeLinear(g, ys, yz)", {},
            "its inputs must be of one shape, as Conv 'f' is not quantized before it",
        ),
    ],
)  # fmt: skip
def test_refused_by_name(body, changes, reason, tmp_path):
    held = held_for(np.random.default_rng(5), "int8", 4, 1) | changes
    problems = Model.open(model_of(tmp_path, body, "int8", held, 1, 4)).reading.problems
    assert any(reason in problem for problem in problems), problems


def test_one_spatial_dimension(tmp_path):
    rng = np.random.default_rng(8)
    held = held_for(rng, "int8", 6, 1)
    held["w"] = held["w"][..., 1]
    body = BODIES["with a Relu"].replace("GROUPS", "1").replace("[1, 1, 1, 1]", "[1, 1]")
    path = write(tmp_path / "model.onnx", f"g (int8[1, 6, 40] a) => (int8[1, 6, 40] y) {{ {body} }}", held)
    network = read_network(path)
    x = rng.integers(-128, 128, (1, 6, 40)).astype(np.int8)
    wanted = session(onnx.load(path)).run(["y"], {"a": x})[0].astype(int)
    assert (network.golden({"a": x})["y"] != wanted).sum() <= 1
    assert NetworkDesign(network).plan.image_cycles


@pytest.mark.slow  # tests/sim/test_network.py has a residual network
@pytest.mark.simulator
def test_in_verilog(tmp_path):
    """Two blocks, one behind the other, with stalls: FIFOs before joins are deep enough."""
    rng = np.random.default_rng(2)
    body = f"""{HEAD} g = Add(f, fa) h = Relu(g) q = QuantizeLinear(h, ys, yl) fq = DequantizeLinear(q, ys, yl)
        k = Conv<pads = [1, 1, 1, 1]>(fq, fw, c) l = Add(fq, k) y = QuantizeLinear(l, ys, yz)"""
    text = f"g (int8[1, 2, 4, 3] a) => (int8[1, 2, 4, 3] y) {{ {body.replace('GROUPS', '1')} }}"
    network = read_network(write(tmp_path / "model.onnx", text, held_for(rng, "int8", 2, 1)))
    design = NetworkDesign(network, NetworkOptions(multipliers=8))
    x = rng.integers(-128, 128, (3, 2, 4, 3)).astype(np.int8)
    assert design.simulate({"a": x}, simulator="icarus", stalls=0.3).passed
