"""DynamicQuantizeLinear against onnxruntime: integers, scale and zero point, bit for bit."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from systoliq.golden.dynamic import dynamic_quantize_linear


@pytest.fixture(scope="module")
def judge():
    names = {"a": TensorProto.UINT8, "scale": TensorProto.FLOAT, "zero_point": TensorProto.UINT8}
    graph = helper.make_graph(
        [helper.make_node("DynamicQuantizeLinear", ["x"], list(names))],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["M", "K"])],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in names.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda x: session.run(None, {"x": x})


def random_numbers():
    """Numbers of all swings, about zero and on one side of it; every second array has its steps' halves."""
    rng = np.random.default_rng(2)
    for index in range(300):
        x = rng.normal(rng.choice([0, 0.5, -3, 10]), 1, (rng.integers(1, 9), rng.integers(1, 70)))
        x = x * 10.0 ** rng.integers(-37, 37)
        if index % 2:  # 255 steps from the least to the greatest, and a quarter of all numbers between two of them
            step = np.float32(rng.uniform(0.001, 10))
            x = np.clip(np.rint(x / np.abs(x).max() * 400) / 2, -100, 155) * step
            x.flat[0] = -100 * step
        yield x.astype(np.float32)


def test_random_numbers(judge):
    seen = 0
    for x in random_numbers():
        a, scale, zero_point = judge(x)
        found = dynamic_quantize_linear(x)
        np.testing.assert_array_equal(found.a, a, strict=True)
        assert (found.scale.tobytes(), found.zero_point) == (scale.tobytes(), zero_point)
        seen += x.size
    assert seen > 20000


@pytest.mark.parametrize("row", [[0, 0], [-0.0], [5, 5], [-5], [3.4e38, 1e38], [2e-38, 1e-38], [-1, 255]], ids=str)
def test_ends(row, judge):
    x = np.array([row], np.float32)
    found = dynamic_quantize_linear(x)
    for mine, right in zip((found.a, found.scale, found.zero_point), judge(x), strict=True):
        assert mine.tobytes() == right.tobytes()


@pytest.mark.parametrize(
    ("x", "kind", "text"),
    [
        (np.zeros(3), TypeError, "x must be float32, not float64"),
        (np.zeros((0, 3), np.float32), ValueError, r"x must have at least one element, not the shape \[0, 3\]"),
        (np.float32([[1, np.nan]]), ValueError, r"x must hold finite numbers, not nan \(at \[0, 1\]\)"),
        (np.float32([np.inf]), ValueError, "x must hold finite numbers, not inf"),
        (np.float32([3e38, -3e38]), ValueError, r"a range with a scale in float32, not -3e\+38 to 3e\+38"),
        (np.float32([1e-45]), ValueError, "a range with a scale in float32, not 0.0 to 1e-45"),
    ],
    ids=["float64", "nothing", "nan", "infinity", "too wide", "too narrow"],
)
def test_what_has_no_scale_is_refused(x, kind, text):
    with pytest.raises(kind, match=text):
        dynamic_quantize_linear(x)
