"""The arbiter of writes: each burst arrives whole, once, with its master's answer, and everybody has a turn."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from systoliq.hw.dma.axi4 import axi4_write
from systoliq.hw.soc.axi_ram import AxiRam
from systoliq.hw.soc.ports import join, slave
from systoliq.hw.soc.throttle import CHANNELS, Throttle
from systoliq.hw.soc.write_arbiter import WriteArbiter

from ..bench import simulate
from .masters import writes

SIZE, BUS = 1024, 4


class Shared(wiring.Component):
    """Masters at one memory, a throttle before it and one before each master."""

    def __init__(self, masters):
        self.masters = masters
        members = {}
        for index in range(masters):
            members |= slave(axi4_write(f"s{index}", BUS))
        super().__init__(members)
        self.arbiter = WriteArbiter(masters, BUS)
        self.throttles = [Throttle("write", BUS) for _ in range(masters + 1)]
        self.ram = AxiRam(BUS, SIZE, contents="none", init=(0,) * (SIZE // BUS))

    def elaborate(self, platform):
        m = Module()
        m.submodules.ram, m.submodules.arbiter = self.ram, self.arbiter
        m.submodules += self.throttles
        *before, last = self.throttles
        for index, throttle in enumerate(before):
            join(m, throttle, "s", self, f"s{index}")
            join(m, throttle, "m", self.arbiter, f"s{index}")
        join(m, self.arbiter, "m", last, "s")
        join(m, last, "m", self.ram, "s", CHANNELS["write"])
        return m


@pytest.mark.sampled(9)
@pytest.mark.parametrize("masters", [1, 2, 3])
@pytest.mark.parametrize(("chance", "stalls"), [(1.0, 0.0), (0.5, 0.0), (0.7, 0.4)])
def test_each_burst_arrives_once(masters, chance, stalls):
    rng, ended = random.Random(masters), 0
    block, memory = Shared(masters), bytearray(SIZE)
    part = SIZE // 4

    def master(index):
        async def run(ctx):
            nonlocal ended
            span = range(index * part, (index + 1) * part)
            await writes(ctx, block, f"s{index}", BUS, memory, random.Random(index), 40, chance, span)
            ended += 1

        return run

    async def throttle(ctx):
        while ended < masters:
            for each in block.throttles:
                ctx.set(each.stalls, sum((rng.random() < stalls) << bit for bit in range(3)))
            await ctx.tick()
        for each in block.throttles:
            ctx.set(each.stalls, 0)
        ctx.set(block.ram.s_rready, 1)
        ctx.set(block.ram.s_arvalid, 1)
        for at in range(0, SIZE, BUS):
            ctx.set(block.ram.s_araddr, at)
            await ctx.tick()
            assert ctx.get(block.ram.s_rdata) == int.from_bytes(memory[at : at + BUS], "little")

    simulate(block, *map(master, range(masters)), throttle)


def test_everybody_has_a_turn():
    block, order = Shared(3), []

    async def run(ctx):
        for index in range(3):
            for name in ("awvalid", "wvalid", "wlast", "bready"):
                ctx.set(getattr(block, f"s{index}_{name}"), 1)
        for _ in range(90):
            *_, a, b, c = await ctx.tick().sample(*(getattr(block, f"s{index}_awready") for index in range(3)))
            order.extend(index for index, ready in enumerate((a, b, c)) if ready)

    simulate(block, run)
    assert len(order) > 25
    assert all({*order[at : at + 3]} == {0, 1, 2} for at in range(len(order) - 3))
