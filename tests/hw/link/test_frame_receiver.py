"""The receiver of frames: each end has the status that its line deserves, and after each the next frame is whole."""

from __future__ import annotations

import random
import zlib

import pytest

from systoliq.hw.link.frame_receiver import FrameReceiver
from systoliq.hw.link.framing import Status, encode

from ..bench import simulate

CAPACITY = 9
DIVISOR = 2
TIMEOUT = 16


class Bench:
    """Feeds line bytes to a receiver, keeps the memory it writes, and takes the ends that it hands on."""

    def __init__(self, *, takes=lambda: True, capacity=CAPACITY):
        self.component = FrameReceiver(capacity, timeout_bits=TIMEOUT)
        self.memory = [0] * capacity
        self.ends = []
        self.done = False
        self.takes = takes

    async def byte(self, ctx, byte, broken=0):
        c = self.component
        ctx.set(c.byte, {"data": byte, "broken": broken})
        ctx.set(c.valid, 1)
        await ctx.tick()
        ctx.set(c.valid, 0)
        await ctx.tick().repeat(6)

    async def line(self, ctx, content):
        for byte in content:
            await self.byte(ctx, byte)

    async def watch(self, ctx):
        c = self.component
        while not self.done:
            ready = self.takes()
            ctx.set(c.o.ready, ready)
            signals = (c.o.valid, c.o.payload.status, c.o.payload.sequence, c.o.payload.command, c.o.payload.length)
            *_, write, address, operand, valid, status, sequence, command, length = await ctx.tick().sample(
                c.write, c.address, c.operand, *signals
            )
            if write:
                self.memory[address] = operand
            if valid and ready:
                self.ends.append((Status(status), sequence, command, length, bytes(self.memory)))

    def run(self, script):
        async def testbench(ctx):
            ctx.set(self.component.divisor, DIVISOR)
            await script(ctx)
            await ctx.tick().repeat(20)
            self.done = True

        simulate(self.component, testbench, self.watch, limit=400_000)
        return self.ends


@pytest.mark.parametrize("length", [0, 1, 5, CAPACITY])
def test_a_whole_frame_ends_well_and_its_operands_are_in_memory(length):
    rng = random.Random(length)
    operands = bytes(rng.choice([0x7E, 0x7D, rng.randrange(256)]) for _ in range(length))
    bench = Bench()
    ends = bench.run(lambda ctx: bench.line(ctx, encode(bytes([77, 3]) + operands)))
    ((status, sequence, command, found, memory),) = ends
    assert (status, sequence, command, found) == (Status.OK, 77, 3, length)
    assert memory[:length] == operands


GOOD = encode(b"\x07\x01goodgood!")


def broken_check(content: bytes) -> bytes:
    return encode(content)[:-2] + bytes([encode(content)[-2] ^ 1, 0x7E])


@pytest.mark.parametrize(
    ("line", "status", "sequence"),
    [
        (broken_check(b"\x09\x01abcdefghi"), Status.CHECK, 9),
        (encode(b"\x09\x01abcdefghij"), Status.LENGTH, 9),  # one more than there is room for
        (encode(b"\x09\x01" + bytes(300)), Status.LENGTH, 9),
        (b"~\x09~", Status.LENGTH, 9),
        (b"~\x09\x01abc~", Status.LENGTH, 9),
        (b"~\x09\x01abcdef\x7d~", Status.ABORTED, 9),
        (b"~\x7d~", Status.ABORTED, 0),
        (encode(b"\x09\x01abcdefghi")[:-1], Status.TIMEOUT, 9),
        (b"\x7d", Status.TIMEOUT, 0),
        (b"\x00", Status.TIMEOUT, 0),
    ],
)
def test_each_fault_has_its_name_and_the_next_frame_is_whole(line, status, sequence):
    bench = Bench()

    async def script(ctx):
        await bench.line(ctx, line)
        if status is Status.TIMEOUT:
            await ctx.tick().repeat(DIVISOR * (TIMEOUT + 4))
        await bench.line(ctx, GOOD)

    first, second = bench.run(script)
    assert first[:2] == (status, sequence)
    assert second == (Status.OK, 7, 1, 9, b"goodgood!")


@pytest.mark.parametrize("divisor", [2, 5])
def test_a_frame_times_out_after_the_exact_number_of_bits(divisor):
    bench, waited = Bench(), []

    async def script(ctx):
        component = bench.component
        ctx.set(component.divisor, divisor)
        await bench.byte(ctx, 3)
        cycles = 6
        while ctx.get(component.open):
            await ctx.tick()
            cycles += 1
        waited.append(cycles)

    ((status, *_),) = bench.run(script)
    assert (status, waited) == (Status.TIMEOUT, [divisor * TIMEOUT + 1])


def test_a_byte_without_stop_bit_is_a_fault_of_the_line():
    bench = Bench()

    async def script(ctx):
        for index, byte in enumerate(encode(b"\x09\x01abcdefghi")):
            await bench.byte(ctx, byte, broken=index == 5)
        await bench.byte(ctx, 0x7E, broken=1)  # no flag
        await ctx.tick().repeat(DIVISOR * (TIMEOUT + 4))
        await bench.line(ctx, GOOD)

    ends = bench.run(script)
    assert [end[0] for end in ends] == [Status.LINE, Status.LINE, Status.OK]


def test_flags_without_content_are_no_frames_and_close_frames_may_share_one():
    bench = Bench()
    ends = bench.run(lambda ctx: bench.line(ctx, b"~~~" + GOOD[:-1] + GOOD + b"~~"))
    assert [end[0] for end in ends] == [Status.OK, Status.OK]


def test_what_comes_while_the_memory_is_held_is_not_written_and_ends_busy():
    bench = Bench()
    component = bench.component

    async def script(ctx):
        await bench.line(ctx, GOOD)
        for at in (3, 9):  # hold begins, or ends, within the frame
            for index, byte in enumerate(encode(b"\x08\x01badbadbad")):
                ctx.set(component.hold, (index >= at) if at == 3 else (index < at))
                await bench.byte(ctx, byte)
            ctx.set(component.hold, 0)
        await bench.line(ctx, GOOD)

    ends = bench.run(script)
    assert [end[0] for end in ends] == [Status.OK, Status.BUSY, Status.BUSY, Status.OK]
    assert ends[0][4] == ends[3][4] == b"goodgood!"


def test_an_end_waits_until_it_is_taken_and_one_that_comes_meanwhile_is_lost():
    taking = False
    bench = Bench(takes=lambda: taking)

    async def script(ctx):
        nonlocal taking
        await bench.line(ctx, GOOD)
        await bench.line(ctx, encode(b"\x08\x01badbadbad"))
        taking = True
        await ctx.tick().repeat(3)
        await bench.line(ctx, encode(b"\x0a\x00"))

    ends = bench.run(script)
    assert [(end[0], end[1]) for end in ends] == [(Status.OK, 7), (Status.OK, 10)]
    assert ends[0][4] == b"goodgood!"


def test_random_lines_give_what_zlib_says():
    """Frames with faults drawn at random, noise between them: OK exactly where content and check agree."""
    rng = random.Random(18)
    bench = Bench()
    lines, rights = [], []
    for number in range(60):
        content = bytes([number, rng.randrange(3)]) + rng.randbytes(rng.randrange(CAPACITY + 1))
        line = bytearray(encode(content))
        if rng.random() < 0.6:
            at = rng.randrange(1, len(line) - 1)
            fault = rng.choice(["flip", "drop", "insert", "cut"])
            if fault == "flip":
                line[at] ^= 1 << rng.randrange(8)
            elif fault == "drop":
                del line[at]
            elif fault == "insert":
                line.insert(at, rng.randrange(256))
            else:
                del line[at:-1]
        lines.append(bytes(line))
        rights += [held for held in unstuffed(bytes(line)) if held is not None]

    ends = bench.run(lambda ctx: bench.line(ctx, b"".join(lines)))
    found = [
        (sequence, command, memory[:length])
        for status, sequence, command, length, memory in ends
        if status is Status.OK
    ]
    assert found == [(held[0], held[1], held[2:-4]) for held in rights]
    assert 15 < len(found) < 45


def unstuffed(line):
    """The checked content of each frame between flags, None where it is no frame; by RFC 1662's own words."""
    for part in line.split(b"\x7e"):
        held, escaped = bytearray(), False
        for byte in part:
            if byte == 0x7D and not escaped:
                escaped = True
                continue
            held.append(byte ^ 0x20 if escaped else byte)
            escaped = False
        if not part:
            continue
        good = not escaped and 6 <= len(held) <= CAPACITY + 6
        yield bytes(held) if good and zlib.crc32(held[:-4]) == int.from_bytes(held[-4:], "little") else None
