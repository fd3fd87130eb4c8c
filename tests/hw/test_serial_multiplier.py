"""Serial multipliers: products of operands that come with a start, as soon as the next one may, or later."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.serial_multiplier import SerialMultiplier, serial_cycles

from .bench import simulate


@pytest.mark.parametrize(("a_bits", "b_bits", "pace", "cycles"), [(20, 24, 16, 12), (19, 24, 5, 5), (13, 22, 2, 2)])
def test_products_of_operands_that_come_with_a_start(a_bits, b_bits, pace, cycles):
    assert serial_cycles(b_bits, pace) == cycles
    block = SerialMultiplier(a_bits, b_bits, cells="portable", pace=pace)
    rng = random.Random(pace)
    ends = [-(1 << a_bits - 1), (1 << a_bits - 1) - 1, -1], [0, (1 << b_bits) - 1, 1]
    wanted, shown = {}, {}

    async def testbench(ctx):
        following = 0
        for cycle in range(300):
            operands = (rng.choice([*ends[0], rng.randrange(ends[0][0], ends[0][1])]), rng.choice([*ends[1], 0xA5A5A5]))
            starts = cycle >= following
            if starts:
                following = cycle + cycles + rng.choice([0, 0, 1, 7])
                wanted[cycle + block.latency] = operands[0] * (operands[1] % (1 << b_bits))
            ctx.set(block.start, starts)
            ctx.set(block.a, operands[0])
            ctx.set(block.b, operands[1] % (1 << b_bits))
            shown[cycle] = ctx.get(block.product)
            await ctx.tick()

    simulate(block, testbench)
    late = [cycle for cycle in wanted if cycle in shown]
    assert len(late) > 15
    assert [shown[cycle] for cycle in late] == [wanted[cycle] for cycle in late]


def test_cells_without_a_serial_form_are_refused():
    with pytest.raises(ValueError, match="cells must be one of portable, ecp5-lut, not 'ice40'"):
        SerialMultiplier(8, 8, cells="ice40", pace=4)
