"""The vector unit alone: tables, results at the full rate, and its end."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.dma.bus import BUS_BYTES
from systoliq.hw.dma.vector_unit import ENTRY_BYTES, VectorUnit

from ..bench import receive, send, simulate


def word(data, last, bus):
    mark = {"step_last": last, "last": last}
    return {"data": int.from_bytes(data.ljust(bus, b"\0"), "little"), "end": len(data) - 1, "last": last, "mark": mark}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bus", BUS_BYTES)
@pytest.mark.parametrize("chance", [1, 0.5])
def test_a_unit_reads_tables_and_then_words(bus, chance):
    """All bytes go through table A, and a table of B that a command for A alone does not use."""
    rng, block = random.Random(bus), VectorUnit(bus, cells="portable")
    tables = [[rng.randrange(-200, 200) for _ in range(256)] for _ in range(2)]
    operands = [rng.randbytes(40 * bus) for _ in range(2)]
    cycles = []

    def words(data):
        return [word(data[at : at + bus], at + bus >= len(data), bus) for at in range(0, len(data), bus)]

    async def start(ctx, **command):
        assert not ctx.get(block.busy)
        ctx.set(block.command, command)
        ctx.set(block.start, 1)
        await ctx.tick()
        ctx.set(block.start, 0)
        assert ctx.get(block.busy)

    async def source(ctx, name, data):
        await send(ctx, getattr(block, name), words(data), random.Random(1), chance)

    loaded = [b"".join(entry.to_bytes(ENTRY_BYTES, "little", signed=True) for entry in table) for table in tables]

    async def of_a(ctx):
        ctx.set(block.y_idle, 1)
        await start(ctx, load=1, pair=1)
        await source(ctx, "a", loaded[0])
        while ctx.get(block.busy):  # words wait in the unit
            await ctx.tick()
        for pair in (1, 0):
            await start(ctx, pair=pair)
            await source(ctx, "a", operands[0])
            while ctx.get(block.busy):
                await ctx.tick()

    async def of_b(ctx):
        await source(ctx, "b", loaded[1])
        await source(ctx, "b", operands[1])

    async def of_y(ctx):
        for pair in (1, 0):
            (first,) = await receive(ctx, block.y, 1, rng, chance)
            begun = len(cycles)
            rest = await receive(ctx, block.y, 39, rng, chance)
            assert chance < 1 or len(cycles) - begun <= 40, "a word a cycle"
            found = b"".join(each.to_bytes(bus, "little") for each in (first, *rest))
            totals = [tables[0][a] + pair * tables[1][b] for a, b in zip(*operands, strict=True)]
            assert found == bytes(max(-128, min(127, total)) & 0xFF for total in totals)
        done.append(True)

    done = []

    async def count(ctx):
        while not done:
            await ctx.tick()
            cycles.append(1)

    simulate(block, of_a, of_b, of_y, count)
