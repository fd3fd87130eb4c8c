"""Centring: every operand less its row's zero point, in the same cycle, of any format that A may have."""

from __future__ import annotations

import numpy as np
import pytest
from amaranth.sim import Simulator

from systoliq.golden import E5M2, INT8, UINT8, IntFormat, MatMulLayer
from systoliq.hw.centring import Centring, array_format

ROWS, DEPTH = 3, 2


@pytest.mark.parametrize("name", ["uint8", "int8", "uint5", "int15"])
def test_differences(name):
    fmt = IntFormat.parse(name)
    dut = Centring(fmt, rows=ROWS, depth=DEPTH)
    rng = np.random.default_rng(fmt.bits)
    ends = np.array([fmt.min, fmt.max])
    beats = np.concatenate([rng.choice(ends, (20, ROWS, DEPTH)), rng.integers(fmt.min, fmt.max + 1, (20, ROWS, DEPTH))])
    points = np.concatenate([rng.choice(ends, (20, ROWS)), rng.integers(fmt.min, fmt.max + 1, (20, ROWS))])

    async def bench(ctx):
        for index, (beat, zero_points) in enumerate(zip(beats.tolist(), points.tolist(), strict=True)):
            flags = index % 2, index // 2 % 2, index // 4 % 2
            ctx.set(dut.i.payload, {"data": beat, "zero_points": zero_points, "last": flags[0]})
            ctx.set(dut.i.valid, flags[1])
            ctx.set(dut.o.ready, flags[2])
            await ctx.delay(1e-9)
            found = [[ctx.get(dut.o.payload.data[r][e]) for e in range(DEPTH)] for r in range(ROWS)]
            assert found == (np.array(beat) - np.array(zero_points)[:, None]).tolist()
            assert (ctx.get(dut.o.payload.last), ctx.get(dut.o.valid), ctx.get(dut.i.ready)) == flags

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("zero_point", [-128, 1, 127])
def test_differences_with_one_zero_point(zero_point):
    dut = Centring(INT8, rows=2, depth=1, zero_point=zero_point)

    async def bench(ctx):
        for number in range(-128, 128):
            ctx.set(dut.i.payload, {"data": [[number], [-1 - number]], "last": number % 2})
            await ctx.delay(1e-9)
            found = [ctx.get(dut.o.payload.data[row][0]) for row in range(2)]
            assert found == [number - zero_point, -1 - number - zero_point]
            assert ctx.get(dut.o.payload.last) == number % 2

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()


def test_the_arrays_format():
    fields = {"b": np.ones((3, 2), np.int8), "b_zero_point": np.int8(0)}
    assert array_format(MatMulLayer(**fields, a_zero_point=np.uint8(3))) == UINT8
    assert array_format(MatMulLayer(**fields, a_format=UINT8)).name == "int9"
    scales = {"a_scale": 1.0, "b_scale": 1.0, "y_scale": 1.0, "y_zero_point": np.int8(0)}
    weights = {"b": np.zeros((3, 2), np.uint8), "b_zero_point": 0, "b_format": E5M2}
    assert array_format(MatMulLayer(**weights, **scales, a_zero_point=np.int8(0))) == INT8
    assert array_format(MatMulLayer(**weights, **scales, a_zero_point=np.int8(-1))).name == "int9"
    with pytest.raises(ValueError, match="a must have at most 15 bits where its zero point meets float8, not 16"):
        array_format(MatMulLayer(**weights, **scales, a_zero_point=np.int16(1)))
    with pytest.raises(ValueError, match="a must have at most 15 bits where its zero point comes at run time, not 16"):
        array_format(MatMulLayer(**fields, a_format=IntFormat.parse("int16")))
