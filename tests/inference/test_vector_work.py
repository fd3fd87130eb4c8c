"""Maxima of windows and moves as commands of the vector unit: played on bytes in numpy, equal onnxruntime's."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from onnx import helper, numpy_helper

from systoliq.inference.program.channel_steps import channel_step, channel_work, is_of_channels
from systoliq.inference.program.moves import move
from systoliq.inference.program.pools import max_pool
from systoliq.inference.program.vector_work import MOST_COMMANDS, SCRATCH, VectorWork, layout_of
from systoliq.inference.steps import VectorStep
from systoliq.onnx.graph import Graph

from ..onnx.network.oracle import session

GUARD = 64


def model(nodes, inputs, constants=()):
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in inputs],
        [helper.make_empty_tensor_value_info(nodes[-1].output[0])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in dict(constants).items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


class Lowered:
    """What `move` and `channel_work` need of a lowered model."""

    def __init__(self, given):
        self.model = given
        self.graph = Graph(given, None)


def played(work, given, y):
    """Y after the commands, in memory with a guard zone behind each tensor, which must not change."""
    shapes = {name: x.shape for name, x in zip("ab", given, strict=False)} | {"y": y.shape}
    sizes = {name: layout_of(shape).bytes for name, shape in shapes.items()} | {SCRATCH: work.scratch}
    rng, memory = np.random.default_rng(7), {}
    for name, size in sizes.items():
        memory[name] = rng.integers(0, 256, GUARD + size + GUARD).astype(np.uint8)
    for name, x in zip("ab", given, strict=False):
        rows = layout_of(x.shape)
        memory[name][GUARD:-GUARD].reshape(rows.count, rows.stride)[:, : rows.size] = x.reshape(rows.count, -1).view(
            np.uint8
        )
    before = {name: bytes(data) for name, data in memory.items()}
    for each in work.commands:
        tensors = [memory[name] for name, _, _ in each.places]
        for row in range(each.rows):
            ats = [GUARD + offset + row * stride for _, offset, stride in each.places]
            ends = [at + each.row_bytes for at in ats]
            for at, end, tensor in zip(ats, ends, tensors, strict=True):
                assert at >= GUARD, "before a tensor"
                assert end <= len(tensor) - GUARD, "behind a tensor"
            *operands, target = tensors
            parts = [x[at:end].view(work.operand.dtype) for x, at, end in zip(operands, ats, ends, strict=False)]
            target[ats[-1] : ends[-1]] = work.operations[each.operation].apply(*parts).view(np.uint8)
    assert all(bytes(memory[name]) == before[name] for name in shapes if name != "y"), "operands are kept"
    for name, data in memory.items():
        assert (bytes(data[:GUARD]), bytes(data[-GUARD:])) == (before[name][:GUARD], before[name][-GUARD:])
    rows = layout_of(y.shape)
    found = memory["y"][GUARD:-GUARD].reshape(rows.count, rows.stride)[:, : rows.size]
    return np.ascontiguousarray(found).view(y.dtype).reshape(y.shape)


def random_pool(rng):
    """A node, and its input."""
    last, dtype = rng.random() < 0.6, rng.choice([np.int8, np.uint8])
    rank = 2 if last else int(rng.integers(1, 3))
    taps = rng.integers(1, 5, rank)
    dilations = rng.integers(1, 3, rank) if rng.random() < 0.3 else np.ones(rank, int)
    pads = [int(rng.integers(0, taps[i])) for i in range(rank)] + [int(rng.integers(0, taps[i])) for i in range(rank)]
    sizes = [int(taps[i] * dilations[i] + rng.integers(0, 9)) for i in range(rank)]
    images, channels = int(rng.integers(1, 3)), int(rng.integers(1, 20))
    shape = (images, *sizes, channels) if last else (images, channels, *sizes)
    node = helper.make_node(
        "NhwcMaxPool" if last else "MaxPool", ["x"], ["y"], domain="com.microsoft" if last else "",
        kernel_shape=taps.tolist(), strides=rng.integers(1, 4, rank).tolist(), pads=pads, dilations=dilations.tolist(),
        ceil_mode=int(rng.integers(0, 2)),
    )  # fmt: skip
    info = np.iinfo(dtype)
    return node, rng.integers(info.min, info.max + 1, shape).astype(dtype)


def check(work, given, y):
    np.testing.assert_array_equal(work.apply(*given), y)
    np.testing.assert_array_equal(played(work, given, y), y)


@pytest.mark.parametrize("seed", range(3))
def test_random_maxima_of_windows(seed):
    rng, taken = np.random.default_rng(seed), 0
    for _ in range(30):
        node, x = random_pool(rng)
        (y,) = session(model([node], [("x", x)])).run(None, {"x": x})
        work = None
        with contextlib.suppress(ValueError):  # windows outside of the image
            work = max_pool(node, [x], y)
        if work is not None:
            taken += 1
            check(work, [x], y)
    assert taken > 20


CONCAT = [np.float32(0.02), np.uint8(3), np.float32(0.05), np.uint8(9), np.float32(0.02), np.uint8(3)]
ROLES = ["s", "z", "sa", "za", "sb", "zb"]
QUANTIZED = helper.make_node(
    "QLinearConcat", ["s", "z", "a", "sa", "za", "b", "sb", "zb"], ["y"], domain="com.microsoft", axis=-1
)
SHUFFLE = [
    helper.make_node("Reshape", ["q", "grouped"], ["r"]),
    helper.make_node("Transpose", ["r"], ["t"], perm=[0, 1, 2, 4, 3]),
    helper.make_node("Reshape", ["t", "whole"], ["y"]),
]
QUANTIZED_FIRST = helper.make_node(
    "QLinearConcat", ["s", "z", "a", "sa", "za", "b", "sb", "zb"], ["q"], domain="com.microsoft", axis=3
)
SHAPES = {"grouped": np.array([1, 4, 5, 2, 6]), "whole": np.array([1, 4, 5, 12])}
SLICED = {"from": np.array([1, 2]), "to": np.array([4, 9]), "axes": np.array([1, 3]), "steps": np.array([2, 3])}
TWICE = {"scales": np.array([1, 2, 2, 1], np.float32)}
NEAREST = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
FOUR_TIMES = helper.make_node("Resize", ["a", "", "scales"], ["y"], **NEAREST)
MOVED = {
    "a concatenation of the same scale and of another": ([QUANTIZED], [(1, 4, 5, 7), (1, 4, 5, 9)], {}),
    "a shuffle of channels": ([QUANTIZED_FIRST, *SHUFFLE], [(1, 4, 5, 6), (1, 4, 5, 6)], SHAPES),
    "a slice with steps": ([helper.make_node("Slice", ["a", *SLICED], ["y"])], [(1, 4, 5, 9)], SLICED),
    "each pixel four times": ([FOUR_TIMES], [(1, 3, 5, 9)], TWICE),
    "channels first": ([helper.make_node("Transpose", ["a"], ["y"], perm=[0, 3, 1, 2])], [(2, 3, 5, 9)], {}),
    "pixels of channels": (
        [helper.make_node("DepthToSpace", ["a"], ["y"], blocksize=2, mode="CRD")], [(1, 8, 3, 5)], {},
    ),
}  # fmt: skip


def moved(name):
    """The work of a case, with operands and the right result."""
    nodes, shapes, constants = MOVED[name]
    rng = np.random.default_rng(1)
    inputs = [("ab"[i], rng.integers(0, 256, shape).astype(np.uint8)) for i, shape in enumerate(shapes)]
    whole = model(nodes, inputs, constants | dict(zip(ROLES, CONCAT, strict=True)))
    (y,) = session(whole).run(None, dict(inputs))
    step = VectorStep(name="moved", nodes=tuple(nodes), inputs=tuple(name for name, _ in inputs))
    given = [x for _, x in inputs]
    return move(Lowered(whole), step, given, y), given, y


@pytest.mark.parametrize("name", MOVED)
def test_moves(name):
    work, given, y = moved(name)
    check(work, given, y)
    assert len(work.commands) <= max(2 * y.shape[1], 60)


def test_a_concatenation_is_a_command_for_each_part():
    work, _, _ = moved("a concatenation of the same scale and of another")
    assert [(each.rows, each.row_bytes) for each in work.commands] == [(20, 7), (20, 9)]


def test_an_interpolation_is_no_move():
    nodes = [helper.make_node("Resize", ["a", "", "scales"], ["y"], mode="linear")]
    x = np.random.default_rng(1).integers(0, 256, (1, 3, 5, 9)).astype(np.uint8)
    whole = model(nodes, [("a", x)], TWICE)
    (y,) = session(whole).run(None, {"a": x})
    step = VectorStep(name="moved", nodes=tuple(nodes), inputs=("a",))
    with pytest.raises(ValueError, match="its elements are not elements of its inputs"):
        move(Lowered(whole), step, [x], y)


def test_bytes_in_too_many_pieces_are_refused():
    command = moved("channels first")[0].commands[0]
    work = moved("channels first")[0]
    with pytest.raises(ValueError, match="its bytes lie in pieces that take 2049 commands, and must take 2048"):
        VectorWork(
            operations=work.operations, commands=(command,) * (MOST_COMMANDS + 1), apply=work.apply,
            operand=work.operand, output=work.output,
        )  # fmt: skip


PLACES = helper.make_node("MaxPool", ["x"], ["y", "places"], kernel_shape=[2, 2])
SAME = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], auto_pad="SAME_UPPER")
CUBE = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2, 2])


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (PLACES, "the places of its maxima are an output, too"),
        (SAME, "its padding must be given in numbers"),
        (CUBE, "its windows must have 1 or 2 axes, not 3"),
    ],
)
def test_windows_that_are_not_taken(node, message):
    rank = len(node.attribute[0].ints) if node is CUBE else 2
    x = np.zeros((1, 2, *[4] * rank), np.uint8)
    with pytest.raises(ValueError, match=message):
        max_pool(node, [x], x)


NORMALIZED = [
    helper.make_node("DequantizeLinear", ["a", "sa", "za"], ["f"]),
    helper.make_node("BatchNormalization", ["f", "gain", "shift", "mean", "variance"], ["n"]),
    helper.make_node("QuantizeLinear", ["n", "sb", "zb"], ["y"]),
]
SCALED = [helper.make_node("QLinearMul", ["a", "sa", "za", "c", "s", "z", "sb", "zb"], ["y"], domain="com.microsoft")]


@pytest.mark.parametrize(
    ("nodes", "shape", "of"),
    [
        (NORMALIZED, (2, 7, 3, 5), None), (NORMALIZED, (3, 7), None),
        (SCALED, (2, 7, 3, 5), (7, 1, 1)), (SCALED, (4, 7), (7,)), (SCALED, (1, 5, 7), (1, 5, 1)),
    ],
)  # fmt: skip
def test_a_table_for_each_channel(nodes, shape, of):
    rng = np.random.default_rng(1)
    statistics = [rng.uniform(0.3, 2, 7).astype(np.float32) for _ in range(4)]
    constants = dict(zip(ROLES, CONCAT, strict=True)) | dict(
        zip(("gain", "shift", "mean", "variance"), statistics, strict=True)
    )
    constants["c"] = rng.integers(0, 256, of or (1,)).astype(np.uint8)
    x = rng.integers(0, 256, shape).astype(np.uint8)
    whole = model(nodes, [("a", x)], constants)
    lowered = Lowered(whole)
    (y,) = session(whole).run(None, {"a": x})
    step = channel_step(lowered.graph, nodes[-1])
    assert step is not None
    assert step.inputs == ("a",)
    assert is_of_channels(lowered, step)
    work = channel_work(lowered, step, {"a": x, "y": y})
    check(work, [x], y)
    assert len({operation.tables.a for operation in work.operations}) == (7 if of is None or 7 in of else 5)


def test_a_constant_that_changes_along_two_axes_is_refused():
    x = np.zeros((2, 3, 5), np.uint8)
    whole = model(SCALED, [("a", x)], dict(zip(ROLES, CONCAT, strict=True)) | {"c": np.ones((3, 5), np.uint8)})
    lowered = Lowered(whole)
    step = channel_step(lowered.graph, SCALED[-1])
    with pytest.raises(ValueError, match=r"its constant must change along one axis, and has the shape \[3, 5\]"):
        channel_work(lowered, step, {"a": x, "y": x})
