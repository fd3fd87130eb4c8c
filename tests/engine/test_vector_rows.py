"""Rows in the vector unit: softmax from memory equals onnxruntime's; what is wrong is reported, and changes nothing."""

from __future__ import annotations

import dataclasses

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from vector_lists import (
    BEHIND,
    CONFIG,
    beyond_memory,
    check_errors,
    check_wrong_lists,
    engine,
    memory_after,
    operations_of,
    prepared,
    random_normalization,
    random_rows,
    random_softmax,
    with_list,
    words_of,
)

from systoliq.golden.formats import INT8, UINT8
from systoliq.hw.dma.commands import CommandList, dma_register
from systoliq.hw.dma.list_player import Opcode
from systoliq.hw.dma.registers import BASE, NORMALIZATION_REGISTERS, SOFTMAX_REGISTER
from systoliq.hw.dma.row_operations import SoftmaxOperation
from systoliq.hw.dma.vector_commands import VectorPlacement
from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine.dma_engine import MemoryImage


def by_onnxruntime(x, x_scale, y_scale, zero_point):
    """com.microsoft.QLinearSoftmax over the last dimension."""
    kind = TensorProto.INT8 if x.dtype == np.int8 else TensorProto.UINT8
    constants = [
        helper.make_tensor("xs", TensorProto.FLOAT, [], [x_scale]), helper.make_tensor("xz", kind, [], [0]),
        helper.make_tensor("ys", TensorProto.FLOAT, [], [y_scale]), helper.make_tensor("yz", kind, [], [zero_point]),
    ]  # fmt: skip
    node = helper.make_node(
        "QLinearSoftmax", ["x", "xs", "xz", "ys", "yz"], ["y"], domain="com.microsoft", axis=-1, opset=13
    )
    values = [helper.make_tensor_value_info(name, kind, x.shape) for name in "xy"]
    graph = helper.make_graph([node], "softmax", values[:1], values[1:], constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]


def test_softmax_is_onnxruntimes():
    """Of rows in memory, for both formats and several scales."""
    found, given = engine(4), []
    for seed, (form, x_scale, levels) in enumerate([(INT8, 0.1, 256), (UINT8, 0.03, 256), (INT8, 0.5, 3000.7)]):
        rng, image = np.random.default_rng(seed), MemoryImage(seed)
        x = rng.integers(form.min, form.max + 1, (9, 51)).astype(form.dtype)
        operation = SoftmaxOperation.of(51, form, np.float32(x_scale), np.float32(1 / levels), form.min)
        (a, a_stride), (y, y_stride) = image.matrix(x, gap=seed), image.matrix(np.zeros_like(x), gap=5)
        table = image.put(operation.memory[0], 8)
        place = VectorPlacement(
            rows=9, row_bytes=51, a=a, a_stride=a_stride, y=y, y_stride=y_stride, a_table=table
        )  # fmt: skip
        expected = by_onnxruntime(x, np.float32(x_scale), np.float32(1 / levels), form.min)
        operations = [(operation, place, expected.view(np.uint8))]
        given.append((operations, prepared(found, image, operations)))
    for (operations, work), outcome in zip(given, found.simulate([work for _, work in given]), strict=True):
        found.check(outcome, 0)
        assert outcome.memory == memory_after(work, operations)


def test_errors_of_memory_are_reported_and_the_next_list_is_right():
    found, given = engine(4), []
    for seed, which in enumerate(("a", "y", "list", "a_table", "beyond", None, "a", "a_table", "y")):
        image, numbers = MemoryImage(seed), np.random.default_rng(seed)
        operations = operations_of(image, numbers, 3, 4, ragged=False, draw=random_rows)
        if which == "beyond":
            operations = beyond_memory(operations)
        work = prepared(found, image, operations, seed=seed)
        if which not in (None, "beyond"):
            at = work.address + 40 if which == "list" else getattr(operations[0][1], which)
            work = dataclasses.replace(work, broken=[(at, at + 1)])
        given.append((which, operations, work))

    def port(which, operations):
        in_place = operations[0][1].y == operations[0][1].a
        return {"beyond": "y", "a_table": "b", "y": "a" if in_place else "y"}.get(which, which)

    check_errors(found, given, port)


def wrong_lists(words, registers, too_long):
    """Lists with a fault behind the first command, which writes to `registers`: by name the words, the error, and the
    word that ends the list. Where rows are too long, this is the last one of command number `too_long`.
    """
    command = CommandList()
    command.write(BASE + registers[0].offset, [0] * len(registers))
    start, size = command.words[0], len(command.words)
    extent = Opcode.WRITE << 30 | (BASE + dma_register("A_LAST_EXTENT").offset)
    first = words.index(start) + size
    at, second = words.index(extent) + 1, words.index(start, first)
    long = [*words[:at], CONFIG.row_length, *words[at + 1 :]]
    again = [*words[:first], *words[first - size : first]]
    return {
        "rows too long": (long, "REFUSED", (first, second + size)[too_long]),
        "a command before the one before has ended": (again, "REFUSED", first + size),
        "no register behind the last": ([*words[:first], BEHIND, 0, *words[first:]], "REFUSED", first + 2),
        "cut off before the command's word": (words[: second + 1], "CUT_OFF", second + 1),
    }


def test_what_is_wrong_with_a_list_of_softmax_has_a_name_and_the_next_list_is_right():
    found, image = engine(4), MemoryImage(3)
    operations = operations_of(image, np.random.default_rng(3), 2, 4, ragged=False, draw=random_softmax)
    work = prepared(found, image, operations)
    given = wrong_lists(words_of(work), [SOFTMAX_REGISTER], 1)  # the first command reads the table
    for (words, _, _), outcome in zip(given.values(), check_wrong_lists(found, work, operations, given), strict=True):
        assert outcome.memory == with_list(work, words).memory  # no row has begun


def test_what_is_wrong_with_a_list_of_normalization_has_a_name_and_the_next_list_is_right():
    found, image = engine(4), MemoryImage(3)
    operations = operations_of(image, np.random.default_rng(3), 2, 4, ragged=False, draw=random_normalization)
    work = prepared(found, image, operations)
    check_wrong_lists(found, work, operations, wrong_lists(words_of(work), NORMALIZATION_REGISTERS, 0))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"row_length": 24}, "row_length must be 0 or a power of two from 16 to 4096, not 24"),
        ({"row_length": 64, "vector": False}, "vector must be True for a row_length of 64: rows are the vector unit's"),
    ],
)
def test_a_length_that_cannot_be_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        EngineConfig(**{"vector": True, **fields})


def test_a_row_of_another_length_is_refused():
    operation = SoftmaxOperation.of(5, INT8, np.float32(0.1), np.float32(1 / 256), -128)
    place = VectorPlacement(rows=1, row_bytes=6, a=0, a_stride=0, y=0, y_stride=0, a_table=0)
    with pytest.raises(ValueError, match="row_bytes must be the 5 elements of a row, not 6"):
        prepared(engine(4), MemoryImage(0), [(operation, place, None)])
