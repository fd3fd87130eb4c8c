"""An int32 bias with another scale than a_scale * b_scale, which onnxruntime ignores where it fuses the product."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.onnx import Model
from systoliq.onnx.runtime import Session

from .onnx_models import CONSTANTS, K, run, write
from .onnx_nodes import DQ_A, DQ_BIAS, DQ_W, GEMM, MATMUL, Q_Y, nodes

PRODUCTS = {
    "Gemm 'fc'": nodes(DQ_A, DQ_W, DQ_BIAS, GEMM, Q_Y),
    "MatMul 'fc'": nodes(DQ_A, DQ_W, DQ_BIAS, MATMUL.replace("y =", "p ="), "y = Add(c, p)", Q_Y),
}


@pytest.mark.parametrize(("product", "body"), PRODUCTS.items())
def test_the_nodes_are_computed_and_a_note_says_so(product, body, tmp_path):
    path = write(tmp_path / "m.onnx", body, bias_s=np.float32(4 * CONSTANTS["bias_s"]))
    a = np.random.default_rng(1).integers(0, 256, (200, K)).astype(np.uint8)
    model = Model.open(path)
    y = model.layer()[0].golden(a)
    nodes_alone = Session(str(path), "m", as_it_is=True)
    np.testing.assert_array_equal(y, nodes_alone.run(["yq"], {"xq": a})["yq"], strict=True)
    (fused,), operators = run(path, {"xq": a})
    assert "QGemm" in operators
    assert not np.array_equal(y, fused)
    (note,) = model.bias_notes()
    assert note.startswith(f"the int32 bias 'c' of {product} has another scale than a_scale * b_scale: ")


@pytest.mark.parametrize("body", PRODUCTS.values(), ids=PRODUCTS)
def test_no_note_where_the_scale_is_the_unit(body, tmp_path):
    assert Model.open(write(tmp_path / "m.onnx", body)).bias_notes() == []


@pytest.mark.sampled(99)
@pytest.mark.parametrize("node", ["", "#fc"])
def test_emit_says_so_too(node, call, tmp_path):
    path = write(tmp_path / "m.onnx", PRODUCTS["Gemm 'fc'"], bias_s=np.float32(4 * CONSTANTS["bias_s"]))
    result = call("emit", f"{path}{node}", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "note: the int32 bias 'c' of Gemm 'fc' has another scale" in result.output
