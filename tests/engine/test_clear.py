"""A clear while the array drains: nothing of the job that was given up may reach the next one.

The core alone, in Amaranth's simulator: on the bus a restart takes longer than most drains. And the whole engine: in
the cycle in which its core is cleared, it takes no word.
"""

from __future__ import annotations

import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator

from systoliq.hw.engine import AxiEngine, EngineConfig, EngineCore
from systoliq.hw.engine.host import Map

from ..hw.dma.lite import transfer

CONFIG = EngineConfig(rows=16, cols=2, lanes=1, a_words=4, b_words=4, max_columns=2, max_rows=16)
A = [row + 1 for row in range(CONFIG.rows)]
B = [3, 5]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("gap", [0, 1, 5, 12])
def test_nothing_is_left(gap):
    """Both jobs are a column times a row; the first is cleared after its only tile, the second starts `gap` later."""
    core, clear = EngineCore(CONFIG), Signal()
    simulator = Simulator(ResetInserter(clear)(core))
    simulator.add_clock(1e-6)
    results = []

    async def job(ctx, factor):
        for name, values in (("a", A), ("b", B)):
            port = getattr(core, name)
            ctx.set(port.payload.last, 1)
            for lane, value in enumerate(values):
                ctx.set(port.payload.data[lane][0], factor * value)
        ctx.set(core.offer, 1)
        await ctx.tick()
        ctx.set(core.offer, 0)
        ctx.set(core.start, 1)
        await ctx.tick()
        ctx.set(core.start, 0)
        for name in "ab":
            ctx.set(getattr(core, name).valid, 1)

    async def run(ctx):
        for name, value in (("m", CONFIG.rows), ("k", 1), ("n", CONFIG.cols), ("y_int32", 1)):
            ctx.set(core.job[name], value)
            if name != "y_int32":
                ctx.set(core.next[name], value)
        ctx.set(core.y.ready, 1)
        await ctx.tick().repeat(3)
        await job(ctx, 7)
        await ctx.tick().until(core.dataflow.reserve)
        await ctx.tick().repeat(5)
        for name in "ab":
            ctx.set(getattr(core, name).valid, 0)
        ctx.set(clear, 1)
        await ctx.tick()
        ctx.set(clear, 0)
        await ctx.tick().repeat(gap) if gap else None
        await job(ctx, 1)
        while not ctx.get(core.done):
            if ctx.get(core.y.valid):
                results.append(ctx.get(core.y.payload.data[0]))
            await ctx.tick()

    simulator.add_testbench(run)
    simulator.run_until(5e-4)
    rows = [results[i : i + CONFIG.cols] for i in range(0, len(results), CONFIG.cols)]
    # The tables were never written: a zero point of B and a bias of 0.
    assert rows == [[a * b for b in B] for a in A]


def test_no_word_is_taken_in_the_cycle_of_a_clear():
    config = CONFIG.replace(a_words=64, b_words=64)
    engine = AxiEngine(config)
    registers = Map.of(config)
    control = registers.register("CONTROL")
    simulator = Simulator(engine)
    simulator.add_clock(1e-6)
    ended, seen = [], []

    async def host(ctx):
        for name, size in (("M", 16), ("K", 60), ("N", 2)):
            await transfer(ctx, engine, "s_axi_ctrl", registers.register(name).offset, size)
        for name in "ab":
            ctx.set(getattr(engine, f"s_axis_{name}_tvalid"), 1)
        await transfer(ctx, engine, "s_axi_ctrl", control.offset, control.field("start").mask)
        await ctx.tick().until(engine.s_axis_a_tready)
        await transfer(ctx, engine, "s_axi_ctrl", control.offset, control.field("clear").mask)
        await ctx.tick().repeat(10)
        ended.append(True)

    async def watch(ctx):
        while not ended:
            *_, clear, a, b = await ctx.tick().sample(
                engine.status.core_clear, engine.s_axis_a_tready, engine.s_axis_b_tready
            )
            seen.append((clear, a | b))

    simulator.add_testbench(host)
    simulator.add_testbench(watch, background=True)
    simulator.run_until(1e-3)
    assert ended
    assert (0, 1) in seen[2:]
    assert (1, 0) in seen[2:]
    assert (1, 1) not in seen
