"""A memory on AXI4 ports, for benches in Amaranth's simulator: random stalls, latency, errors, the protocol's rules."""

from __future__ import annotations

import dataclasses
import random
from collections import deque


@dataclasses.dataclass(kw_only=True)
class Memory:
    """`contents` from address 0 on; `chance`: of going on in a cycle; an access to a byte of `broken` is an error.

    Of writes at the most `ahead` addresses are taken before their data.
    """

    contents: bytearray
    rng: random.Random
    chance: float = 1.0
    latency: int = 5
    ahead: int = 1000
    broken: range = range(0)
    read_beats: int = 0
    bursts: list[tuple[str, int, int]] = dataclasses.field(default_factory=list)
    under_way: int = 0
    stopped: bool = False

    def goes(self):
        return self.rng.random() <= self.chance

    def check(self, kind, address, length, size, burst, bus):
        """The rules of a burst; noted in `bursts`."""
        assert burst == 1, "INCR"
        assert 1 << size == bus
        assert address % bus == 0
        end = address + (length + 1) * bus - 1
        assert address // 4096 == end // 4096, "a burst crosses 4 KiB"
        self.bursts.append((kind, address, length + 1))

    def beat(self, address, bus):
        """A beat, and its response."""
        at = address % (1 << 32)
        if any(at + i in self.broken for i in range(bus)) or at + bus > len(self.contents):
            return self.rng.getrandbits(8 * bus), self.rng.choice([2, 3])
        return int.from_bytes(self.contents[at : at + bus], "little"), self.rng.choice([0, 1])

    async def reads(self, ctx, port, bus, prefix="m_"):
        """Answer what `port` asks for, until `stopped`."""
        get = lambda name: getattr(port, f"{prefix}{name}")  # noqa: E731
        queue, cycle, offered, kept = deque(), 0, False, None
        while not self.stopped:
            arready = self.goes()
            ctx.set(get("arready"), arready)
            beat = None
            if queue and (offered or (queue[0][0] <= cycle and self.goes())):
                offered = True
                beat = queue[0]
                ctx.set(get("rdata"), beat[1])
                ctx.set(get("rresp"), beat[2])
                ctx.set(get("rlast"), beat[3])
            ctx.set(get("rvalid"), beat is not None)
            names = ("arvalid", "araddr", "arlen", "arsize", "arburst", "rready")
            *_, arvalid, araddr, arlen, arsize, arburst, rready = await ctx.tick().sample(*(get(n) for n in names))
            asked = (arvalid, araddr, arlen)
            assert kept is None or asked == kept, "an address was withdrawn or changed"
            kept = asked if arvalid and not arready else None
            cycle += 1
            if arvalid and arready:
                self.check("read", araddr, arlen, arsize, arburst, bus)
                for index in range(arlen + 1):
                    data, response = self.beat(araddr + index * bus, bus)
                    queue.append((cycle + self.latency, data, response, index == arlen))
            if beat is not None and rready:
                queue.popleft()
                self.read_beats += 1
                offered = False
            self.under_way = len(queue)

    def put(self, address, data, strobe, bus):
        """A beat of a write, and whether it went wrong."""
        if any(
            strobe >> i & 1 and (address + i in self.broken or address + i >= len(self.contents)) for i in range(bus)
        ):
            return True
        for i in range(bus):
            if strobe >> i & 1:
                self.contents[address + i] = data >> 8 * i & 0xFF
        return False

    async def writes(self, ctx, port, bus, prefix="m_"):
        """Take what `port` writes, until `stopped`."""
        get = lambda name: getattr(port, f"{prefix}{name}")  # noqa: E731
        names = ("awvalid", "awaddr", "awlen", "awsize", "awburst", "wvalid", "wdata", "wstrb", "wlast", "bready")
        bursts, beats, answers, cycle = deque(), deque(), deque(), 0
        offered, kept, kept_beat = False, None, None
        while not self.stopped:
            awready, wready = self.goes() and len(bursts) < self.ahead, self.goes()
            ctx.set(get("awready"), awready)
            ctx.set(get("wready"), wready)
            offered = bool(answers) and (offered or (answers[0][0] <= cycle and self.goes()))
            ctx.set(get("bvalid"), offered)
            if offered:
                ctx.set(get("bresp"), answers[0][1])
            *_, awvalid, awaddr, awlen, awsize, awburst, wvalid, wdata, wstrb, wlast, bready = await ctx.tick().sample(
                *(get(name) for name in names)
            )
            asked, beat = (awvalid, awaddr, awlen), (wvalid, wdata, wstrb, wlast)
            assert kept is None or asked == kept, "an address was withdrawn or changed"
            assert kept_beat is None or beat == kept_beat, "a beat was withdrawn or changed"
            kept = asked if awvalid and not awready else None
            kept_beat = beat if wvalid and not wready else None
            cycle += 1
            if awvalid and awready:
                self.check("write", awaddr, awlen, awsize, awburst, bus)
                bursts.append((awaddr, awlen + 1))
            if wvalid and wready:
                beats.append((wdata, wstrb, wlast))
            if offered and bready:
                answers.popleft()
                offered = False
            while bursts and len(beats) >= bursts[0][1]:
                at, count = bursts.popleft()
                wrong = False
                for index in range(count):
                    data, strobe, last = beats.popleft()
                    assert last == (index == count - 1), "wlast"
                    wrong |= self.put(at + index * bus, data, strobe, bus)
                answers.append((cycle + self.latency, self.rng.choice([2, 3]) if wrong else 0))
            self.under_way = len(bursts) + len(answers) + bool(beats)


class Stopwatch:
    """Counts cycles, as a testbench beside others, until `stopped`."""

    def __init__(self):
        self.cycles, self.stopped = 0, False

    async def run(self, ctx):
        while not self.stopped:
            await ctx.tick()
            self.cycles += 1
