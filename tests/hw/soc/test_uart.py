"""The UART: each byte as a start bit, eight bits and a stop bit, of as many cycles as were asked for."""

from __future__ import annotations

import pytest

from systoliq.hw.soc.uart import UartTransmitter

from ..bench import simulate, wait


@pytest.mark.parametrize("divider", [1, 2, 6])
def test_bytes_on_the_line(divider):
    block, sent = UartTransmitter(), [0x00, 0xFF, 0x55, 0xA3, 0x80, 0x01]

    async def testbench(ctx):
        ctx.set(block.divider, divider)
        for byte in sent:
            ctx.set(block.byte, byte)
            ctx.set(block.start, 1)
            await ctx.tick()
            ctx.set(block.byte, 0)  # it counts in the cycle of its start only
            bits = []
            for _ in range(10):
                line = set()
                for _ in range(divider + 1):
                    assert ctx.get(block.busy)
                    line.add(ctx.get(block.tx))
                    ctx.set(block.start, len(bits) < 9)  # ignored while busy
                    await ctx.tick()
                assert len(line) == 1
                bits += line
            ctx.set(block.start, 0)
            assert bits == [0, *(byte >> bit & 1 for bit in range(8)), 1]
            assert not ctx.get(block.busy)
            await wait(ctx, 3)
            assert ctx.get(block.tx)

    simulate(block, testbench)
