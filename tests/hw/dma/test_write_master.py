"""The write master: each run's bytes where they belong and no others, whatever stalls; full rate; errors; a halt."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal

from systoliq.hw.dma.bus import BUS_BYTES
from systoliq.hw.dma.write_master import WriteMaster

from ..bench import send, simulate, wait
from .memory import Memory, Stopwatch


def walks_of(rng, bus, count):
    """Walks of runs that do not overlap: [(address, bytes)]."""
    at, walks = rng.randrange(100), []
    for _ in range(count):
        walk = []
        for _ in range(rng.randrange(1, 8)):
            size = rng.choice([1, bus, rng.randrange(1, 3 * bus), rng.randrange(1, 30 * bus)])
            walk.append((at, rng.randbytes(size)))
            at += size + rng.choice([0, 0, 1, rng.randrange(40)])
        walks.append(walk)
    return walks


def runs(walks):
    for walk in walks:
        for run in walk:
            last = run is walk[-1]
            yield {"address": run[0], "extent": len(run[1]) - 1, "mark": {"step_last": 0, "last": last}}


def words(walks, bus, rng):
    for walk in walks:
        dense = b"".join(data for _, data in walk)
        dense += rng.randbytes(-len(dense) % bus)
        for at in range(0, len(dense), bus):
            yield int.from_bytes(dense[at : at + bus], "little")


def written(contents, walks):
    expected = bytearray(contents)
    for walk in walks:
        for address, data in walk:
            expected[address : address + len(data)] = data
    return expected


async def at_rest(ctx, block, ram):
    await wait(ctx, 4)
    while not ctx.get(block.idle) or ctx.get(block.words.valid) or ram.under_way:
        await ctx.tick()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bus", BUS_BYTES)
@pytest.mark.parametrize("chances", [(1, 1, 1), (0.5, 1, 1), (1, 0.5, 1), (1, 1, 0.4), (0.6, 0.6, 0.6)])
def test_runs_into_memory(bus, chances):
    comes, data, answers = chances
    rng = random.Random(bus)
    block, walks = WriteMaster(bus, cells="portable"), walks_of(rng, bus, 9)
    ram = Memory(contents=bytearray(rng.randbytes(1 << 14)), rng=rng, chance=answers)
    expected = written(ram.contents, walks)
    sent = []

    async def sender(ctx):
        await send(ctx, block.i, list(runs(walks)), random.Random(1), comes)
        sent.append("runs")

    async def sender_of_words(ctx):
        await send(ctx, block.words, list(words(walks, bus, rng)), random.Random(2), data)
        while len(sent) < 1:
            await ctx.tick()
        await wait(ctx, 100)
        await at_rest(ctx, block, ram)
        ram.stopped = True

    async def answer(ctx):
        await ram.writes(ctx, block, bus)

    simulate(block, sender, sender_of_words, answer, limit=60_000)
    assert ram.contents == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ahead", [1, 2, 1000])
@pytest.mark.parametrize(("size", "place", "least"), [(4096, 0, 0.95), (16, 0, 0.95), (4096, 5, 0.95)])
def test_nearly_all_of_the_bus_is_used(size, place, least, ahead):
    """Long runs and single beats, even where memory takes an address with its data alone."""
    rng, stopwatch, block = random.Random(1), Stopwatch(), WriteMaster(16, cells="portable")
    count = 8192 // size
    walks = [[(place + index * size, rng.randbytes(size)) for index in range(count)]]
    ram = Memory(contents=bytearray(1 << 14), rng=rng, latency=20, ahead=ahead)
    expected = written(ram.contents, walks)

    async def sender(ctx):
        await send(ctx, block.i, list(runs(walks)), rng)

    async def sender_of_words(ctx):
        await send(ctx, block.words, list(words(walks, 16, rng)), rng)
        await at_rest(ctx, block, ram)
        assert 512 / (stopwatch.cycles - 40) >= least
        ram.stopped = stopwatch.stopped = True

    async def answer(ctx):
        await ram.writes(ctx, block, 16)

    simulate(block, sender, sender_of_words, answer, stopwatch.run)
    assert ram.contents == expected


def test_an_error_stops_it():
    rng, block = random.Random(1), WriteMaster(4, cells="portable")
    ram = Memory(contents=bytearray(4096), rng=rng, broken=range(500, 501), chance=0.7)
    walks = [[(0, rng.randbytes(2000))]]

    async def testbench(ctx):
        await send(ctx, block.i, list(runs(walks)), rng)

    async def sender_of_words(ctx):
        for word in words(walks, 4, rng):
            ctx.set(block.words.payload, word)
            ctx.set(block.words.valid, 1)
            for _ in range(400):
                *_, ready = await ctx.tick().sample(block.words.ready)
                if ready:
                    break
            else:
                break
        ctx.set(block.words.valid, 0)
        await at_rest(ctx, block, ram)
        assert ctx.get(block.failed)
        ram.stopped = True

    async def answer(ctx):
        await ram.writes(ctx, block, 4)

    simulate(block, testbench, sender_of_words, answer, limit=60_000)
    assert not any(ram.contents[1000:])


@pytest.mark.parametrize("halt_at", [5, 9, 14, 40, 77])
def test_halted_it_ends_its_bursts_and_works_after_a_reset(halt_at):
    rng, reset, block = random.Random(halt_at), Signal(), WriteMaster(8, cells="portable")
    ram = Memory(contents=bytearray(4096), rng=rng, chance=0.6)
    before, after = [[(3, rng.randbytes(1500))]], [[(2000, rng.randbytes(100)), (2205, rng.randbytes(31))]]

    async def testbench(ctx):
        ctx.set(block.i.payload, next(iter(runs(before))))
        ctx.set(block.i.valid, 1)
        ctx.set(block.words.payload, 0x0101010101010101)
        ctx.set(block.words.valid, 1)
        await wait(ctx, halt_at)
        ctx.set(block.i.valid, 0)
        ctx.set(block.words.valid, 0)
        ctx.set(block.halt, 1)
        await at_rest(ctx, block, ram)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        ctx.set(block.halt, 0)
        given = iter(runs(after))
        for _ in range(2):
            await send(ctx, block.i, [next(given)], rng)
        await wait(ctx, 60)

    async def sender_of_words(ctx):
        await wait(ctx, halt_at + 400)
        await send(ctx, block.words, list(words(after, 8, rng)), rng)
        await wait(ctx, 100)
        await at_rest(ctx, block, ram)
        ram.stopped = True

    async def answer(ctx):
        await ram.writes(ctx, block, 8)

    simulate(block, testbench, sender_of_words, answer, reset=reset)
    assert ram.contents[1503:] == written(bytearray(4096), after)[1503:]
    assert set(ram.contents[:3]) == {0}
    assert set(ram.contents[3:1503]) <= {0, 1}
