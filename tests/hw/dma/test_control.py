"""The control of the masters: each register by its description, queues of walks, done, and the interrupt."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Value

from systoliq.hw.dma.control import Control
from systoliq.hw.dma.map_walk import COUNTS
from systoliq.hw.dma.registers import (
    DMA_REGISTERS,
    MAP_REGISTERS,
    OPERANDS,
    VECTOR_REGISTERS,
    WALK_REGISTERS,
    WALK_WORDS,
)

from ..bench import simulate, wait
from .lite import transfer

BITS = 9
OFFSETS = {register.name: register.offset for register in DMA_REGISTERS}
FIELDS = {field.name: field for register in DMA_REGISTERS if register.name == "DMA_STATUS" for field in register.fields}


async def put(ctx, block, name, word):
    assert await transfer(ctx, block, "s", OFFSETS[name], word) == (0, 0)


async def get(ctx, block, name):
    word, response = await transfer(ctx, block, "s", OFFSETS[name])
    assert response == 0
    return word


async def status(ctx, block, name):
    return (await get(ctx, block, "DMA_STATUS") & FIELDS[name].mask) >> FIELDS[name].lsb


def test_registers_keep_what_is_written():
    block, rng = Control(BITS), random.Random(1)
    kept = [register.name for register in DMA_REGISTERS if register.access == "rw"]
    of_walks = (*WALK_REGISTERS, *MAP_REGISTERS)
    written = {name: rng.getrandbits(32) for name in (*kept, *(register.name for register in of_walks))}
    written |= {"LIST_ADDRESS": 0x1234_5678, "LIST_EXTENT": 0x9ABC_DEFF}

    async def testbench(ctx):
        for name, word in written.items():
            await put(ctx, block, name, word)
        for register in DMA_REGISTERS:
            word = written.get(register.name, 0)
            mask = sum(field.mask for field in register.fields) if register.access == "rw" else 0
            assert await get(ctx, block, register.name) == word & mask
        for name in OPERANDS:
            for word, field, bits, _ in WALK_WORDS:
                found = ctx.get(Value.cast(getattr(getattr(block, name), field)))
                assert found == written[f"{name.upper()}_{word}"] % (1 << bits)
        for register in MAP_REGISTERS:
            for field in register.fields:
                found = ctx.get(Value.cast(getattr(block.map, field.name)))
                assert found == (written[register.name] & field.mask) >> field.lsb
        assert ctx.get(block.list_address) == written["LIST_ADDRESS"]
        assert ctx.get(block.list_extent) == written["LIST_EXTENT"] % (1 << 24)

    simulate(block, testbench)


COUNTED = {f"{name}_{word}": (0, 16) for name in "ABY" for word in ("ROWS", "STEPS")}
WRONG = {
    **{name: [0, 0xFFFF_0000] for name in COUNTED},
    "A_OUT_SIZE": [0, 0x0000_0001, 0xFFFF_0000],
    "A_TAPS": [0, 0xFFFF_FF00, 0x0000_00FF],
    "LIST_ADDRESS": [1, 2, 3, 0xFFFF_FFFD],
    "LIST_EXTENT": [0, 1, 2, 0x8000_0000],
}


@pytest.mark.parametrize("name", WRONG)
def test_what_would_never_end_is_refused_and_changes_nothing(name):
    """No count of none, and no list of parts of words; right ones are taken before, between and after."""
    block = Control(BITS)
    right = {"LIST_ADDRESS": 0x7654_3210, "LIST_EXTENT": 0x0012_3457}.get(name, 0x0302_0301)
    register = next(register for register in DMA_REGISTERS if register.name == name)
    settings = {"A": block.a, "B": block.b, "Y": block.y}.get(name[0]) if name in COUNTED else block.map

    def kept(ctx):
        if name in ("LIST_ADDRESS", "LIST_EXTENT"):
            return [ctx.get(getattr(block, name.lower()))]
        return [ctx.get(Value.cast(getattr(settings, field.name))) for field in register.fields]

    async def testbench(ctx):
        if settings is not block.map or name.startswith("A_"):
            least = [field.name in COUNTS for field in register.fields]
            assert [value >= 1 for value in kept(ctx)] == least, "a count is 1 from reset on"
        await put(ctx, block, name, right)
        for word in WRONG[name]:
            before = kept(ctx)
            assert await transfer(ctx, block, "s", OFFSETS[name], word) == (2, 2)
            await wait(ctx, 3)
            assert kept(ctx) == before
            await put(ctx, block, name, right + (1 << 8))
            await wait(ctx, 3)
            assert kept(ctx) != before
            await put(ctx, block, name, right)

    simulate(block, testbench)


@pytest.mark.parametrize("address", [0x1C, max(OFFSETS.values()) + 4, 1 << (BITS - 1)])
@pytest.mark.parametrize("word", [None, 1])
def test_what_is_no_register_is_refused(address, word):
    block = Control(BITS)

    async def testbench(ctx):
        data, response = await transfer(ctx, block, "s", address, word)
        assert response == 2
        assert word is not None or data == 0

    simulate(block, testbench)


def test_a_walk_over_maps_is_one_as_long_as_no_other_is_queued():
    block = Control(BITS)
    (queue,) = (register for register in DMA_REGISTERS if register.name == "QUEUE")

    async def testbench(ctx):
        ctx.set(block.a_walks, 1)
        for flags, over_maps in ((("a", "map"), 1), (("b", "y"), 1), (("a", "b"), 0), (("map",), 0)):
            await put(ctx, block, "QUEUE", sum(queue.field(name).mask for name in flags))
            assert ctx.get(block.maps) == over_maps

    simulate(block, testbench)


@pytest.mark.parametrize("name", OPERANDS)
def test_a_walk_that_is_queued_starts_once_the_one_before_has_ended(name):
    block = Control(BITS)
    starts = []

    async def testbench(ctx):
        ctx.set(getattr(block, f"{name}_walks"), 1)
        await put(ctx, block, "QUEUE", 1 << OPERANDS.index(name))
        assert await status(ctx, block, f"{name}_queued")
        assert not starts
        ctx.set(getattr(block, f"{name}_walks"), 0)
        await wait(ctx, 3)
        assert not await status(ctx, block, f"{name}_queued")
        assert starts == [name]

    async def watch(ctx):
        for _ in range(60):
            *_, a, b, y = await ctx.tick().sample(block.a_start, block.b_start, block.y_start)
            starts.extend(each for each, start in zip(OPERANDS, (a, b, y), strict=True) if start)

    simulate(block, testbench, watch)


@pytest.mark.parametrize("error", [0, 3])
def test_a_list_is_done_where_it_ended_without_an_error(error):
    block = Control(BITS)
    plays = []

    async def testbench(ctx):
        await put(ctx, block, "DMA_INTERRUPT", 3)
        await put(ctx, block, "LIST_CONTROL", 1)
        await wait(ctx, 2)
        assert plays == [1]
        ctx.set(block.playing, 1)
        await wait(ctx, 5)
        assert not ctx.get(block.irq)
        ctx.set(block.list_error, error)
        ctx.set(block.playing, 0)
        await wait(ctx, 3)
        assert ctx.get(block.irq)
        assert await status(ctx, block, "done") == (error == 0)
        assert await status(ctx, block, "list_error") == error
        await put(ctx, block, "LIST_CONTROL", 2)
        assert not await status(ctx, block, "done")
        assert ctx.get(block.irq) == (error != 0)
        assert plays == [1]

    async def watch(ctx):
        for _ in range(80):
            *_, play = await ctx.tick().sample(block.play)
            plays.extend([1] if play else [])

    simulate(block, testbench, watch)


@pytest.mark.parametrize("name", ["a_failed", "b_failed", "y_failed", "list_failed"])
def test_a_failure_interrupts(name):
    block = Control(BITS)

    async def testbench(ctx):
        ctx.set(getattr(block, name), 1)
        await put(ctx, block, "DMA_INTERRUPT", 1)
        assert not ctx.get(block.irq)
        await put(ctx, block, "DMA_INTERRUPT", 2)
        await wait(ctx, 2)
        assert ctx.get(block.irq)
        assert await status(ctx, block, name)

    simulate(block, testbench)


(VECTOR,) = VECTOR_REGISTERS
OCCUPIED = ["y_busy", "a_walks", "b_walks", "vector_busy"]


def test_a_command_of_the_vector_unit_starts_walks_of_one_shape():
    block, seen = Control(BITS, has_vector=True), []

    async def testbench(ctx):
        for name in "ABY":
            for word, value in (("ADDRESS", 1000), ("ROW_STRIDE", 50), ("ROWS", 9), ("STEPS", 7), ("LAST_EXTENT", 3)):
                await put(ctx, block, f"{name}_{word}", value + ord(name))
        for word in (0b11, 0b00, 0b110):
            assert await transfer(ctx, block, "s", VECTOR.offset, word | 5 << 8) == (0, 0)
            await wait(ctx, 3)

    async def watch(ctx):
        for _ in range(400):
            await ctx.tick()
            if ctx.get(block.vector_start):
                walks = {name: getattr(block, name) for name in OPERANDS if ctx.get(getattr(block, f"{name}_start"))}
                shapes = {(ctx.get(x.rows), ctx.get(x.steps), ctx.get(x.last_extent)) for x in walks.values()}
                addresses = [ctx.get(x.address) for x in walks.values()]
                command = {name: ctx.get(getattr(block.vector, name)) for name in ("load", "pair", "unsigned", "shift")}
                seen.append((command, "".join(walks), shapes, addresses))

    simulate(block, testbench, watch)
    table, matrix = {(1, 1, 1023)}, {(9 + ord("A"), 1, 3 + ord("A"))}
    assert seen == [
        ({"load": 1, "pair": 1, "unsigned": 0, "shift": 5}, "ab", table, [1065, 1066]),
        ({"load": 0, "pair": 0, "unsigned": 0, "shift": 5}, "ay", matrix, [1065, 1089]),
        ({"load": 0, "pair": 1, "unsigned": 1, "shift": 5}, "aby", matrix, [1065, 1066, 1089]),
    ]


@pytest.mark.parametrize("name", OCCUPIED)
def test_a_command_of_the_vector_unit_is_refused_while_there_are_walks_and_walks_while_it_runs(name):
    block, starts = Control(BITS, has_vector=True), []

    async def testbench(ctx):
        ctx.set(getattr(block, name), 1)
        ctx.set(block.y_busy, name in ("y_busy", "vector_busy"))
        await wait(ctx, 2)
        assert await transfer(ctx, block, "s", VECTOR.offset, 0) == (2, 2)
        assert await transfer(ctx, block, "s", OFFSETS["QUEUE"], 1) == ((2, 2) if name == "vector_busy" else (0, 0))
        assert not starts

    async def watch(ctx):
        for _ in range(60):
            *_, start = await ctx.tick().sample(block.vector_start)
            starts.extend([1] if start else [])

    simulate(block, testbench, watch)


def test_without_a_vector_unit_its_register_does_not_exist():
    block = Control(BITS)

    async def testbench(ctx):
        assert await transfer(ctx, block, "s", VECTOR.offset, 0) == (2, 2)

    simulate(block, testbench)
