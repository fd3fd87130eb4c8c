"""All reasons why a product is not taken, in one line: parameters from the graph's input, each by its name."""

from __future__ import annotations

import pytest

from .onnx_models import write
from .onnx_nodes import nodes

POINT, SCALE = "z = ReduceMax<keepdims = 0>(xq)", "f = Cast<to = 1>(z)"

# Nodes, and the reasons in their order.
PRODUCTS = {
    "QLinearMatMul": (
        nodes(POINT, SCALE, "[fc] yq = QLinearMatMul(xq, f, z, xq, f, z, f, z)"),
        [
            f"{name} must be constant, not from {source}"
            for name, source in {
                "a_scale": "Cast 'f'",
                "a_zero_point": "ReduceMax 'z'",
                "b": "the graph's input 'xq'",
                "b_scale": "Cast 'f'",
                "b_zero_point": "ReduceMax 'z'",
                "y_scale": "Cast 'f'",
                "y_zero_point": "ReduceMax 'z'",
            }.items()
        ],
    ),
    "MatMulInteger": (
        nodes(POINT, "[fc] i = MatMulInteger(xq, xq, z, z)", "yq = Cast<to = 2>(i)"),
        [
            "b must be constant, not from the graph's input 'xq'",
            "b_zero_point must be constant, not from ReduceMax 'z'",
        ],
    ),
    "QGemm": (
        nodes(POINT, SCALE, "[fc] yq = com.microsoft.QGemm<alpha = 2.0>(xq, f, z, W, w_s, w_z, bias, y_s, y_z)"),
        ["alpha must be 1, not 2", "a_scale must be constant, not from", "a_zero_point must be constant, not from"],
    ),
    "QDQ": (
        nodes(POINT, SCALE, "x = DequantizeLinear(xq, f, z)", "w = DequantizeLinear(xq, w_s, w_z)",
              "[fc] y = Gemm<transA = 1, alpha = 2.0>(x, w)", "yq = Cast<to = 2>(y)"),
        [
            "transA must be 0",
            "alpha must be 1, not 2",
            "a's scale must be constant, not from Cast 'f'",
            "a's zero point must be constant, not from ReduceMax 'z'",
            "b must be constant, not from the graph's input 'xq'",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("graph", "reasons"), PRODUCTS.values(), ids=PRODUCTS)
def test_layers_prints_every_reason(graph, reasons, call, tmp_path):
    result = call("layers", write(tmp_path / "model.onnx", graph))
    (line,) = [line for line in result.output.splitlines() if line.startswith("not taken: ")]
    places = [line.find(reason) for reason in reasons]
    assert min(places) > 0, (line, places)
    assert places == sorted(places)
    assert line.count(" must ") == len(reasons)
