"""The read master: each run's bytes, aligned, whatever stalls; full rate; errors stop it; a halt ends in peace."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal, Value

from systoliq.hw.dma.bus import BUS_BYTES
from systoliq.hw.dma.read_master import ReadMaster
from systoliq.hw.dma.realigner import aligned_word

from ..bench import receive, send, simulate, wait
from .memory import Memory, Stopwatch


def words(contents, address, size, bus):
    """(bytes, last) of each word of a run."""
    run = bytes(contents[address : address + size])
    parts = [run[at : at + bus] for at in range(0, size, bus)]
    return [(part, part is parts[-1]) for part in parts]


def taken_words(payloads, bus):
    layout = aligned_word(bus)
    found = []
    for payload in payloads:
        word = layout.from_bits(payload)
        found.append((word.data.to_bytes(bus, "little")[: word.end + 1], bool(word.last)))
    return found


def memory(rng, chance=1.0, size=1 << 14, **options):
    return Memory(contents=bytearray(rng.randbytes(size)), rng=rng, chance=chance, **options)


def runs_of(rng, bus, count):
    found = []
    for _ in range(count):
        size = rng.choice([1, bus, rng.randrange(1, 3 * bus), rng.randrange(1, 40 * bus)])
        found.append((rng.randrange(4096) + rng.choice([0, 4000 - 4000 % bus]), size))
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bus", BUS_BYTES)
@pytest.mark.parametrize(
    "chances", [(1.0, 1.0, 1.0), (0.5, 1.0, 1.0), (1.0, 0.5, 1.0), (1.0, 1.0, 0.4), (0.6, 0.6, 0.6)]
)
def test_runs_as_words(bus, chances):
    comes, answers, goes = chances
    rng = random.Random(bus)
    block, ram, runs = ReadMaster(bus, cells="portable"), memory(rng, answers), runs_of(rng, bus, 30)
    expected = [word for run in runs for word in words(ram.contents, *run, bus)]
    taken = []

    async def sender(ctx):
        payloads = [{"address": address, "extent": size - 1} for address, size in runs]
        await send(ctx, block.i, payloads, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(expected), random.Random(2), goes))
        await wait(ctx, 10)
        assert ctx.get(block.idle)
        assert not ctx.get(block.o.valid)
        assert not ctx.get(block.failed)
        ram.stopped = True

    async def answer(ctx):
        await ram.reads(ctx, block, bus)

    simulate(block, sender, receiver, answer, limit=60_000)
    assert taken_words(taken, bus) == expected


@pytest.mark.parametrize("bus", BUS_BYTES)
@pytest.mark.parametrize("chances", [(1.0, 1.0, 1.0), (0.6, 0.6, 0.6)])
def test_runs_that_fill_among_others(bus, chances):
    """They come in their turn, and ask memory for nothing."""
    comes, answers, goes = chances
    rng = random.Random(bus)
    block, ram = ReadMaster(bus, cells="portable"), memory(rng, answers)
    expected, payloads, beats = [], [], 0
    for address, size in runs_of(rng, bus, 60):
        if rng.random() < 0.5:
            byte = rng.getrandbits(8)
            payloads.append({"address": byte << 24, "extent": size - 1, "fill": 1})
            expected += words(bytes([byte]) * size, 0, size, bus)
        else:
            payloads.append({"address": address, "extent": size - 1, "fill": 0})
            expected += words(ram.contents, address, size, bus)
            beats += -(-(address % bus + size) // bus)
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, payloads, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(expected), random.Random(2), goes))
        await wait(ctx, 10)
        assert ctx.get(block.idle)
        ram.stopped = True

    async def answer(ctx):
        await ram.reads(ctx, block, bus)

    simulate(block, sender, receiver, answer, limit=60_000)
    assert taken_words(taken, bus) == expected
    assert ram.read_beats == beats


@pytest.mark.parametrize(("address", "size", "least"), [(0, 4096, 0.95), (0, 16, 0.95), (5, 4096, 0.9)])
def test_nearly_all_of_the_bus_is_used(address, size, least):
    """Long runs, wherever they begin, and single beats one after the other."""
    rng = random.Random(3)
    block, ram, stopwatch = ReadMaster(16, cells="portable"), memory(rng, latency=20), Stopwatch()
    count = max(8192 // size, 1)
    beats = -(-(address % 16 + size) // 16) * count

    async def sender(ctx):
        payloads = [{"address": address + index * (size % 4096), "extent": size - 1} for index in range(count)]
        await send(ctx, block.i, payloads, random.Random(1))

    async def receiver(ctx):
        await receive(ctx, block.o, -(-size // 16) * count, random.Random(2))
        assert beats / (stopwatch.cycles - 30) >= least
        ram.stopped = stopwatch.stopped = True

    async def answer(ctx):
        await ram.reads(ctx, block, 16)

    simulate(block, sender, receiver, answer, stopwatch.run)


@pytest.mark.parametrize(("cells", "chance"), [("portable", 1.0), ("portable", 0.5), ("ice40", 1.0)])
def test_an_error_stops_the_words_and_not_the_bus(cells, chance):
    rng = random.Random(7)
    block, ram = ReadMaster(8, cells=cells), memory(rng, chance, broken=range(1000, 1001))
    expected = words(ram.contents, 100, 2000, 8)
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, [{"address": 100, "extent": 1999}], random.Random(1))

    async def receiver(ctx):
        ctx.set(block.o.ready, 1)
        for _ in range(3000):
            *_, valid, payload = await ctx.tick().sample(block.o.valid, Value.cast(block.o.payload))
            if valid:
                taken.append(payload)
        assert ctx.get(block.failed)
        assert ctx.get(block.idle)
        ram.stopped = True

    async def answer(ctx):
        await ram.reads(ctx, block, 8)

    simulate(block, sender, receiver, answer)
    assert len(taken) <= (1000 - 100) // 8  # none with a byte of the broken beat
    assert taken_words(taken, 8) == expected[: len(taken)]


@pytest.mark.parametrize("halt_at", [3, 10, 25, 60])
def test_halted_it_becomes_idle_and_works_after_a_reset(halt_at):
    rng, reset = random.Random(9), Signal()
    block, ram = ReadMaster(8, cells="portable"), memory(rng, 0.6)
    taken = []

    async def testbench(ctx):
        ctx.set(block.i.payload, {"address": 40, "extent": 3000})
        ctx.set(block.i.valid, 1)
        await wait(ctx, halt_at)
        ctx.set(block.i.valid, 0)
        ctx.set(block.halt, 1)
        await wait(ctx, 3)
        while not ctx.get(block.idle):
            await ctx.tick()
        assert not ram.under_way
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        ctx.set(block.halt, 0)
        await send(ctx, block.i, [{"address": 77, "extent": 99}], rng)
        taken.extend(await receive(ctx, block.o, 13, rng))
        ram.stopped = True

    async def answer(ctx):
        await ram.reads(ctx, block, 8)

    simulate(block, testbench, answer, reset=reset)
    assert taken_words(taken, 8) == words(ram.contents, 77, 100, 8)
