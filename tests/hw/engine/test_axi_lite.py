"""The AXI4-Lite slave against a master that stalls each channel by itself, and a register file."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring

from systoliq.hw.engine.axi_lite import AxiLite

from ..bench import simulate, wait

BITS = 6
KNOWN = {0, 4, 12, 32}
OKAY, SLVERR = 0, 2


class RegisterFile(wiring.Component):
    """What stands behind `bus` here: `read_data` and both `known` are registers that look at the address."""

    def __init__(self, bus):
        self.bus = bus
        super().__init__({})

    def elaborate(self, platform):
        m = Module()
        m.submodules.bus = bus = self.bus
        for address in KNOWN:
            word = Signal(32, name=f"word_{address}", reset_less=True)
            with m.If(bus.write & (bus.write_address == address)):
                m.d.sync += word.eq(bus.write_data)
            with m.If(bus.read_address == address):
                m.d.sync += bus.read_data.eq(word)
        for side in ("read", "write"):
            address, known = getattr(bus, f"{side}_address"), getattr(bus, f"{side}_known")
            m.d.sync += known.eq(0)
            with m.If(sum(address == each for each in KNOWN)):
                m.d.sync += known.eq(1)
        return m


async def offer(ctx, bus, channel, transfers, rng, chance):
    """Each of `transfers`, fields by name, after a random wait."""
    for fields in transfers:
        while rng.random() > chance:
            await ctx.tick()
        for name, value in fields.items():
            ctx.set(getattr(bus, f"s_{name}"), value)
        ctx.set(getattr(bus, f"s_{channel}valid"), 1)
        ready = 0
        while not ready:
            *_, ready = await ctx.tick().sample(getattr(bus, f"s_{channel}ready"))
        ctx.set(getattr(bus, f"s_{channel}valid"), 0)


async def answers(ctx, bus, channel, count, rng, chance):
    """(response, data) of `count` answers; one that is offered must stay until it is taken."""
    taken, held = [], None
    while len(taken) < count:
        ready = rng.random() <= chance
        ctx.set(getattr(bus, f"s_{channel}ready"), ready)
        valid, response = getattr(bus, f"s_{channel}valid"), getattr(bus, f"s_{channel}resp")
        *_, valid, response, word = await ctx.tick().sample(valid, response, bus.s_rdata)
        shown = (response, word if channel == "r" else None)
        assert held is None or (valid, shown) == (1, held)
        held = shown if valid and not ready else None
        if valid and ready:
            taken.append(shown)
    ctx.set(getattr(bus, f"s_{channel}ready"), 0)
    return taken


@pytest.mark.parametrize(
    ("chance", "reset_at"), [(1.0, None), (0.5, None), (0.2, None), *((0.5, cycle) for cycle in range(1, 8))]
)
def test_every_transfer_has_its_effect_and_its_answer(chance, reset_at):
    bus, reset, rng = AxiLite(BITS), Signal(), random.Random(chance)
    count, begins = 30, 0 if reset_at is None else reset_at + 1
    writes = [(rng.choice([*KNOWN, 8, 60]), rng.getrandbits(32), rng.choice([15, 15, 1, 14])) for _ in range(count)]
    writes[-len(KNOWN) :] = [(address, rng.getrandbits(32), 15) for address in KNOWN]  # each word is known at the end
    good = [(address, word) for address, word, strobe in writes if address in KNOWN and strobe == 15]
    reads = [rng.choice([*KNOWN, 8, 60]) for _ in range(count)]
    after = [*KNOWN, 8]  # read when all is written
    marks, responses, found, last = [], [], [], []

    async def write_address(ctx):
        for name in ("aw", "w", "ar") if reset_at is not None else ():  # on the way when the reset comes
            ctx.set(getattr(bus, f"s_{name}valid"), 1)
        await wait(ctx, max(begins - 1, 0))
        ctx.set(reset, reset_at is not None)
        await wait(ctx, min(begins, 1))
        ctx.set(reset, 0)
        for name in ("aw", "w", "ar"):
            ctx.set(getattr(bus, f"s_{name}valid"), 0)
        assert not ctx.get(bus.s_bvalid | bus.s_rvalid | bus.write)
        await offer(ctx, bus, "aw", [{"awaddr": address} for address, *_ in writes], random.Random(1), chance)

    async def write_data(ctx):
        await wait(ctx, begins + 1)
        await offer(ctx, bus, "w", [{"wdata": w, "wstrb": strobe} for _, w, strobe in writes], random.Random(2), chance)

    async def read_address(ctx):
        await wait(ctx, begins + 1)
        await offer(ctx, bus, "ar", [{"araddr": address} for address in reads], random.Random(3), chance)
        while len(responses) < count:
            await ctx.tick()
        await offer(ctx, bus, "ar", [{"araddr": address} for address in after], random.Random(4), chance)

    async def write_answers(ctx):
        await wait(ctx, begins)
        responses.extend(await answers(ctx, bus, "b", count, random.Random(5), chance))

    async def read_answers(ctx):
        await wait(ctx, begins)
        found.extend(await answers(ctx, bus, "r", count, random.Random(6), chance))
        last.extend(await answers(ctx, bus, "r", len(after), random.Random(7), chance))

    async def watch(ctx):
        await wait(ctx, begins)
        cycle = 0
        while len(last) < len(after):
            *_, write, address, word = await ctx.tick().sample(bus.write, bus.write_address, bus.write_data)
            if marks and cycle - marks[-1][0] in (1, 2):
                assert (address, word) == marks[-1][1:], "what is written stays for two cycles more"
            if write:
                assert not marks or cycle - marks[-1][0] >= 4
                marks.append((cycle, address, word))
            cycle += 1

    simulate(
        RegisterFile(bus), write_address, write_data, read_address, write_answers, read_answers, watch, reset=reset
    )
    assert [(address, word) for _, address, word in marks] == good
    right = [address in KNOWN and strobe == 15 for address, _, strobe in writes]
    assert [response for response, _ in responses] == [OKAY if each else SLVERR for each in right]
    for address, (response, word) in zip(reads, found, strict=True):
        assert response == (OKAY if address in KNOWN else SLVERR)
        if response == OKAY and word:
            assert (address, word) in good
    memory = dict(good)
    for address, (response, word) in zip(after, last, strict=True):
        assert (response, word) == (OKAY, memory[address]) if address in KNOWN else response == SLVERR
