"""Row memory: each element of a row while the next one comes, its greatest, and whether an image ends."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Value

from systoliq.golden import INT8, UINT8
from systoliq.hw.network.row_memory import RowMemory

from ..bench import simulate


@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("length", [1, 5, 40])
def test_rows_in_any_order_of_elements(length, form):
    rng = random.Random(length)
    memory = RowMemory(form, length=length, cells="portable")
    rows = [[rng.randint(form.min, form.max) for _ in range(length)] for _ in range(6)]
    assert memory.latency == memory.banks[0].latency

    async def sends(ctx):
        for index, row in enumerate(rows):
            for place, element in enumerate(row):
                while rng.random() < 0.3:
                    await ctx.tick()
                ends = index % 2 and place == length - 1
                ctx.set(Value.cast(memory.i.payload), (element & 0xFF) | int(ends) << 8)
                ctx.set(memory.i.valid, 1)
                while not ctx.get(memory.i.ready):
                    await ctx.tick()
                await ctx.tick()
                ctx.set(memory.i.valid, 0)

    async def reads(ctx):
        for index, row in enumerate(rows):
            while not ctx.get(memory.complete):
                await ctx.tick()
            ctx.set(memory.take, 1)
            await ctx.tick()
            ctx.set(memory.take, 0)
            assert (ctx.get(memory.greatest), ctx.get(memory.ends)) == (max(row), index % 2)
            for place in [*range(length)[::-1], rng.randrange(length)]:
                ctx.set(memory.place, place)
                ctx.set(memory.read, 1)
                await ctx.tick()
                ctx.set(memory.read, 0)
                for _ in range(memory.latency - 1):
                    await ctx.tick()
                assert ctx.get(memory.element) == row[place]
            ctx.set(memory.done, 1)
            await ctx.tick()
            ctx.set(memory.done, 0)

    simulate(memory, sends, reads)


def test_banks_divide_a_row():
    with pytest.raises(ValueError, match="banks of runs of 3 must divide the 12 elements, not 5"):
        RowMemory(INT8, length=12, cells="portable", banks=5, run=3)
