"""Random lists of the vector unit, with Y by exact fractions."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from systoliq.golden.formats import INT8, UINT8
from systoliq.golden.network import LayerNormalization, Multiplication, Tensor
from systoliq.golden.network.sum_tables import SumTables
from systoliq.hw.dma.list_player import Opcode
from systoliq.hw.dma.registers import BASE, dma_registers
from systoliq.hw.dma.row_operations import NormalizationOperation, RowOperation, SoftmaxOperation
from systoliq.hw.dma.vector_commands import ProductOperation, VectorOperation, VectorPlacement, vector_commands
from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.process import SimulationError

CONFIG = EngineConfig(
    rows=2, cols=2, lanes=2, a_words=16, b_words=16, max_columns=4, max_rows=4, vector=True, row_length=64
)
BUSES = [4, 8, 16]
BEHIND = Opcode.WRITE << 30 | (BASE + dma_registers(vector=True, rows=True)[-1].offset + 4)
"""The first word of a write to an address behind the last register."""


@functools.cache
def engine(bus_bytes):
    return SimulatedDmaEngine(CONFIG, bus_bytes=bus_bytes)


def random_softmax(rng):
    """Rows of any length that the engine takes, of any scales."""
    form, levels = [INT8, UINT8][rng.integers(2)], float(rng.choice([256, 255.9, 1, 100, rng.uniform(0.4, 60000)]))
    zero_point = int(rng.choice([form.min, form.max, rng.integers(form.min, form.max + 1)]))
    scale = np.float32(10.0 ** rng.uniform(-3, 1))
    length = int(rng.choice([1, CONFIG.row_length, rng.integers(2, CONFIG.row_length)]))
    return SoftmaxOperation.of(length, form, scale, np.float32(1 / levels), zero_point)


def random_operation(rng):
    """Elements, or rows."""
    return random_rows(rng) if rng.random() < 0.3 else random_elements(rng)


def random_elements(rng):
    """Tables, or products."""
    return random_product(rng) if rng.random() < 0.3 else random_tables(rng)


def random_product(rng):
    """A product at any zero points and scales, as far as the unit takes them."""
    form = rng.choice([INT8, UINT8])
    zero_points = (int(rng.choice([form.min, form.max, rng.integers(form.min, form.max + 1)])) for _ in range(3))
    scales = 10.0 ** rng.uniform([-3, -3, -4], [1, 0, 1])
    a, b, y = (
        Tensor(name=name, shape=(1,), format=form, scale=np.float32(scale), zero_point=zero_point)
        for name, scale, zero_point in zip("aby", scales, zero_points, strict=True)
    )
    return ProductOperation(node=Multiplication(name="product", inputs=(a, b), output=y))


def random_rows(rng):
    """An operation on rows."""
    return random_softmax(rng) if rng.random() < 0.5 else random_normalization(rng)


def random_normalization(rng):
    """Rows of any length that the engine takes, of any scales, gains and shifts."""
    x_form, y_form = (UINT8 if rng.random() < 0.5 else INT8 for _ in range(2))
    length = int(rng.choice([2, 3, CONFIG.row_length, rng.integers(2, CONFIG.row_length)]))
    x, y = (
        Tensor(
            name=name, shape=(1, length), format=form, scale=np.float32(10.0 ** rng.uniform(-4, 1)),
            zero_point=int(rng.choice([form.min, form.max, rng.integers(form.min, form.max + 1)])),
        )
        for name, form in (("x", x_form), ("y", y_form))
    )  # fmt: skip
    gain, shift = (rng.normal(middle, size, length).astype(np.float32) for middle, size in ((1, 0.5), (0, 0.3)))
    most = max(np.abs(gain).max(), np.abs(shift).max()) / float(y.scale)
    if most > 8000:
        y = y.replace(scale=np.float32(y.scale * most / 8000))
    node = LayerNormalization(
        name="n", inputs=(x,), output=y, epsilon=np.float32(10.0 ** rng.uniform(-12, -2)), gain=gain, shift=shift
    )
    return NormalizationOperation(node=node)


def random_tables(rng):
    """Tables over the whole range of entries, with any shift."""
    operand, output = (rng.choice([INT8, UINT8]) for _ in range(2))
    if rng.random() < 0.4:
        return VectorOperation.lookup(rng.integers(output.min, output.max + 1, 256), operand, output)
    shift = int(rng.integers(0, 16))
    most = min(1 << 17, 256 << shift)
    tables = [tuple(rng.integers(-most, most, 256).tolist()) for _ in range(2)]
    largest = bool(rng.random() < 0.4)
    shift = 0 if largest else shift
    return VectorOperation(
        largest=largest,
        tables=SumTables(a=tables[0], b=tables[1], shift=shift, output=output),
        operand=operand,
        pair=True,
    )


def expected(operation, a, b):
    """Y by exact fractions, of bytes; of products and rows by golden."""
    if isinstance(operation, RowOperation):
        form = operation.node.inputs[0].format
        return operation.apply(a.view(form.dtype)).view(np.uint8)
    if isinstance(operation, ProductOperation):
        return operation.apply(*(x.view(operation.operand.dtype) for x in (a, b))).view(np.uint8)
    tables = operation.tables
    codes = [x.view(operation.operand.dtype).astype(int) - operation.operand.min for x in (a, b)]
    entries = [np.array(tables.a)[codes[0]], np.array(tables.b)[codes[1]] * operation.pair]
    total = np.maximum(*entries) if operation.largest else sum(entries)
    rounded = np.rint(total / (1 << tables.shift))  # exact: far fewer than 53 bits
    return np.clip(rounded, tables.output.min, tables.output.max).astype(tables.output.dtype).view(np.uint8)


def operations_of(image, rng, count, bus_bytes, *, ragged=True, draw=random_operation):
    """[(operation, placement, y)], some with the tables of the one before; at odd places, or each in its own beats."""
    align = 1 if ragged else bus_bytes
    found = []
    for _ in range(count):
        operation = found[-1][0] if found and rng.random() < 0.3 else draw(rng)
        rows = int(rng.choice([1, 1, 2, rng.integers(1, 12)]))
        rowwise = isinstance(operation, RowOperation)
        size = int(rng.choice([1, bus_bytes, rng.integers(1, 70), rng.integers(1, 400)]))
        size = operation.length if rowwise else size
        a, b = (rng.integers(0, 256, (rows, size)).astype(np.uint8) for _ in range(2))
        if rowwise and rng.random() < 0.5:
            a[rng.random(a.shape) < 0.5] = rng.integers(0, 256)  # many of the greatest or the least
        odd = [int(value) * ragged for value in rng.integers(0, 40, 6)]
        (at_a, a_stride), (at_b, b_stride), (at_y, y_stride) = (
            image.matrix(x, gap=odd[i], offset=odd[i + 3], align=align) for i, x in enumerate((a, b, np.zeros_like(a)))
        )
        tables = [image.put(table, align, odd[0]) for table in operation.memory]
        place = VectorPlacement(
            rows=rows, row_bytes=size, a=at_a, a_stride=a_stride, y=at_y, y_stride=y_stride, a_table=tables[0],
            **({"b": at_b, "b_stride": b_stride, "b_table": tables[1]} if len(tables) > 1 else {}),
        )  # fmt: skip
        if rng.random() < 0.2:  # in place, as the maxima of windows are
            place = dataclasses.replace(place, y=place.a, y_stride=place.a_stride)
        found.append((operation, place, expected(operation, a, b)))
    return found


def prepared(found, image, operations, **options):
    commands = vector_commands([(operation, place) for operation, place, _ in operations]).data
    address = image.put(commands, 16)
    image.reserve(0, 64)
    return found.work(bytes(image.data), address, len(commands), **options)


def memory_after(work, operations):
    """All of memory: nothing but Y is written."""
    memory = bytearray(work.memory)
    for _, place, y in operations:
        for row in range(place.rows):
            at = place.y + row * place.y_stride
            memory[at : at + place.row_bytes] = y[row].tobytes()
    return bytes(memory)


def beyond_memory(operations):
    """The same operations, the last of which gives Y where no memory is."""
    *others, (operation, place, y) = operations
    return [*others, (operation, dataclasses.replace(place, y=0xFFFF_FF00), y)]


def check_errors(found, given, port_of):
    """Play lists (what is broken, its operations, its work): an error names `port_of(what, operations)`, and no memory
    is changed to what was not wanted; if nothing is broken, all is right.
    """
    for (which, operations, work), outcome in zip(given, found.simulate([each[-1] for each in given]), strict=True):
        assert outcome.recovered
        assert not outcome.timed_out
        if which is None:
            found.check(outcome, 0)
            assert outcome.memory == memory_after(work, operations)
            continue
        with pytest.raises(SimulationError, match=f"memory answered with an error on .*{port_of(which, operations)}"):
            found.check(outcome, 0)
        wanted, before = memory_after(work, operations[:-1] if which == "beyond" else operations), work.memory
        assert all(now in (old, new) for now, old, new in zip(outcome.memory, before, wanted, strict=True)), which


def check_wrong_lists(found, work, operations, given):
    """Play lists that are wrong (by name the words, the error, and the word that ends it), and then the list of `work`,
    which is right. No memory is changed to what was not wanted. Returns the outcomes of the wrong ones.
    """
    wrong = [with_list(work, words) for words, _, _ in given.values()]
    *outcomes, last = found.simulate([*wrong, work])
    wanted = memory_after(work, operations) + bytes(64)
    for (name, (_, error, at)), each, outcome in zip(given.items(), wrong, outcomes, strict=True):
        with pytest.raises(SimulationError, match=f"the list was given up at word {at}: {error}"):
            found.check(outcome, 0)
        assert outcome.recovered, name
        changed = [
            place
            for place, (now, old, new) in enumerate(zip(outcome.memory, each.memory, wanted, strict=True))
            if now != old and (now != new or work.address <= place < work.address + work.length)
        ]
        assert not changed, name
    found.check(last, 0)
    assert last.memory == memory_after(work, operations)
    return outcomes


def with_list(work, words):
    """The same work with these words as its list, and room for them."""
    data = np.asarray(words, "<u4").tobytes()
    memory = bytearray(work.memory) + bytes(64)
    memory[work.address : work.address + len(data)] = data
    before = [work.before[0], (work.before[1][0], len(data) - 1), *work.before[2:]]
    return dataclasses.replace(work, memory=bytes(memory), before=before, length=len(data))


def words_of(work):
    """The words of the list."""
    return np.frombuffer(work.memory[work.address :][: work.length], "<u4").tolist()
