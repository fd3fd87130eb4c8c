"""The answerer: what it answers to each end of a frame, and that it starts the design for good operands alone."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.link.answerer import Answerer
from systoliq.hw.link.framing import Command, Status

from ..bench import receive, send, simulate

CAPACITY = 6


@pytest.mark.parametrize("y_bytes", [1, 3])
def test_answers(y_bytes):
    rng = random.Random(y_bytes)
    identity = bytes([1, 0xAB, 0xCD])
    component = Answerer(capacity=CAPACITY, y_bytes=y_bytes, identity=identity)
    results = [[rng.randbytes(y_bytes) for _ in range(rng.randrange(1, 4))] for _ in range(80)]
    ends, answers, units, failed = [], [], iter(results), []
    for number in range(80):
        status = rng.choice([Status.OK] * 6 + [Status.CHECK, Status.TIMEOUT])
        command = rng.choice([Command.RUN, Command.RUN, Command.IDENTIFY, 2, 255])
        length = rng.choice([CAPACITY, CAPACITY, 0, CAPACITY - 1, CAPACITY + 1])
        ends.append({"status": status, "sequence": number, "command": command, "length": length})
        if status == Status.OK:
            if command > 1:
                status = Status.COMMAND
            elif length != (CAPACITY if command == Command.RUN else 0):
                status = Status.LENGTH
        content = bytes([number, status])
        if status == Status.OK:
            content += b"".join(next(units)) if command == Command.RUN else identity
        failed.append(status != Status.OK)
        answers.append(content)
    ran = sum(end["command"] == Command.RUN and answer[1] == 0 for end, answer in zip(ends, answers, strict=True))
    assert ran > 4
    starts, heard, lights = [], [], []

    async def sender(ctx):
        for end in ends:
            await send(ctx, component.ended, [end], rng, 0.4)

    async def design(ctx):
        for unit in results[:ran]:
            await ctx.tick().until(component.start)
            starts.append(len(heard))
            for index, word in enumerate(unit):
                beat = {"bits": int.from_bytes(word, "little"), "last": index == len(unit) - 1}
                await send(ctx, component.y, [beat], rng, 0.4)

    async def receiver(ctx):
        for answer in answers:
            content = await receive(ctx, component.o, len(answer), rng, 0.7)
            heard.append(bytes(byte & 0xFF for byte in content))
            assert [byte >> 8 for byte in content] == [0] * (len(answer) - 1) + [1]
            lights.append(bool(ctx.get(component.failed)))

    simulate(component, sender, design, receiver, limit=40_000)
    assert heard == answers
    assert lights == failed
    assert starts == [index for index, end in enumerate(ends) if end["command"] == 1 and answers[index][1] == 0]
