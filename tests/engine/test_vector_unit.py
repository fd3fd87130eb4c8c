"""The vector unit: tables and sums from memory to memory, right at any place, under stalls; errors are reported."""

from __future__ import annotations

import dataclasses
import functools
import random

import numpy as np
import pytest

from systoliq.golden.formats import INT8, UINT8
from systoliq.golden.network.sum_tables import SumTables
from systoliq.hw.dma.commands import dma_register
from systoliq.hw.dma.list_player import Opcode
from systoliq.hw.dma.registers import BASE, VECTOR_REGISTERS
from systoliq.hw.dma.vector_commands import VectorOperation, VectorPlacement, vector_commands
from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine.dma_engine import MemoryImage, SimulatedDmaEngine
from systoliq.sim.process import SimulationError

CONFIG = EngineConfig(rows=2, cols=2, lanes=2, a_words=16, b_words=16, max_columns=4, max_rows=4, vector=True)
BUSES = [4, 8, 16]
STALLS = [(0, 0, 0, 0), (0.3, 0.3, 0.3, 0.3), (0, 0.8, 0, 0.5), (0.8, 0, 0.3, 0)]


@functools.cache
def engine(bus_bytes):
    return SimulatedDmaEngine(CONFIG, bus_bytes=bus_bytes)


def random_operation(rng):
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
    """Y by exact fractions, of bytes."""
    tables = operation.tables
    codes = [x.view(operation.operand.dtype).astype(int) - operation.operand.min for x in (a, b)]
    entries = [np.array(tables.a)[codes[0]], np.array(tables.b)[codes[1]] * operation.pair]
    total = np.maximum(*entries) if operation.largest else sum(entries)
    rounded = np.rint(total / (1 << tables.shift))  # exact: far fewer than 53 bits
    return np.clip(rounded, tables.output.min, tables.output.max).astype(tables.output.dtype).view(np.uint8)


def operations_of(image, rng, count, bus_bytes, *, ragged=True):
    """[(operation, placement, y)], some with the tables of the one before; at odd places, or each in its own beats."""
    align = 1 if ragged else bus_bytes
    found = []
    for _ in range(count):
        operation = found[-1][0] if found and rng.random() < 0.3 else random_operation(rng)
        rows = int(rng.choice([1, 1, 2, rng.integers(1, 12)]))
        size = int(rng.choice([1, bus_bytes, rng.integers(1, 70), rng.integers(1, 400)]))
        a, b = (rng.integers(0, 256, (rows, size)).astype(np.uint8) for _ in range(2))
        odd = [int(value) * ragged for value in rng.integers(0, 40, 6)]
        (at_a, a_stride), (at_b, b_stride), (at_y, y_stride) = (
            image.matrix(x, gap=odd[i], offset=odd[i + 3], align=align) for i, x in enumerate((a, b, np.zeros_like(a)))
        )
        tables = [image.put(table, align, odd[0]) for table in operation.memory]
        place = VectorPlacement(
            rows=rows, row_bytes=size, a=at_a, a_stride=a_stride, y=at_y, y_stride=y_stride, a_table=tables[0],
            **({"b": at_b, "b_stride": b_stride, "b_table": tables[1]} if operation.pair else {}),
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


@pytest.mark.sampled(99)
@pytest.mark.parametrize("bus_bytes", BUSES)
def test_operations_at_any_place(bus_bytes):
    found, given = engine(bus_bytes), []
    for seed, stalls in enumerate(STALLS):
        image, rng = MemoryImage(seed), np.random.default_rng(seed + bus_bytes)
        operations = operations_of(image, rng, 5, bus_bytes)
        given.append((operations, prepared(found, image, operations, stalls=stalls, seed=seed)))
    for (operations, work), outcome in zip(given, found.simulate([work for _, work in given]), strict=True):
        found.check(outcome, 0)
        assert outcome.memory == memory_after(work, operations)
        assert outcome.recovered


def test_errors_of_memory_are_reported_and_the_next_list_is_right():
    found, rng, given = engine(8), random.Random(5), []
    for which in ("a", "b", "y", "list", "a_table", "b_table", "beyond", None):
        image, numbers = MemoryImage(len(given)), np.random.default_rng(len(given))
        operations = operations_of(image, numbers, 3, 8, ragged=False)
        while not all(operation.pair for operation, *_ in operations):
            operations = operations_of(image, numbers, 3, 8, ragged=False)
        if which == "beyond":
            operation, place, y = operations[-1]
            operations[-1] = (operation, dataclasses.replace(place, y=0xFFFF_FF00), y)
        work = prepared(found, image, operations, seed=len(given), limit=50_000)
        place = operations[0 if "table" in str(which) else rng.randrange(3)][1]  # later ones may use what is there
        if which not in (None, "beyond"):
            at = work.address + 40 if which == "list" else getattr(place, which)
            work = dataclasses.replace(work, broken=[(at, at + 1)])
        given.append((which, operations, work))
    for (which, operations, work), outcome in zip(given, found.simulate([each[-1] for each in given]), strict=True):
        assert outcome.recovered
        assert not outcome.timed_out
        if which is None:
            found.check(outcome, 0)
            assert outcome.memory == memory_after(work, operations)
            continue
        port = {"beyond": "y"}.get(which, which[0] if which != "list" else which)
        with pytest.raises(SimulationError, match=f"memory answered with an error on .*{port}"):
            found.check(outcome, 0)
        wanted, before = memory_after(work, operations[:-1] if which == "beyond" else operations), work.memory
        assert all(now in (old, new) for now, old, new in zip(outcome.memory, before, wanted, strict=True))


def wrong_lists(words):
    """Lists with a fault behind the first command: by name the words, the error, and the word that ends the list."""
    (register,) = VECTOR_REGISTERS
    start = Opcode.WRITE << 30 | (BASE + register.offset)
    rows = Opcode.WRITE << 30 | (BASE + dma_register("A_ROWS").offset)
    first = words.index(start) + 2
    second = words.index(start, first)
    count = words.index(rows, first)
    return {
        "a command before the one before has ended": ([*words[:first], start, words[first - 1]], "REFUSED", first + 2),
        "no rows": ([*words[: count + 1], 0, *words[count + 2 :]], "REFUSED", count + 2),
        "no register behind the last": ([*words[:count], start + 4, 0, *words[count:]], "REFUSED", count + 2),
        "cut off before the command's word": (words[: second + 1], "CUT_OFF", second + 1),
        "no command": ([*words[:second], 0, *words[second:]], "COMMAND", second + 1),
    }


def test_what_is_wrong_with_a_list_has_a_name_and_the_next_list_is_right():
    found, image = engine(4), MemoryImage(3)
    operations = operations_of(image, np.random.default_rng(3), 2, 4, ragged=False)
    work = prepared(found, image, operations, limit=50_000)
    given = wrong_lists(np.frombuffer(work.memory[work.address :][: work.length], "<u4").tolist())
    wrong = []
    for words, _, _ in given.values():
        data = np.asarray(words, "<u4").tobytes()
        memory = bytearray(work.memory) + bytes(64)
        memory[work.address : work.address + len(data)] = data
        before = [work.before[0], (work.before[1][0], len(data) - 1), *work.before[2:]]
        wrong.append(dataclasses.replace(work, memory=bytes(memory), before=before, length=len(data)))
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


@pytest.mark.slow
@pytest.mark.parametrize("bus_bytes", BUSES)
def test_many_lists(bus_bytes):
    """With random stalls, and an error of memory in about every tenth: right or reported, never hung."""
    found, rng, given = engine(bus_bytes), random.Random(bus_bytes), []
    for index in range(334):  # of three buses: 1,002 lists
        image, numbers = MemoryImage(index), np.random.default_rng(1000 * bus_bytes + index)
        operations = operations_of(image, numbers, rng.randrange(1, 6), bus_bytes, ragged=index % 2 == 0)
        stalls = [rng.choice([0, 0, 0.3, 0.7]) for _ in range(4)]
        work = prepared(found, image, operations, stalls=stalls, seed=index, limit=100_000)
        broken = rng.random() < 0.1
        if broken:
            at = getattr(operations[0][1], rng.choice(["a", "y", "a_table"]))  # the first, whose tables are read
            work = dataclasses.replace(work, broken=[(at, at + 1)])
        given.append((operations, work, broken))
    for (operations, work, broken), outcome in zip(given, found.simulate([each[1] for each in given]), strict=True):
        assert outcome.recovered
        assert not outcome.timed_out
        wanted = memory_after(work, operations)
        if broken:
            with pytest.raises(SimulationError, match="memory answered with an error"):
                found.check(outcome, 0)
            assert all(now in (old, new) for now, old, new in zip(outcome.memory, work.memory, wanted, strict=True))
        else:
            found.check(outcome, 0)
            assert outcome.memory == wanted
