"""The vector unit: tables and sums from memory to memory, right at any place, under stalls; errors are reported."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from vector_lists import (
    BEHIND,
    BUSES,
    beyond_memory,
    check_errors,
    check_wrong_lists,
    engine,
    memory_after,
    operations_of,
    prepared,
    random_product,
    random_tables,
    words_of,
)

from systoliq.hw.dma.commands import dma_register
from systoliq.hw.dma.list_player import Opcode
from systoliq.hw.dma.registers import BASE, VECTOR_REGISTERS
from systoliq.sim.engine.dma_engine import MemoryImage
from systoliq.sim.process import SimulationError

STALLS = [(0, 0, 0, 0), (0.3, 0.3, 0.3, 0.3), (0, 0.8, 0, 0.5), (0.8, 0, 0.3, 0)]


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
    found, rng, given = engine(4), random.Random(5), []
    for which in ("a", "b", "y", "list", "a_table", "b_table", "beyond", None):
        image, numbers = MemoryImage(len(given)), np.random.default_rng(len(given))
        operations = operations_of(image, numbers, 3, 4, ragged=False, draw=random_tables)
        while not all(operation.pair and place.y != place.a for operation, place, _ in operations):  # y is not a
            operations = operations_of(image, numbers, 3, 4, ragged=False, draw=random_tables)
        if which == "beyond":
            operations = beyond_memory(operations)
        work = prepared(found, image, operations, seed=len(given), limit=50_000)
        place = operations[0 if "table" in str(which) else rng.randrange(3)][1]  # later ones may use what is there
        if which not in (None, "beyond"):
            at = work.address + 40 if which == "list" else getattr(place, which)
            work = dataclasses.replace(work, broken=[(at, at + 1)])
        given.append((which, operations, work))

    def port(which, _):
        return {"beyond": "y"}.get(which, which[0] if which != "list" else which)

    check_errors(found, given, port)


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
        "no register behind the last": ([*words[:count], BEHIND, 0, *words[count:]], "REFUSED", count + 2),
        "cut off before the command's word": (words[: second + 1], "CUT_OFF", second + 1),
        "no command": ([*words[:second], 0, *words[second:]], "COMMAND", second + 1),
    }


@pytest.mark.parametrize("draw", [random_tables, random_product])
def test_what_is_wrong_with_a_list_has_a_name_and_the_next_list_is_right(draw):
    found, image = engine(4), MemoryImage(3)
    operations = operations_of(image, np.random.default_rng(3), 2, 4, ragged=False, draw=draw)
    work = prepared(found, image, operations, limit=50_000)
    check_wrong_lists(found, work, operations, wrong_lists(words_of(work)))


@pytest.mark.slow
@pytest.mark.parametrize("bus_bytes", BUSES)
def test_many_lists(bus_bytes):
    """With random stalls, and an error of memory in about every tenth: right or reported, never hung."""
    found, rng, given = engine(bus_bytes), random.Random(bus_bytes), []
    for index in range(334):  # of three buses: 1,002 lists
        image, numbers = MemoryImage(index), np.random.default_rng(1000 * bus_bytes + index)
        operations = operations_of(image, numbers, rng.randrange(1, 6), bus_bytes, ragged=index % 2 == 0)
        stalls = [rng.choice([0, 0, 0.3, 0.7]) for _ in range(4)]
        work = prepared(found, image, operations, stalls=stalls, seed=index, limit=500_000)
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
