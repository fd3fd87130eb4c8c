"""Graphs of every kind around a product: branches that take its result, inputs that leave, empty and many batches."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from systoliq.api import EngineConfig, EngineSession, InputError

CONFIG = EngineConfig(rows=4, cols=4, depth=2, lanes=2)
FLOAT, INT8 = TensorProto.FLOAT, TensorProto.INT8
B = np.random.default_rng(1).integers(-128, 128, (6, 5)).astype(np.int8)
CONSTANTS = {"s": np.float32(0.02), "t": np.float32(0.5), "z": np.int8(3), "b": B}


def integers(*shape):
    return np.random.default_rng(2).integers(-128, 128, shape).astype(np.int8)


def product(*, b_parameters=("s", "z")):
    return helper.make_node("QLinearMatMul", ["a", "s", "z", "b", *b_parameters, "t", "z"], ["y"])


def saved(path, nodes, inputs, outputs, constants=CONSTANTS):
    """The file of a model; inputs and outputs are (name, type, shape)."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*each) for each in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def shapes(path, **feed):
    session = EngineSession(path, CONFIG)
    outputs = session.run(None, feed)
    assert len(session.report.check().steps) == 1
    return [y.shape for y in outputs]


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("shape", [(0, 6), (6,), (7, 6), (3, 2, 6)])
def test_batches(shape, tmp_path):
    result = (*shape[:-1], 5)
    path = saved(tmp_path / "model.onnx", [product()], [("a", INT8, shape)], [("y", INT8, result)])
    assert shapes(path, a=integers(*shape)) == [result]


@pytest.mark.simulator
def test_a_b_for_each_batch(tmp_path):
    constants = CONSTANTS | {"b": integers(3, 6, 5)}
    outputs = [("y", INT8, (3, 2, 5))]
    path = saved(tmp_path / "model.onnx", [product()], [("a", INT8, (3, 2, 6))], outputs, constants)
    assert shapes(path, a=integers(3, 2, 6)) == [(3, 2, 5)]


@pytest.mark.simulator
def test_a_scale_and_zero_point_for_each_column(tmp_path):
    rng = np.random.default_rng(4)
    constants = CONSTANTS | {
        "c": rng.uniform(0.01, 0.05, 5).astype(np.float32), "d": rng.integers(-5, 5, 5).astype(np.int8)
    }  # fmt: skip
    node = product(b_parameters=("c", "d"))
    path = saved(tmp_path / "model.onnx", [node], [("a", INT8, (2, 6))], [("y", INT8, (2, 5))], constants)
    assert shapes(path, a=integers(2, 6)) == [(2, 5)]


@pytest.mark.simulator
@pytest.mark.parametrize("condition", [True, False])
def test_branches_that_take_the_result(condition, tmp_path):
    def branch(node):
        return helper.make_graph([node], "g", [], [helper.make_tensor_value_info(node.output[0], FLOAT, (2, 5))])

    nodes = [
        product(),
        helper.make_node("DequantizeLinear", ["y", "t", "z"], ["real"]),
        helper.make_node(
            "If",
            ["condition"],
            ["out"],
            then_branch=branch(helper.make_node("Add", ["real", "real"], ["twice"])),
            else_branch=branch(helper.make_node("Neg", ["real"], ["less"])),
        ),
    ]
    inputs = [("a", INT8, (2, 6)), ("condition", TensorProto.BOOL, ())]
    path = saved(tmp_path / "model.onnx", nodes, inputs, [("out", FLOAT, (2, 5)), ("y", INT8, (2, 5))])
    assert shapes(path, a=integers(2, 6), condition=np.array(condition)) == [(2, 5), (2, 5)]


@pytest.mark.simulator
def test_inputs_and_constants_that_leave(tmp_path):
    nodes = [product(), helper.make_node("Identity", ["a"], ["a2"]), helper.make_node("Identity", ["b"], ["b2"])]
    outputs = [("y", INT8, (2, 5)), ("a2", INT8, (2, 6)), ("b2", INT8, (6, 5))]
    path = saved(tmp_path / "model.onnx", nodes, [("a", INT8, (2, 6))], outputs)
    assert shapes(path, a=integers(2, 6)) == [(2, 5), (2, 6), (6, 5)]


def test_texts_are_no_numbers(tmp_path):
    nodes = [product(), helper.make_node("Identity", ["x"], ["x2"])]
    inputs, outputs = [("a", INT8, (2, 6)), ("x", TensorProto.STRING, (1,))], [("y", INT8, (2, 5))]
    path = saved(tmp_path / "model.onnx", nodes, inputs, [*outputs, ("x2", TensorProto.STRING, (1,))])
    with pytest.raises(InputError, match=r"x must be a tensor of numbers, not tensor\(string\)"):
        EngineSession(path, CONFIG).run(None, {"a": integers(2, 6), "x": np.array(["text"])})
