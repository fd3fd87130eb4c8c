"""Activations with a scale for each channel before depthwise convolutions, against onnxruntime, which computes both
convolutions in float32: almost no integer may differ.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from systoliq.onnx import Model, read_network

from .line_models import constants
from .oracle import session, write

HEAD = """fa = DequantizeLinear(a, as, az) fw = DequantizeLinear<axis = 0>(w, ws, wz)
    f = Conv<pads = [1, 1, 1, 1]>(fa, fw, c) r = Clip(f, low, high)"""
MIDDLE = """q = QuantizeLinear<axis = 1>(r, cs, cz) d = DequantizeLinear<axis = 1>(q, cs, cz)
    fv = DequantizeLinear<axis = 0>(v, vs, vz)"""
CONV = "e = Conv<group = 6, pads = [1, 1, 1, 1]>(d, fv, k)"
TWICE = "e = Conv<group = 6>(d, fv, k)"
END = "y = QuantizeLinear(e, ys, yl)"


def held_for(rng, kind: str, outputs: int = 6) -> dict[str, np.ndarray]:
    held = constants(rng, kind, 6, 1)
    low = np.asarray(np.iinfo(kind).min).astype(kind)
    step = held["ys"] * rng.uniform(1, 5, 6).astype(np.float32)
    vs = (2.0 ** rng.uniform(-9, -6, outputs)).astype(np.float32)
    return held | {
        "cs": step, "cz": np.full(6, low), "low": np.float32(0), "high": np.float32(255 * step.max() * 1.01),
        "v": rng.integers(-64, 64, (outputs, 1, 3, 3)).astype(np.int8), "vs": vs, "vz": np.zeros(outputs, np.int8),
        "k": rng.normal(0, 20 * step.mean() * vs.mean(), outputs).astype(np.float32),
        "ys": np.float32(step.mean() * vs.mean() * 150),
    }  # fmt: skip


def model_of(tmp_path, body: str, kind: str, held: dict[str, np.ndarray], outputs: int = 6):
    text = f"g ({kind}[1, 6, 12, 12] a) => ({kind}[1, {outputs}, h, v] y) {{ {body} }}"
    return write(tmp_path / "model.onnx", text, held)


@pytest.mark.parametrize(("conv", "outputs"), [(CONV, 6), (TWICE, 12)], ids=["one", "two outputs a channel"])
def test_scales_of_channels(conv, outputs, tmp_path):
    rng = np.random.default_rng(9)
    compared = differ = 0
    for number in range(10):
        kind = ("uint8", "int8")[number % 2]
        path = model_of(tmp_path, f"{HEAD} {MIDDLE} {conv} {END}", kind, held_for(rng, kind, outputs), outputs)
        network = read_network(path)
        info = np.iinfo(kind)
        model = onnx.load(path)
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info("q"))
        run = session(model)
        for _ in range(4):
            x = rng.integers(info.min, info.max + 1, (1, 6, 12, 12)).astype(kind)
            golden = network.golden({"a": x})
            for name, wanted in zip("qy", run.run(["q", "y"], {"a": x}), strict=True):
                apart = np.abs(golden[name].astype(int) - wanted)
                assert apart.max() <= (1 if name == "q" else 2)
                compared, differ = compared + wanted.size, differ + int((apart > 0).sum())
    assert compared == 40 * (6 * 144 + outputs * (144 if outputs == 6 else 100))
    assert differ <= 8  # near ties


@pytest.mark.parametrize(
    ("body", "changes", "reason"),
    [
        (f"{HEAD} {MIDDLE} e = Conv<group = 1>(d, fw) {END}", {}, "it must be depthwise, of 6 groups, as its input"),
        (f"{HEAD} {MIDDLE} e = Sigmoid(d) {END}", {}, "must go to depthwise convolutions alone"),
        (f"{HEAD} {MIDDLE} {CONV} {END}", {"high": np.float32(0.1)}, "Clip 'r' must be without effect before"),
        (f"{HEAD} {MIDDLE} {CONV} {END}", {"cz": np.arange(6, dtype=np.int8)}, "must have one zero point, and"),
        (
            f"fa = DequantizeLinear(a, as, az) r = Sigmoid(fa) {MIDDLE} {CONV} {END}", {},
            "its input 'r' must be quantized with one scale, not with one for each channel, as it does not come from",
        ),
        (
            f"{HEAD} {MIDDLE.replace('1>(q, cs', '1>(q, other')} {CONV} {END}", {"other": np.ones(6, np.float32)},
            "its scales, zero points and axis must be those of the QuantizeLinear before it",
        ),
    ],
)  # fmt: skip
def test_refused_by_name(body, changes, reason, tmp_path):
    held = held_for(np.random.default_rng(5), "int8") | changes
    problems = Model.open(model_of(tmp_path, body, "int8", held)).reading.problems
    assert any(reason in problem for problem in problems), problems
