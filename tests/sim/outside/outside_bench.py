"""A bench of someone's: their own top, clock, reset and runner; of systoliq only what drives, watches and compares."""

import os
import sys
from pathlib import Path

import cocotb
import numpy as np
import pytest
from cocotb.clock import Clock
from cocotb.handle import Force
from cocotb.triggers import RisingEdge, Timer
from cocotb.types import Logic

from systoliq.sim import Block, Scoreboard, StreamMonitor, StreamSink, StreamSource

OUT = Path(os.environ["BLOCKS"])


class Surroundings:
    """The system's clock and reset, a source and a sink at its edge, a scoreboard for each layer inside."""

    def __init__(self, dut, pauses):
        edge = {"clock": dut.aclk, "reset": dut.aresetn, "active_low": True, "pauses": pauses}
        self.dut, self.first, self.second = dut, Block.open(OUT / "first"), Block.open(OUT / "second")
        self.source = StreamSource(dut, "in", **edge, seed=1)
        self.sink = StreamSink(dut, "out", **edge, seed=2)
        self.into, self.between = StreamMonitor(dut.u_first, "s_axis_a"), StreamMonitor(dut.u_first, "m_axis_y")
        self.given = Scoreboard(self.first, y=self.between)  # the bench says which rows
        self.seen = Scoreboard(self.first, y=self.between, a=self.into)
        self.after = Scoreboard(self.second, y=self.sink, a=StreamMonitor(dut.u_second, "s_axis_a"))
        dut.aresetn.value = 0
        cocotb.start_soon(Clock(dut.aclk, 10, unit="ns").start())

    async def reset(self, cycles):
        self.dut.aresetn.value = 0
        for _ in range(cycles):
            await RisingEdge(self.dut.aclk)
        self.dut.aresetn.value = 1

    def send(self, a):
        self.given.expect(a)
        self.source.send(self.first.pack(a))

    async def finish(self):
        await self.source.sent()
        for board in (self.given, self.seen, self.after):
            await board.finish(20, "us")


def rows(count, seed):
    return np.random.default_rng(seed).integers(-128, 128, (count, 12)).astype(np.int8)


@cocotb.test
@cocotb.parametrize(pauses=[0, 0.4])
async def rows_go_through(dut, pauses):
    system = Surroundings(dut, pauses)
    system.send(rows(5, 0))  # waits for the reset to end
    await system.reset(3)
    system.send(rows(4, 1))
    await system.finish()
    assert system.given.compared == 9 * system.first.layer.n
    assert system.after.compared >= 9 * system.second.layer.n  # rows that fill up a group count, too
    assert not any("systoliq.hw" in name or "amaranth" in name for name in sys.modules), "benches start light"


@cocotb.test
async def a_reset_in_the_middle(dut):
    system = Surroundings(dut, 0.2)
    await system.reset(2)
    system.send(rows(6, 2))
    for _ in range(60):
        await RisingEdge(dut.aclk)
    await system.reset(1)
    system.given.clear()
    for _ in range(5):
        await RisingEdge(dut.aclk)
    system.send(rows(3, 3))
    await system.finish()


@cocotb.test
async def what_never_comes_is_missed(dut):
    system = Surroundings(dut, 0)
    await system.reset(2)
    system.given.expect(rows(2, 4))
    with pytest.raises(AssertionError, match=r"^first: 12 outputs did not come, 0 came$"):
        await system.given.finish(1, "us")
    with pytest.raises(AssertionError, match=r"^first: no output came, and none was expected$"):
        system.seen.check()
    with pytest.raises(RuntimeError, match=r"^first: rows must come from the monitor on s_axis_a alone"):
        system.seen.expect(rows(2, 4))
    system.given.clear()
    system.source.send(system.first.pack(rows(1, 5)))  # nobody tells that scoreboard
    await system.source.sent()
    await Timer(2, "us")
    with pytest.raises(AssertionError, match=r"^first: a beat of Y in cycle \d+ that no row of A asked for"):
        system.given.check()
    system.seen.check()
    system.after.check()


@cocotb.test(expect_fail=True, skip=cocotb.SIM_NAME.lower().startswith("verilator"))
async def an_undefined_ready_is_said(dut):  # the last one, for the signal stays so
    system = Surroundings(dut, 0)
    await system.reset(2)
    dut.in_tready.value = Force(Logic("X"))
    system.send(rows(1, 6))
    await system.finish()
