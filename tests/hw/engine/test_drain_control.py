"""Drain control: what it says of each sum that leaves the array, for every slot of every tile of a job."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal

from systoliq.golden import E4M3FN, E5M2
from systoliq.hw.block_ram import BlockRam
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.drain_control import DrainControl

from ..bench import corner_of, simulate, wait

CONFIGS = [
    EngineConfig(rows=1, cols=1, depth=1, lanes=1, max_columns=16, max_rows=16),
    EngineConfig(rows=3, cols=4, depth=2, lanes=2, max_columns=16, max_rows=16),
    EngineConfig(rows=4, cols=6, depth=1, lanes=2, max_columns=32, max_rows=16),
    EngineConfig(rows=2, cols=3, depth=1, lanes=3, max_columns=16, max_rows=16, cells="ice40"),
]
FLOAT8 = {"a": E4M3FN, "b": E5M2, "y": E4M3FN}
FLOAT8_CONFIGS = [
    EngineConfig(rows=1, cols=1, depth=1, lanes=1, max_columns=16, **FLOAT8),
    EngineConfig(rows=3, cols=4, depth=2, lanes=2, max_columns=16, **FLOAT8),
    EngineConfig(rows=1, cols=6, depth=1, lanes=2, max_columns=32, **FLOAT8),
    EngineConfig(rows=2, cols=3, depth=1, lanes=3, max_columns=16, **FLOAT8),
]
JOBS = [(1, 1, 1), (5, 700, 3), (4, 65535, 13), (9, 12, 6), (3, 4, 16)]  # m, k, n


def slots(config, rows, m, n):
    """For each tile: None for the first slot, then its rows; each with the tile's first column."""
    for first_row in range(0, m, rows):
        for first_column in range(0, n, config.cols):
            yield [(None, first_column)] + [(row, first_column) for row in range(first_row, min(first_row + rows, m))]


def steps(config, row, column, m, n, *, tile_ends):
    """(column_sum, push, step, entry, columns, tile_last, last) of each cycle of a slot; None where it is free."""
    lanes, in_tile = config.lanes, min(n - column, config.cols)
    used = -(-in_tile // lanes)
    for step in range(config.first_slot if row is None else config.interval):
        entry = column // lanes + step
        if row is None:
            yield (1, 0, step, None, None, None, None)
        elif step >= used:
            yield (0, 0, None, None, None, None, None)
        else:
            ends = step == used - 1
            last = ends and row == m - 1 and column + config.cols >= n
            yield (0, 1, step, entry, min(lanes, in_tile - step * lanes), ends and tile_ends, last)


NAMES = ("column_sum", "push", "step", "entry", "columns", "tile_last", "last")


def run(config, *, rows, per_slot, per_row, chance, reset_job=None):
    block = DrainControl(config, rows=rows, per_slot=per_slot)
    rng, reset = random.Random(config.rows), Signal()
    latency, early = DrainControl.latency_of(config), BlockRam.latency_of(config.cells)
    table = [corner_of(rng, 8) for _ in range(config.max_rows)]

    async def job(ctx, m, k, n, abandon):
        zero_point = corner_of(rng, 8)
        for name, value in (("m", m), ("k", k), ("n", n), ("zero_point", zero_point), ("per_row", per_row)):
            if name in block.signature.members:
                ctx.set(getattr(block, name), value)
        await wait(ctx, 2)
        ctx.set(block.begin, 1)
        await ctx.tick()
        ctx.set(block.begin, 0)
        tokens, wanted, contexts, at = set(), {}, {}, rng.randrange(1, 5)
        entries = {}
        for tile in slots(config, rows, m, n):
            for place, (row, column) in enumerate(tile):
                if place == 0 or per_slot:
                    while rng.random() > chance:
                        at += 1
                    tokens.add(at)
                for offset, each in enumerate(
                    steps(config, row, column, m, n, tile_ends=per_slot or place == len(tile) - 1)
                ):
                    wanted[at + offset + latency] = each
                    if each[1]:
                        entries[at + offset + latency - early] = each[3]
                if row is not None:
                    zero = table[row] if per_row else zero_point
                    contexts[at + latency - 1] = (zero, k * zero)
                at += config.first_slot if row is None else config.interval
            if not per_slot:
                at = max(at, max(tokens) + config.drain_cycles)
        end = at + latency + 3
        for cycle in range(end):
            if abandon and cycle == end // 2:
                break
            ctx.set(block.start, cycle in tokens)
            step = ctx.get(block.step)
            push = wanted.get(cycle, (0, 0))
            for index, name in enumerate(NAMES[: len(push)]):
                if name != "entry" and push[index] is not None:
                    assert getattr(step, name) == push[index], (name, cycle)
            if cycle in entries:
                assert step.entry == entries[cycle]
            if cycle in contexts and not config.float8:
                row = ctx.get(block.row)
                assert (row.zero_point, row.k_zero_point) == contexts[cycle]
            await ctx.tick()
        ctx.set(block.start, 0)

    async def testbench(ctx):
        for address, value in enumerate([] if config.float8 else table):
            for name, given in (("write", 1), ("address", address), ("value", value)):
                ctx.set(getattr(block, f"row_{name}"), given)
            await ctx.tick()
        if not config.float8:
            ctx.set(block.row_write, 0)
        for index, shape in enumerate(JOBS):
            await job(ctx, *shape, abandon=index == reset_job)
            if index == reset_job:
                ctx.set(reset, 1)
                await ctx.tick()
                ctx.set(reset, 0)

    simulate(block, testbench, reset=reset)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.rows}x{config.cols}x{config.lanes}")
@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("chance", [1.0, 0.4])
def test_tiles_of_rows_announced_whole(config, per_row, chance):
    run(config, rows=config.rows, per_slot=False, per_row=per_row, chance=chance)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.rows}x{config.cols}x{config.lanes}")
@pytest.mark.parametrize("chance", [1.0, 0.4])
def test_tiles_of_all_rows_announced_slot_by_slot(config, chance):
    run(config, rows=config.max_rows, per_slot=True, per_row=True, chance=chance)


@pytest.mark.parametrize("config", FLOAT8_CONFIGS, ids=lambda config: f"{config.rows}x{config.cols}x{config.lanes}")
@pytest.mark.parametrize("chance", [1.0, 0.4])
def test_of_float8_the_first_slot_takes_a_cycle(config, chance):
    assert config.first_slot == 1
    run(config, rows=config.rows, per_slot=False, per_row=False, chance=chance, reset_job=1)


@pytest.mark.parametrize("reset_job", [1, 2])
def test_reset_begins_anew(reset_job):
    run(CONFIGS[1], rows=3, per_slot=False, per_row=True, chance=0.7, reset_job=reset_job)
