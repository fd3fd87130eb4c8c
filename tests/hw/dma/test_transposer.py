"""The transposer: columns of blocks of any number of rows and elements, at a word a cycle, whatever stalls."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal

from systoliq.hw.dma.transposer import Transposer, column_word

from ..bench import receive, send, simulate, wait
from .memory import Stopwatch

SIZES = [(4, 4, 1), (8, 16, 1), (16, 4, 1), (5, 8, 2), (3, 4, 4), (16, 16, 1), (1, 4, 1)]  # rows, bus, depth


def blocks_of(rng, rows, bus, depth, count):
    """Blocks of rows of bytes, the last of which ends a walk."""
    blocks = []
    for index in range(count):
        size = bus if index % 3 == 0 else rng.randrange(1, bus + 1)
        blocks.append([rng.randbytes(size) for _ in range(rows if index % 4 else rng.randrange(1, rows + 1))])
    return blocks


def with_moved(rng, blocks):
    """Behind some blocks, up to 40 with the rows before, moved up by one, and a new one: [(block, whether moved)]."""
    found = []
    for block in blocks:
        found.append((block, False))
        for _ in range(rng.choice([0, 0, 1, 2, 40])):
            found.append(([*found[-1][0][1:], rng.randbytes(len(block[0]))], True))
    return found


def payloads(blocks, bus, rng):
    """The words of `blocks`, or of (block, whether it is moved)."""
    pairs = [block if isinstance(block, tuple) else (block, False) for block in blocks]
    for number, (block, moved) in enumerate(pairs):
        for row in block[-1:] if moved else block:
            ends = row is block[-1]
            padded = row + rng.randbytes(bus - len(row))
            yield {
                "data": int.from_bytes(padded, "little"),
                "end": len(row) - 1,
                "last": 1,
                "mark": {"step_last": ends, "last": ends and number == len(pairs) - 1, "moved": moved},
            }


def right(payload, expected, rows, depth):
    """Whether a word of the output is a block's column, as far as that says what is there."""
    word = column_word(rows * depth).from_bits(payload)
    found = word.data.to_bytes(rows * depth, "little")
    column, last = expected
    pairs = zip(range(0, rows * depth, depth), column, strict=False)
    return word.last == last and all(found[at : at + len(element)] == element for at, element in pairs)


def columns(blocks, depth):
    for block in blocks:
        size = len(block[0])
        for at in range(0, size, depth):
            last = block is blocks[-1] and at + depth >= size
            yield [row[at : at + depth] for row in block], last


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("rows", "bus", "depth"), SIZES)
@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (0.5, 1.0), (1.0, 0.5), (0.6, 0.6)])
def test_columns_of_blocks(rows, bus, depth, comes, goes):
    rng, stopwatch = random.Random(rows), Stopwatch()
    block = Transposer(rows, bus, depth=depth, cells="portable")
    pairs = with_moved(rng, blocks_of(rng, rows, bus, depth, 14))
    expected = list(columns([rows for rows, _ in pairs], depth))
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, payloads(pairs, bus, rng), random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(expected), random.Random(2), goes))
        stopwatch.stopped = True
        await wait(ctx, 5)
        assert not ctx.get(block.o.valid)

    simulate(block, sender, receiver, stopwatch.run)
    assert all(right(word, column, rows, depth) for word, column in zip(taken, expected, strict=True))


def test_a_word_a_cycle_each_way():
    block, rng, stopwatch = Transposer(16, 16, depth=1, cells="portable"), random.Random(1), Stopwatch()
    blocks = [[rng.randbytes(16) for _ in range(16)] for _ in range(10)]

    async def sender(ctx):
        await send(ctx, block.i, payloads(blocks, 16, rng), rng)

    async def receiver(ctx):
        await receive(ctx, block.o, 1, rng)
        first = stopwatch.cycles
        assert first <= 16 + block.latency
        await receive(ctx, block.o, 159, rng)
        assert stopwatch.cycles - first == 159
        stopwatch.stopped = True

    simulate(block, sender, receiver, stopwatch.run)


def test_a_block_that_is_moved_takes_a_word():
    block, rng, stopwatch = Transposer(4, 8, depth=8, cells="portable"), random.Random(1), Stopwatch()
    rows = [rng.randbytes(8) for _ in range(64)]
    blocks = [(rows[at : at + 4], at > 0) for at in range(61)]
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, payloads(blocks, 8, rng), rng)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, 1, rng))
        first = stopwatch.cycles
        taken.extend(await receive(ctx, block.o, 60, rng))
        assert stopwatch.cycles - first == 60
        stopwatch.stopped = True

    simulate(block, sender, receiver, stopwatch.run)
    expected = columns([block for block, _ in blocks], 8)
    assert all(right(word, column, 4, 8) for word, column in zip(taken, expected, strict=True))


def test_a_reset_forgets_what_is_inside():
    block, rng, reset = Transposer(4, 4, depth=1, cells="portable"), random.Random(1), Signal()
    before, after = ([[rng.randbytes(4) for _ in range(4)] for _ in range(2)] for _ in range(2))
    taken = []

    async def testbench(ctx):
        await send(ctx, block.i, list(payloads(before, 4, rng))[:6], rng)
        await receive(ctx, block.o, 1, rng)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        await send(ctx, block.i, payloads(after, 4, rng), rng)
        taken.extend(await receive(ctx, block.o, 8, rng))

    simulate(block, testbench, reset=reset)
    assert all(right(word, column, 4, 1) for word, column in zip(taken, columns(after, 1), strict=True))


def test_an_element_is_part_of_a_word():
    with pytest.raises(ValueError, match="depth must divide the bus's 4 bytes, not be 3"):
        Transposer(4, 4, depth=3, cells="portable")
