"""Layers with negative, zero, NaN and infinite scales, through their Verilog, judged by onnxruntime."""

from __future__ import annotations

import json

import numpy as np
import pytest

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer
from systoliq.package import describe

pytest.importorskip("onnxruntime", reason="onnxruntime is the reference here")

NAN, INF = float("nan"), float("inf")
CASES = {  # scales of a, b and y, zero point of y
    "columns": (0.02, [-0.01, 0.02, NAN, 0.0, -0.003], 0.5, 100),
    "negative y": (0.02, [0.01, 0.02, 0.005, 1e-45, 0.003], -0.5, 255),
    "y = 0": (0.02, [0.01, 0.0, -0.01, NAN, 0.3], 0.0, 100),
    "infinite, zero point 0": (0.02, [INF, -INF, -0.0, NAN, 0.3], 1.0, 0),
    "y infinite": (-0.02, [0.01, 0.02, 0.5, 1.0, 0.3], INF, 7),
}


def layer(arrays, case):
    a_scale, b_scale, y_scale, y_zero_point = CASES[case]
    scales = {"a_scale": np.float32(a_scale), "b_scale": np.float32(b_scale), "y_scale": np.float32(y_scale)}
    return MatMulLayer(**arrays | scales | {"y_zero_point": np.uint8(y_zero_point)})


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize(("case", "requantizer"), [*((case, "near-tie") for case in CASES), ("columns", "auto")])
def test_verilog_gives_what_onnxruntime_gives(case, requantizer, arrays):
    design = LayerDesign(layer(arrays, case), LayerOptions(cols=5, depth=3, requantizer=requantizer))
    # 7 bits: onnxruntime saturates on processors without VNNI
    a = np.random.default_rng(0).integers(0, 128, (20, 9)).astype(np.uint8)
    a[0] = 100
    result = design.simulate(a, simulator="icarus")
    result.check()
    assert result.report["float32_mismatches"] == 0
    np.testing.assert_array_equal(result.y, design.onnxruntime(a=a)["y"], strict=True)


def test_notes_and_the_sidecar_say_so(arrays):
    design = LayerDesign(layer(arrays, "columns"), LayerOptions(cols=5))
    (note,) = design.notes
    assert note == (
        "b_scale is NaN in column 2, 0 in column 3, negative in columns 0 and 4: results are the float32 formula's "
        "all the same, but such a scale is more often a mistake than meant"
    )
    facts = json.loads(json.dumps(describe(design)["quantization"], allow_nan=False))
    assert facts["noncanonical"] == [0, 2, 4]
    assert facts["scale"][2] == "nan"
    assert facts["b"]["scale"][2] == "nan"


def test_what_cannot_be(call, save, arrays, tmp_path):
    """Exploring works on real numbers, which such scales do not tell apart; so does --quantize with a scale of 0."""
    path = save("layer.npz", **arrays | {"a_scale": np.float32(0)})
    result = call("explore", path, "--out", tmp_path / "out", "--cols", 1, "--depth", 1)
    assert result.exit_code == 2
    assert "a_scale must be positive and finite to explore a layer, not 0.0" in result.output
    real = save("x.npz", a=np.ones((2, 9), np.float32))
    result = call("simulate", path, "--input", real, "--quantize")
    assert result.exit_code == 2
    assert "a_scale must be finite and not 0 to quantize real numbers, not 0.0" in result.output
