"""The packer of Y: all results and no others, every beat full but the last; what an abort leaves."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal

from systoliq.hw.engine.y_packer import YPacker

from ..bench import simulate, wait

PARTS = 4


class Bench:
    """Jobs of random beats through a packer of `lanes`, both ends stalling."""

    def __init__(self, lanes, chance, seed, bits=8):
        self.block = YPacker(lanes, bits=bits)
        self.lanes, self.bits, self.chance = lanes, bits, chance
        self.rng = random.Random(seed)
        self.cycle = 0
        self.offered = None
        self.beats = []  # (bits of data, keep, last) taken by the receiver, and when

    def job(self, count, wide):
        """(beats, results): of `count` beats, most of them full; their results as the packer is to give them."""
        beats = []
        for beat in range(count):
            columns = self.lanes if self.rng.random() < 0.5 else self.rng.randrange(1, self.lanes + 1)
            values = [self.rng.getrandbits(self.bits) for _ in range(self.lanes)]
            beats.append({"data": values, "columns": columns, "last": beat == count - 1})
        mask = (1 << self.bits if wide else 1 << self.bits // PARTS) - 1
        return beats, [value & mask for beat in beats for value in beat["data"][: beat["columns"]]]

    async def tick(self, ctx, beat, *, ready=None):
        """A cycle; gives whether `beat`, which is offered, was taken."""
        block = self.block
        if beat is not None:
            ctx.set(block.i.payload, beat)
        ctx.set(block.i.valid, beat is not None)
        ready = self.rng.random() <= self.chance if ready is None else ready
        ctx.set(block.o.ready, ready)
        o = block.o.payload
        *_, taken, valid, word, keep, last = await ctx.tick().sample(
            block.i.ready, block.o.valid, o.data, o.keep, o.last
        )
        shown = (word, keep, last)
        assert self.offered is None or (valid, shown) == (1, self.offered), "an offer was withdrawn or changed"
        self.offered = shown if valid and not ready else None
        if valid and ready:
            self.beats.append((*shown, self.cycle))
        self.cycle += 1
        return beat is not None and taken

    async def run(self, ctx, beats, *, limit=2000):
        """Send all `beats` and let the job leave; gives the cycle in which the last one was taken."""
        queue, begins, ends = list(beats), self.cycle, None
        beat = None
        while queue or beat is not None or not self.beats or not self.beats[-1][2]:
            if beat is None and queue and self.rng.random() <= self.chance:
                beat = queue.pop(0)
            if await self.tick(ctx, beat):
                beat, ends = None, self.cycle - 1
            assert self.cycle < begins + limit
        return ends

    def check(self, results, wide):
        """That the beats hold `results`, are full but for the last, and end there."""
        each = self.bits if wide else self.bits // PARTS
        word = sum(value << i * each for i, value in enumerate(results))
        width, parts = self.lanes * self.bits, self.lanes * PARTS
        kept = (1 << len(results) * (PARTS if wide else 1)) - 1
        count = -(-len(results) * each // width)
        assert [beat[0] for beat in self.beats] == [word >> i * width & (1 << width) - 1 for i in range(count)]
        assert [beat[1] for beat in self.beats] == [kept >> i * parts & (1 << parts) - 1 for i in range(count)]
        assert [beat[2] for beat in self.beats] == [0] * (count - 1) + [1]


def run(bench, scenario, reset=None):
    async def testbench(ctx):
        await scenario(ctx)

    simulate(bench.block, testbench, reset=reset)


@pytest.mark.parametrize("lanes", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("chance", [1.0, 0.5])
def test_results_of_job_after_job(lanes, chance):
    bench = Bench(lanes, chance, seed=lanes)

    async def scenario(ctx):
        for count in (1, 2, 3, 5, 9, 1, 12):
            wide = bench.rng.random() < 0.5
            ctx.set(bench.block.wide, wide)
            for _ in range(4):
                await bench.tick(ctx, None)
            assert ctx.get(bench.block.idle)
            beats, results = bench.job(count, wide)
            bench.beats.clear()
            ends = await bench.run(ctx, beats)
            bench.check(results, wide)
            if chance == 1:
                extra = bench.block.extra(len(results), beats[-1]["columns"])
                assert bench.beats[-1][3] - ends == bench.block.latency + extra

    run(bench, scenario)


@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize("by", ["abort", "reset"])
@pytest.mark.parametrize("wide", [0, 1])
def test_what_an_abort_and_a_reset_leave(lanes, by, wide):
    bench, reset = Bench(lanes, 0.7, seed=lanes), Signal()

    async def scenario(ctx):
        ctx.set(bench.block.wide, wide)
        await wait(ctx, 3)
        for cycles in range(1, 40, 4):  # until it comes
            beats, _ = bench.job(60, wide)
            bench.beats.clear()
            for _ in range(cycles):
                if await bench.tick(ctx, beats[0]):
                    beats.pop(0)
            begun = bool(bench.beats) or bench.offered is not None
            ctx.set(bench.block.abort if by == "abort" else reset, 1)
            await bench.tick(ctx, None)
            if by == "reset":
                bench.offered = None
            ctx.set(bench.block.abort if by == "abort" else reset, 0)
            before = len(bench.beats)
            for _ in range(20):
                await bench.tick(ctx, None, ready=True)
            assert ctx.get(bench.block.idle)
            if by == "reset":
                assert len(bench.beats) == before
            elif begun or bench.beats:
                assert bench.beats[-1][2] == 1
                assert bench.beats[-1][1] == (1 << lanes * PARTS) - 1
                assert sum(beat[2] for beat in bench.beats) == 1
            beats, results = bench.job(5, wide)
            bench.beats.clear()
            await bench.run(ctx, beats)
            bench.check(results, wide)
            for _ in range(4):
                await bench.tick(ctx, None)

    run(bench, scenario, reset)


def test_bits_are_a_multiple_of_4():
    with pytest.raises(ValueError, match="bits must be a multiple of 4, not 6"):
        YPacker(2, bits=6)
