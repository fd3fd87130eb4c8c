"""A serial line and what stands behind it, for the tests of the link's blocks in Amaranth's simulator."""

from __future__ import annotations

import random

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.axi import axi_stream

DIVISOR = 4


async def talk(ctx, pin, content: bytes, rng: random.Random, *, divisor=DIVISOR, stops=(1,), gap=3):
    """Send bytes over `pin`, each with a stop bit of `stops` (drawn), and random pauses behind them."""
    for byte in content:
        for bit in (0, *(byte >> i & 1 for i in range(8)), rng.choice(stops)):
            ctx.set(pin, bit)
            await ctx.tick().repeat(divisor)
        ctx.set(pin, 1)
        await ctx.tick().repeat(1 + rng.randrange(gap + 1) if gap else 1)


async def hear(ctx, pin, count, *, divisor=DIVISOR, limit=4000):
    """The next `count` bytes from `pin`, or as many as begin within `limit` cycles one after the other."""
    heard = bytearray()
    while len(heard) < count:
        waited = 0
        while ctx.get(pin):
            await ctx.tick()
            waited += 1
            if waited > limit:
                return bytes(heard)
        await ctx.tick().repeat(divisor // 2)
        assert not ctx.get(pin), "a start bit was too short"
        byte = 0
        for i in range(8):
            await ctx.tick().repeat(divisor)
            byte |= ctx.get(pin) << i
        await ctx.tick().repeat(divisor)
        assert ctx.get(pin), "a stop bit is missing"
        await ctx.tick().repeat(divisor // 2 - 1)  # to the end of the stop bit at the earliest
        heard.append(byte)
    return bytes(heard)


class Summing(wiring.Component):
    """A design for the link: for each unit of `beats` beats of A, `answers` beats of Y, the sum of all bytes and a
    count; it pauses on both sides at random, by a register that is shifted.
    """

    kind = "summing"

    def __init__(self, *, a_bytes, user_bytes, y_bytes, beats, answers):
        self.beats, self.answers = beats, answers
        self.a_bytes, self.user_bytes, self.y_bytes = a_bytes, user_bytes, y_bytes
        a = axi_stream("s_axis_a", 8 * a_bytes, In, user_bits=8 * user_bytes)
        super().__init__(a | axi_stream("m_axis_y", 8 * y_bytes, Out) | {"error": Out(1)})

    def elaborate(self, platform):
        m = Module()
        pauses = Signal(16, init=0xACE1)
        feedback = pauses[0] ^ pauses[2] ^ pauses[3] ^ pauses[5]
        m.d.sync += pauses.eq((feedback << 15) | (pauses >> 1))
        total = Signal(8 * self.y_bytes)
        beat = Signal(range(self.beats))
        left = Signal(range(self.answers + 1))
        taken = Signal()
        word = self.s_axis_a_tdata
        bytes_in = [word[i : i + 8] for i in range(0, len(word), 8)]
        if self.user_bytes:
            user = self.s_axis_a_tuser
            bytes_in += [user[i : i + 8] for i in range(0, len(user), 8)]
        m.d.comb += [
            self.s_axis_a_tready.eq((left == 0) & pauses[0]),
            taken.eq(self.s_axis_a_tvalid & self.s_axis_a_tready),
            self.m_axis_y_tdata.eq(total + left),
            self.m_axis_y_tlast.eq(left == 1),
        ]
        offered = Signal()
        m.d.comb += self.m_axis_y_tvalid.eq(offered)
        with m.If(taken):
            m.d.sync += [total.eq(sum(bytes_in, total)), beat.eq(beat + 1)]
            with m.If(self.s_axis_a_tlast != (beat == self.beats - 1)):
                m.d.sync += self.error.eq(1)
            with m.If(self.s_axis_a_tlast):
                m.d.sync += [left.eq(self.answers), beat.eq(0)]
        with m.If((left != 0) & ~offered & pauses[1]):
            m.d.sync += offered.eq(1)
        with m.If(offered & self.m_axis_y_tready):
            m.d.sync += [offered.eq(0), left.eq(left - 1)]
            with m.If(left == 1):
                m.d.sync += total.eq(0)
        return m

    @property
    def unit_bytes(self):
        return self.beats * (self.a_bytes + self.user_bytes)

    def answer(self, operands: bytes) -> bytes:
        """What it gives for a unit."""
        total = sum(operands)
        words = [(total + left) % (1 << 8 * self.y_bytes) for left in range(self.answers, 0, -1)]
        return b"".join(word.to_bytes(self.y_bytes, "little") for word in words)
