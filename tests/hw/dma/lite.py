"""Both ends of AXI4-Lite for benches in Amaranth's simulator: a slave with registers, and a master's transfers."""

from __future__ import annotations

import random
from collections import deque


class Slave:
    """`registers`: address -> value; other addresses answer with an error. `log`: what was done, in order."""

    def __init__(self, port, prefix, registers, rng: random.Random, chance=1.0):
        self.port, self.prefix, self.registers = port, prefix, registers
        self.rng, self.chance = rng, chance
        self.log, self.stopped = [], False
        self.on_read = None

    def get(self, name):
        return getattr(self.port, f"{self.prefix}_{name}")

    def goes(self):
        return self.rng.random() <= self.chance

    async def run(self, ctx):
        addresses, words, answers, asked, given = deque(), deque(), deque(), deque(), deque()
        names = ("awvalid", "awaddr", "wvalid", "wdata", "bready", "arvalid", "araddr", "rready")
        b = r = False
        while not self.stopped:
            readies = {name: self.goes() for name in ("awready", "wready", "arready")}
            for name, ready in readies.items():
                ctx.set(self.get(name), ready)
            b, r = b or (bool(answers) and self.goes()), r or (bool(given) and self.goes())
            ctx.set(self.get("bvalid"), b)
            ctx.set(self.get("rvalid"), r)
            if b:
                ctx.set(self.get("bresp"), answers[0])
            if r:
                ctx.set(self.get("rdata"), given[0][0])
                ctx.set(self.get("rresp"), given[0][1])
            *_, awvalid, awaddr, wvalid, wdata, bready, arvalid, araddr, rready = await ctx.tick().sample(
                *map(self.get, names)
            )
            if b and bready:
                answers.popleft()
                b = False
            if r and rready:
                given.popleft()
                r = False
            if awvalid and readies["awready"]:
                addresses.append(awaddr)
            if wvalid and readies["wready"]:
                words.append(wdata)
            if arvalid and readies["arready"]:
                asked.append(araddr)
            if addresses and words:
                address, word = addresses.popleft(), words.popleft()
                self.log.append(("write", address, word))
                known = address in self.registers
                if known:
                    self.registers[address] = word
                answers.append(0 if known else 2)
            if asked:
                address = asked.popleft()
                if self.on_read:
                    self.on_read(address)
                self.log.append(("read", address))
                given.append((self.registers.get(address, 0), 0 if address in self.registers else 2))


async def transfer(ctx, port, prefix, address, word=None):
    """A write of `word`, or a read: (data, response)."""
    get = lambda name: getattr(port, f"{prefix}_{name}")  # noqa: E731
    channels = {"ar": {"addr": address}} if word is None else {"aw": {"addr": address}, "w": {"data": word, "strb": 15}}
    for channel, fields in channels.items():
        for name, value in fields.items():
            ctx.set(get(f"{channel}{name}"), value)
        ctx.set(get(f"{channel}valid"), 1)
    answer, waiting = ("r", "rdata") if word is None else ("b", "bresp"), set(channels)
    while waiting:
        names = sorted(waiting)
        sampled = await ctx.tick().sample(*(get(f"{channel}ready") for channel in names))
        for channel, ready in zip(names, sampled[-len(names) :], strict=True):
            if ready:
                ctx.set(get(f"{channel}valid"), 0)
                waiting.discard(channel)
    ctx.set(get(f"{answer[0]}ready"), 1)
    while True:
        *_, valid, data, response = await ctx.tick().sample(
            get(f"{answer[0]}valid"), get(answer[1]), get(f"{answer[0]}resp")
        )
        if valid:
            ctx.set(get(f"{answer[0]}ready"), 0)
            return data, response
