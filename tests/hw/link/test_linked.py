"""The whole link in Amaranth's simulator: a small design behind a serial line, drawn at random, with faults between."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.link import VERSION, Command, Deframer, FrameError, Linked, Status, encode, request

from ..bench import simulate
from .line import DIVISOR, Summing, hear, talk

IDENTITY = bytes([VERSION]) + b"someones"


@pytest.mark.sampled(99)
@pytest.mark.parametrize("seed", range(4))
def test_requests_are_answered_and_faults_are_named(seed):
    rng = random.Random(seed)
    design = Summing(
        a_bytes=rng.choice([1, 2, 3]), user_bytes=rng.choice([0, 1]), y_bytes=rng.choice([1, 2]),
        beats=rng.choice([1, 2, 5]), answers=rng.choice([1, 3]),
    )  # fmt: skip
    link = Linked(design, beats=design.beats, identity=IDENTITY, timeout_bits=30)
    assert link.unit_bytes == design.unit_bytes
    answers = []

    async def ask(ctx, line, *, stops=(1,)):
        await talk(ctx, link.rx, line, rng, stops=stops)
        deframer, found = Deframer(100), []
        while not found:
            heard = await hear(ctx, link.tx, 1)
            assert heard, "no answer came"
            found = list(deframer.feed(heard))
        assert not isinstance(found[0], FrameError)
        answers.append(found[0])
        return found[0]

    async def testbench(ctx):
        ctx.set(link.divisor, DIVISOR)
        ctx.set(link.rx, 1)
        await ctx.tick().repeat(10)
        assert await ask(ctx, request(1, Command.IDENTIFY)) == bytes([1, Status.OK]) + IDENTITY
        for number in range(2, 6):
            operands = rng.randbytes(design.unit_bytes)
            right = bytes([number, Status.OK]) + design.answer(operands)
            good = request(number, Command.RUN, operands)
            assert await ask(ctx, good) == right
            assert not ctx.get(link.failed)
            fault = rng.choice(["check", "length", "command", "timeout", "line"])
            if fault == "check":
                bad = encode(bytes([9, 1]) + operands)
                await ask(ctx, bad[:3] + bytes([bad[3] ^ 4 if bad[3] ^ 4 not in (0x7E, 0x7D) else 0x11]) + bad[4:])
            elif fault == "length":
                await ask(ctx, request(9, Command.RUN, operands + b"x"))
            elif fault == "command":
                await ask(ctx, request(9, 7, operands))
            elif fault == "timeout":
                await ask(ctx, good[: rng.randrange(2, len(good) - 1)])
            else:
                await ask(ctx, good[:3], stops=(0,))
            assert Status(answers[-1][1]).name.lower() in (fault, "length", "aborted")
            assert answers[-1][1] != Status.OK
            assert len(answers[-1]) == 2
            assert ctx.get(link.failed)
            assert await ask(ctx, good) == right, "the link works again"
        assert not ctx.get(design.error)
        await ctx.tick().repeat(20)
        assert not ctx.get(link.busy)
        assert not ctx.get(link.receiving)

    simulate(link, testbench, limit=120_000)
