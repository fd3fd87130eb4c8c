"""Peripherals: registers by their description, bytes on the line, and the note of a fault."""

from __future__ import annotations

from systoliq.hw.soc.peripherals import Peripherals
from systoliq.hw.soc.registers import SOC_REGISTERS

from ..bench import simulate, wait
from ..dma.lite import transfer

OFFSETS = {register.name: register.offset for register in SOC_REGISTERS}


def test_registers():
    block = Peripherals(9)

    async def testbench(ctx):
        async def get(name):
            word, response = await transfer(ctx, block, "s", OFFSETS[name])
            assert response == 0
            return word

        async def put(name, word):
            assert await transfer(ctx, block, "s", OFFSETS[name], word) == (0, 0)

        assert await get("UART_DIVISOR") == 9
        await put("UART_DIVISOR", 0xABCD1234)
        assert await get("UART_DIVISOR") == 0x1234
        await put("LEDS", 0x1A5)
        assert await get("LEDS") == 0xA5 == ctx.get(block.leds)
        assert await get("FAULT") == 0
        ctx.set(block.fault, 1)
        await ctx.tick()
        ctx.set(block.fault, 0)
        assert await get("FAULT") == 1
        await put("FAULT", 0)
        assert await get("FAULT") == 0
        assert await get("UART_DATA") == 0
        await put("UART_STATUS", 1)
        assert await get("UART_STATUS") == 0
        for address in (0x14, 0x80):
            assert (await transfer(ctx, block, "s", address))[1] == 2
            assert (await transfer(ctx, block, "s", address, 1))[1] == 2

    simulate(block, testbench)


def test_a_byte():
    block, line = Peripherals(4), []

    async def testbench(ctx):
        await transfer(ctx, block, "s", OFFSETS["UART_DATA"], 0x141)
        assert await transfer(ctx, block, "s", OFFSETS["UART_STATUS"]) == (1, 0)
        await wait(ctx, 60)
        assert await transfer(ctx, block, "s", OFFSETS["UART_STATUS"]) == (0, 0)

    async def watch(ctx):
        while ctx.get(block.tx):
            await ctx.tick()
        await wait(ctx, 2)
        for _ in range(10):
            line.append(ctx.get(block.tx))
            await wait(ctx, 4)

    simulate(block, testbench, watch)
    assert line == [0, 1, 0, 0, 0, 0, 0, 1, 0, 1]
