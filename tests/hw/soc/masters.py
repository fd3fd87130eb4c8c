"""Masters on AXI4 for benches in Amaranth's simulator: random bursts, random stalls, the answers checked."""

from __future__ import annotations

import random
from collections import deque


async def reads(ctx, port, prefix, bus, memory, rng: random.Random, count, chance=1.0, *, eager=False):
    """`count` bursts from `memory`, bytes from address 0 on; those beyond it must answer with an error."""
    get = lambda name: getattr(port, f"{prefix}_{name}")  # noqa: E731
    expected, asked, kept, beats = deque(), 0, None, 0
    ctx.set(get("arsize"), (bus - 1).bit_length())
    ctx.set(get("arburst"), 1)
    while asked < count or expected:
        if kept is None and asked < count and (eager or rng.random() <= chance):
            length = rng.choice([0, 0, 1, 3, 15])
            at = rng.randrange(len(memory) // bus - length) * bus
            if rng.random() < 0.1:
                at |= 1 << rng.randrange(len(memory).bit_length() - 1, 32)
            kept = at, length
        ctx.set(get("arvalid"), kept is not None)
        if kept is not None:
            ctx.set(get("araddr"), kept[0])
            ctx.set(get("arlen"), kept[1])
        rready = eager or rng.random() <= chance
        ctx.set(get("rready"), rready)
        names = ("arready", "rvalid", "rdata", "rlast", "rresp")
        *_, arready, rvalid, rdata, rlast, rresp = await ctx.tick().sample(*map(get, names))
        if rvalid and rready:
            at, last = expected.popleft()
            assert rlast == last
            assert rresp == (0 if at < len(memory) else 3)
            if at < len(memory):
                assert rdata == int.from_bytes(memory[at : at + bus], "little")
            beats += 1
        if kept is not None and arready:
            at, length = kept
            expected += [(at + index * bus, index == length) for index in range(length + 1)]
            kept, asked = None, asked + 1
    ctx.set(get("arvalid"), 0)
    return beats


async def writes(ctx, port, prefix, bus, memory, rng: random.Random, count, chance=1.0, span=None, *, eager=False):
    """`count` bursts with random strobes into `span` (a range of bytes) of `memory`, which follows them."""
    get = lambda name: getattr(port, f"{prefix}_{name}")  # noqa: E731
    span = span or range(len(memory))
    ctx.set(get("awsize"), (bus - 1).bit_length())
    ctx.set(get("awburst"), 1)
    made, address, beats, answers = 0, None, deque(), deque()
    beat = None
    while made < count or address is not None or beats or beat is not None or answers:
        if address is None and made < count and (eager or rng.random() <= chance):
            length = rng.choice([0, 0, 1, 3, 15])
            at = span.start + rng.randrange(len(span) // bus - length) * bus
            bad = rng.random() < 0.1
            address = at | (1 << rng.randrange(len(memory).bit_length() - 1, 32) if bad else 0), length
            for index in range(length + 1):
                data, strobe = rng.getrandbits(8 * bus), rng.getrandbits(bus)
                beats.append((data, strobe, index == length))
                for i in range(bus if not bad else 0):
                    if strobe >> i & 1:
                        memory[at + index * bus + i] = data >> 8 * i & 0xFF
            answers.append(3 if bad else 0)
            made += 1
        if beat is None and beats and (eager or rng.random() <= chance):
            beat = beats.popleft()
        ctx.set(get("awvalid"), address is not None)
        if address is not None:
            ctx.set(get("awaddr"), address[0])
            ctx.set(get("awlen"), address[1])
        ctx.set(get("wvalid"), beat is not None)
        if beat is not None:
            for name, value in zip(("wdata", "wstrb", "wlast"), beat, strict=True):
                ctx.set(get(name), value)
        bready = eager or rng.random() <= chance
        ctx.set(get("bready"), bready)
        *_, awready, wready, bvalid, bresp = await ctx.tick().sample(
            get("awready"), get("wready"), get("bvalid"), get("bresp")
        )
        if bvalid and bready:
            assert bresp == answers.popleft()
        if address is not None and awready:
            address = None
        if beat is not None and wready:
            beat = None
    ctx.set(get("awvalid"), 0)
    ctx.set(get("wvalid"), 0)
