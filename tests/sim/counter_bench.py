"""Runs inside the simulator: see test_runner.py."""

import os
import random
import signal

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

WIDTH = 4096


async def reset(dut):
    dut.rst.value = 1
    dut.enable.value = 0
    dut.word.value = 0
    Clock(dut.clk, 10, unit="ns").start()
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    dut.rst.value = 0


@cocotb.test
async def adds(dut):
    await reset(dut)
    total = 0
    for cycle in range(1, 51):
        word = random.getrandbits(WIDTH)
        total = (total + word) % (1 << WIDTH)
        dut.word.value = word
        dut.enable.value = 1
        await FallingEdge(dut.clk)
        assert dut.sum.value.to_unsigned() == total
        assert dut.count.value.to_unsigned() == cycle


@cocotb.test(skip="ONLY_WHEN_NAMED" not in os.environ)
async def expects_too_much(dut):
    await reset(dut)
    assert dut.count.value.to_unsigned() == 17


@cocotb.test(skip="ONLY_WHEN_NAMED" not in os.environ)
async def crashes(dut):
    await reset(dut)
    os.kill(os.getpid(), signal.SIGKILL)


@cocotb.test(skip="ONLY_WHEN_NAMED" not in os.environ)
async def never_ends(dut):
    await reset(dut)
    while True:
        await FallingEdge(dut.clk)
