"""The bridge: each access reaches its region once, lanes are right, errors are answered and noted."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from systoliq.hw.engine.axi_lite import axi_lite
from systoliq.hw.soc.axi_ram import AxiRam
from systoliq.hw.soc.cpu_bridge import CpuBridge
from systoliq.hw.soc.ports import join
from systoliq.hw.soc.registers import REGIONS

from ..bench import simulate, wait
from ..dma.lite import Slave, transfer

SIZE = 256


class WithMemory(wiring.Component):
    """The bridge with memory behind it."""

    def __init__(self, bus):
        self.bridge, self.ram = CpuBridge(bus), AxiRam(bus, SIZE, contents="none", init=(0,) * (SIZE // bus))
        super().__init__(axi_lite("s", 32) | {"fault": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.bridge, m.submodules.ram = self.bridge, self.ram
        join(m, self.bridge, "s", self, "s")
        join(m, self.bridge, "m", self.ram, "s")
        m.d.comb += self.fault.eq(self.bridge.fault)
        return m


@pytest.mark.parametrize("bus", [4, 8, 16])
@pytest.mark.parametrize("chance", [1.0, 0.4])
def test_accesses(bus, chance):
    block, rng = WithMemory(bus), random.Random(bus)
    slaves = {
        "peripherals": Slave(block.bridge, "p", {4 * n: n for n in range(8)}, rng, chance),
        "engine": Slave(block.bridge, "e", {4 * n: 100 + n for n in range(8)}, rng, chance),
    }
    kept = {REGIONS["ram"] + at: 0 for at in range(0, SIZE, 4)}
    kept |= {REGIONS["peripherals"] + 4 * n: n for n in range(8)} | {
        REGIONS["engine"] + 4 * n: 100 + n for n in range(8)
    }
    wrong = [SIZE, 0x0FFF_FFFC, 0x2000_0000, 0xFFFF_FFFC, REGIONS["peripherals"] + 0x20, REGIONS["engine"] + 0x1F_FFFC]
    faults = seen = 0

    async def master(ctx):
        nonlocal faults
        for _ in range(150):
            await wait(ctx, rng.choice([0, 0, 2]))
            address = rng.choice(wrong) if rng.random() < 0.15 else rng.choice(list(kept))
            faults += address not in kept
            if rng.random() < 0.5:
                word = rng.getrandbits(32)
                _, response = await transfer(ctx, block, "s", address, word)
                if address in kept:
                    kept[address] = word
            else:
                data, response = await transfer(ctx, block, "s", address)
                assert address not in kept or data == kept[address]
            assert (response >= 2) == (address not in kept)
        await wait(ctx, 2)
        for slave in slaves.values():
            slave.stopped = True

    async def watch(ctx):
        nonlocal seen
        while not slaves["engine"].stopped:
            *_, fault = await ctx.tick().sample(block.fault)
            seen += fault

    simulate(block, master, watch, *(slave.run for slave in slaves.values()))
    assert seen == faults > 0


def test_bytes_and_speed():
    """Strobes go to their bytes; memory is read in two cycles."""
    block = WithMemory(8)

    async def master(ctx):
        await transfer(ctx, block, "s", 12, 0x11223344)
        ctx.set(block.s_awaddr, 12)
        ctx.set(block.s_wdata, 0xAABBCCDD)
        ctx.set(block.s_wstrb, 0b0100)
        for name in ("awvalid", "wvalid", "bready"):
            ctx.set(getattr(block, f"s_{name}"), 1)
        got = set()
        while len(got) < 3:
            *_, aw, w, b = await ctx.tick().sample(block.s_awready, block.s_wready, block.s_bvalid)
            for name, ready in (("awvalid", aw), ("wvalid", w), ("bready", b)):
                if ready:
                    got.add(name)
                    ctx.set(getattr(block, f"s_{name}"), 0)
        ctx.set(block.s_araddr, 12)
        ctx.set(block.s_arvalid, 1)
        ctx.set(block.s_rready, 1)
        *_, ready = await ctx.tick().sample(block.s_arready)
        assert ready
        ctx.set(block.s_arvalid, 0)
        *_, valid, data = await ctx.tick().sample(block.s_rvalid, block.s_rdata)
        assert (valid, data) == (1, 0x11BB3344)

    simulate(block, master)
