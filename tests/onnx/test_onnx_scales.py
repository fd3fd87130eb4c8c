"""Scales of any value in QDQ form: the layer is what onnxruntime's fused operator computes, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.onnx import read_onnx

from .onnx_models import CONSTANTS, K, run, write
from .onnx_nodes import DQ_A, DQ_BIAS, DQ_W, GEMM, MATMUL, Q_Y, nodes

PER_COLUMN = DQ_W.replace("w_s, w_z", "w_sn, w_zn").replace("Linear(", "Linear<axis = 1>(")
SCALES = {
    "a negative": {"a_s": np.float32(-0.03), "bias_s": np.float32(-0.03) * CONSTANTS["w_s"]},
    "b negative": {"w_s": np.float32(-0.011), "bias_s": np.float32(-0.011) * CONSTANTS["a_s"]},
    "a zero": {"a_s": np.float32(0), "bias_s": np.float32(0)},
    "y negative": {"y_s": np.float32(-0.17)},
    "y zero": {"y_s": np.float32(0), "y_z": np.uint8(0)},
    "y infinite": {"y_s": np.float32(np.inf)},
    "y NaN": {"y_s": np.float32(np.nan)},
}
OF_COLUMNS = {
    "negative, zero": np.float32([-0.01, 0.01, -0.0, 0, 1e-45]),
    "NaN": np.float32([0.01, np.nan, -0.01, np.nan, 0]),
    "infinite": np.float32([np.inf, -np.inf, np.nan, np.inf, -np.inf]),
}


def check(path, fused):
    layer = read_onnx(path)
    a = np.random.default_rng(1).integers(0, 256, (200, K)).astype(np.uint8)
    a[0] = CONSTANTS["a_z"]  # sums of 0
    (y,), operators = run(path, {"xq": a})
    assert fused in operators
    np.testing.assert_array_equal(layer.golden(a), y, strict=True)
    assert np.isfinite(layer.canonical.scale).all()


@pytest.mark.parametrize("changes", SCALES.values(), ids=SCALES)
def test_of_tensors(changes, tmp_path):
    check(write(tmp_path / "m.onnx", nodes(DQ_A, DQ_W, MATMUL, Q_Y), **changes), "QLinearMatMul")
    check(write(tmp_path / "b.onnx", nodes(DQ_A, DQ_W, DQ_BIAS, GEMM, Q_Y), **changes), "QGemm")


@pytest.mark.parametrize("y_zero_point", [0, 131])
@pytest.mark.parametrize("scales", OF_COLUMNS.values(), ids=OF_COLUMNS)
def test_of_columns(scales, y_zero_point, tmp_path):
    changes = {"w_sn": scales, "y_z": np.uint8(y_zero_point)}
    check(write(tmp_path / "m.onnx", nodes(DQ_A, PER_COLUMN, MATMUL, Q_Y), **changes), "QLinearMatMul")
