"""The operand buffer: words by their number, again and again until released, and room for as many as there are."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal, unsigned

from systoliq.hw.block_ram import BlockRam
from systoliq.hw.engine.operand_buffer import OperandBuffer

from ..bench import simulate

SHAPE = unsigned(12)


def run(depth, cells, comes, reads, *, reset_at=None, cycles=450):
    block = OperandBuffer(SHAPE, depth=depth, cells=cells, kind="buffer")
    rng, reset = random.Random(depth), Signal()
    reached = set()

    async def testbench(ctx):
        words, came, releases, shows = [], [], [], {}
        fresh = released = 0
        will_be_room = will_be_unread = None  # as it was said a cycle ahead
        for cycle in range(cycles):
            if cycle == reset_at:
                ctx.set(reset, 1)
                for port in (block.put, block.look, block.read, block.release):
                    ctx.set(port, 0)
                await ctx.tick()
                ctx.set(reset, 0)
                words, came, releases, shows, fresh, released = [], [], [], {}, 0, 0
                will_be_room = will_be_unread = None
                continue
            readable = sum(cycle >= at + OperandBuffer.latency for at in came)
            available = fresh < readable
            assert will_be_unread in (None, available)
            given_back = sum(cycle >= at + 2 for at in releases)
            room = len(words) - given_back < depth
            assert will_be_room in (None, room)
            reached.add((len(words) - given_back, available))
            puts = room and rng.random() < comes
            word = rng.getrandbits(12)
            ctx.set(block.put, puts)
            ctx.set(block.i, word)

            takes = available and rng.random() < reads
            again = not takes and fresh > released and rng.random() < 0.6
            number = rng.randrange(released, fresh) if again else fresh
            ctx.set(block.read, takes or again)
            ctx.set(block.look, takes or again or (fresh < readable and rng.random() < 0.5))
            ctx.set(block.fresh, takes)
            ctx.set(block.address, number % depth)
            if takes or again:
                shows[cycle + BlockRam.latency_of(cells)] = words[number]
            fresh += takes
            release = released < fresh and rng.random() < (0.9 if cycle // 60 % 2 else 0.1)
            ctx.set(block.release, release)
            if release:
                releases.append(cycle)
                released += 1
            if cycle in shows:
                assert ctx.get(block.word) == shows[cycle]
            if puts:
                words.append(word)
                came.append(cycle)
            will_be_room, will_be_unread = ctx.get(block.more if puts else block.room), ctx.get(block.coming)
            await ctx.tick()

    simulate(block, testbench, reset=reset)
    return reached


@pytest.mark.parametrize("depth", [4, 8, 64])
@pytest.mark.parametrize("cells", ["portable", "ice40"])
@pytest.mark.parametrize(("comes", "reads"), [(1.0, 1.0), (0.4, 0.9), (0.9, 0.4)])
def test_words_stay_until_released(depth, cells, comes, reads):
    reached = run(depth, cells, comes, reads)
    held = {count for count, _ in reached}
    assert 0 in held
    assert depth in held or comes < 1 or depth > 8  # it was full


@pytest.mark.parametrize("reset_at", [3, 40, 150])
def test_reset_empties_it(reset_at):
    run(8, "portable", 0.8, 0.7, reset_at=reset_at)
