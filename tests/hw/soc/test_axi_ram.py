"""Memory behind AXI4: what was written is read, strobes count, errors are answered, and reads run at full speed."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.soc.axi_ram import AxiRam

from ..bench import simulate
from .masters import reads, writes
from .ram_words import words

SIZE = 1024


@pytest.mark.parametrize("bus", [4, 8, 16])
@pytest.mark.parametrize("chance", [1.0, 0.4])
def test_reads_after_writes(bus, chance):
    rng = random.Random(bus)
    memory = bytearray(rng.randbytes(SIZE))
    block = AxiRam(bus, SIZE, contents="none", init=words(memory, bus))

    async def testbench(ctx):
        await reads(ctx, block, "s", bus, memory, rng, 10, chance)
        await writes(ctx, block, "s", bus, memory, rng, 40, chance)
        await reads(ctx, block, "s", bus, memory, rng, 60, chance)

    simulate(block, testbench)


@pytest.mark.parametrize("chance", [1.0, 0.5])
def test_both_at_once(chance):
    """Writes into one half do not disturb reads of the other."""
    rng, other = random.Random(1), random.Random(2)
    memory = bytearray(rng.randbytes(SIZE))
    block = AxiRam(4, SIZE, contents="none", init=words(memory, 4))
    half = bytes(memory[: SIZE // 2])

    async def writer(ctx):
        await writes(ctx, block, "s", 4, memory, other, 60, chance, range(SIZE // 2, SIZE))

    async def reader(ctx):
        for _ in range(60):
            at = rng.randrange(SIZE // 8) * 4
            ctx.set(block.s_araddr, at)
            ctx.set(block.s_arlen, 0)
            ctx.set(block.s_arvalid, 1)
            ready = 0
            while not ready:
                *_, ready = await ctx.tick().sample(block.s_arready)
            ctx.set(block.s_arvalid, 0)
            ctx.set(block.s_rready, 1)
            valid = 0
            while not valid:
                *_, valid, data = await ctx.tick().sample(block.s_rvalid, block.s_rdata)
            ctx.set(block.s_rready, 0)
            assert data == int.from_bytes(half[at : at + 4], "little")

    simulate(block, reader, writer)


def test_a_word_is_not_read_in_the_cycle_in_which_it_is_written():
    """A cell may give anything then, of the bytes that are not written too."""
    rng = random.Random(4)
    block = AxiRam(4, 64, contents="none")
    collisions = 0

    async def traffic(ctx):
        nonlocal collisions
        for name in ("s_arvalid", "s_awvalid", "s_wvalid", "s_rready", "s_bready"):
            ctx.set(getattr(block, name), 1)
        ctx.set(block.s_wlast, 1)
        ctx.set(block.s_wstrb, 2)
        for _ in range(300):
            ctx.set(block.s_araddr, 4 * rng.randrange(2))
            ctx.set(block.s_awaddr, 4 * rng.randrange(2))
            *_, read, at, write, to, asked = await ctx.tick().sample(
                block.core.read, block.core.read_address, block.core.write, block.core.write_address, block.s_araddr
            )
            assert not (read and write and at == to)
            collisions += bool(write and asked // 4 == to)

    simulate(block, traffic)
    assert collisions > 50


def test_bursts_follow_each_other():
    """A beat a cycle, over the ends of bursts."""
    block, cycles = AxiRam(4, SIZE, contents="none"), 0

    async def count(ctx):
        nonlocal cycles
        beats = 0
        ctx.set(block.s_arvalid, 1)
        ctx.set(block.s_arlen, 3)
        ctx.set(block.s_rready, 1)
        while beats < 80:
            *_, valid = await ctx.tick().sample(block.s_rvalid)
            beats += valid
            cycles += 1

    simulate(block, count)
    assert cycles == 81
