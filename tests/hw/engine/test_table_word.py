"""Words for tables on a stream beside AXI4-Lite: each is written once, where it belongs, or refused."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.engine import COLUMN_TABLE, ROW_TABLE, AxiEngine, EngineConfig

from ..bench import simulate
from ..dma.lite import transfer

CONFIG = EngineConfig(rows=2, cols=6, lanes=3, max_columns=32, max_rows=32)  # 3 lanes in 4 places


def columns(rng, entries):
    """Words of `entries` entries of lanes that are there, and of lanes that are not: (address, word, lane or None)."""
    for _ in range(entries):
        entry, lane = rng.randrange(CONFIG.table_words), rng.randrange(4)
        address = COLUMN_TABLE.base + (4 * entry + lane) * COLUMN_TABLE.stride
        values = [rng.getrandbits(32) for _ in range(4)]
        yield [(address + 4 * at, word) for at, word in enumerate(values)], (entry, lane, values)


@pytest.mark.parametrize("chance", [0.4, pytest.param(1.0, marks=pytest.mark.slow)])
def test_each_word_is_written_where_it_belongs_or_refused(chance):
    rng = random.Random(7)
    engine = AxiEngine(CONFIG, table_stream=True)
    entries = list(columns(rng, 60))
    stream = [word for words, _ in entries for word in words]
    rows = [(ROW_TABLE.base + 4 * rng.randrange(32), rng.getrandbits(8)) for _ in range(25)]
    written, refused, refusals, more = {"columns": [], "rows": []}, [], [0], [True]

    async def feed(ctx):
        for address, word in [
            *stream,
            (ROW_TABLE.base + 4 * 32, 1),
            (0, 1),
            (COLUMN_TABLE.base + 64 * CONFIG.table_words, 1),
        ]:
            while rng.random() > chance:
                await ctx.tick()
            ctx.set(engine.table.payload, {"address": address, "word": word})
            ctx.set(engine.table.valid, 1)
            ready = 0
            while not ready:
                *_, ready = await ctx.tick().sample(engine.table.ready)
            ctx.set(engine.table.valid, 0)
            if ctx.get(engine.table_refused):
                refused.append(address)

    async def host(ctx):
        for address, word in rows:
            await transfer(ctx, engine, "s_axi_ctrl", address, word)
        while more[0]:
            await ctx.tick()

    async def watch(ctx):
        core = engine.core
        names = ("column_write", "column_address", "column_value", "row_write", "row_address", "row_value")
        for _ in range(1200):
            sampled = ctx.tick().sample(engine.table_refused, *(getattr(core, name) for name in names))
            *_, refuses, write, at, value, row, row_at, row_value = await sampled
            refusals[0] += refuses
            if write:
                value = {name: getattr(value, name) for name in ("bias", "multiplier", "shift", "zero_point")}
                written["columns"].append((at, write, value))
            if row:
                written["rows"].append((row_at, row_value & 0xFF))
        more[0] = False

    simulate(engine, feed, host, watch)
    there = [(entry, lane, values) for _, (entry, lane, values) in entries if lane < 3]
    assert [(at, write) for at, write, _ in written["columns"]] == [(e, 1 << lane) for e, lane, _ in there]
    for (_, _, found), (_, _, (bias, multiplier, shift, zero_point)) in zip(written["columns"], there, strict=True):
        assert found["bias"] & 0xFFFFFFFF == bias
        assert found["multiplier"] == multiplier & 0xFFFFFF
        assert found["shift"] == shift & 0x3F
        assert found["zero_point"] & 0xFF == zero_point & 0xFF
    assert written["rows"] == [((address - ROW_TABLE.base) // 4, word) for address, word in rows]
    absent = [address for words, (_, lane, _) in entries if lane == 3 for address, _ in words]
    assert refused == [*absent, ROW_TABLE.base + 4 * 32, 0, COLUMN_TABLE.base + 64 * CONFIG.table_words]
    assert refusals == [len(refused)]
