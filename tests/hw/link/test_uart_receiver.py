"""The serial line's receiver: bytes at any divisor and pace, within a line's tolerance, and broken ones named."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.link.uart_receiver import UartReceiver

from ..bench import simulate
from .line import talk


def received(divisor, sends, *, tail=60):
    """What comes out of the receiver while `sends(ctx, pin)` runs."""
    component = UartReceiver()
    found = []
    done = False

    async def sender(ctx):
        nonlocal done
        ctx.set(component.divisor, divisor)
        ctx.set(component.rx, 1)
        await ctx.tick().repeat(5)
        await sends(ctx, component.rx)
        ctx.set(component.rx, 1)
        await ctx.tick().repeat(tail)
        done = True

    async def watcher(ctx):
        while not done:
            _, _, valid, data, broken = await ctx.tick().sample(
                component.valid, component.byte.data, component.byte.broken
            )
            if valid:
                found.append((data, broken))

    simulate(component, sender, watcher, limit=60_000)
    return found


@pytest.mark.parametrize("divisor", [4, 5, 7, 16, 104])
def test_bytes_come_whole(divisor):
    rng = random.Random(divisor)
    sent = bytes([0, 255, 0x55, 0xAA, *rng.randbytes(4)])
    found = received(divisor, lambda ctx, pin: talk(ctx, pin, sent, rng, divisor=divisor, gap=rng.choice([0, 3])))
    assert found == [(byte, 0) for byte in sent]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("divisor", "sender"), [(100, 96), (100, 104), (32, 31), (32, 33)])
def test_a_sender_may_be_four_percent_off(divisor, sender):
    rng = random.Random(divisor)
    sent = rng.randbytes(8)
    assert received(divisor, lambda ctx, pin: talk(ctx, pin, sent, rng, divisor=sender, gap=0)) == [
        (b, 0) for b in sent
    ]


def test_a_byte_without_its_stop_bit_is_broken_and_the_next_is_whole():
    rng = random.Random(1)

    async def sends(ctx, pin):
        await talk(ctx, pin, b"\x12\x00", rng, stops=(0,), gap=9)
        await talk(ctx, pin, b"\x34", rng)
        ctx.set(pin, 0)  # a line that is held, as of a plug that was pulled, gives one broken byte
        await ctx.tick().repeat(500)
        ctx.set(pin, 1)
        await ctx.tick().repeat(9)
        await talk(ctx, pin, b"\x56", rng)

    assert received(4, sends) == [(0x12, 1), (0, 1), (0x34, 0), (0, 1), (0x56, 0)]


def test_a_spike_is_no_start_bit():
    rng = random.Random(2)

    async def sends(ctx, pin):
        for length in (1, 2, 3, 7):
            ctx.set(pin, 0)
            await ctx.tick().repeat(length)
            ctx.set(pin, 1)
            await ctx.tick().repeat(20)
        await talk(ctx, pin, b"\x9a", rng, divisor=16)

    assert received(16, sends, tail=200) == [(0x9A, 0)]
