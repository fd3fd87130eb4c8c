"""Benches with a block as top, of each kind; run inside the simulator, started by test_block_bench.

The folder named by BLOCK_BENCH holds the package, and operands.npz or the engine's work.
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from systoliq.sim import (
    Beats,
    Block,
    Scoreboard,
    StreamMonitor,
    StreamSink,
    StreamSource,
    SumsMonitor,
    SumsScoreboard,
)

FOLDER = Path(os.environ["BLOCK_BENCH"])


async def begin(dut: Any) -> None:
    dut.rst.value = 1
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    await Timer(25, "ns")
    dut.rst.value = 0


@cocotb.test(skip=not (FOLDER / "layer").exists())
async def layer(dut: Any) -> None:
    """Batches with pauses on both sides, rows given by the bench and seen at the port."""
    block = Block.open(FOLDER / "layer")
    source = StreamSource(dut, "s_axis_a", pauses=0.3, seed=1)
    sink = StreamSink(dut, "m_axis_y", pauses=0.3, seed=2)
    given = Scoreboard(block, y=sink)
    seen = Scoreboard(block, y=sink, a=StreamMonitor(dut, "s_axis_a"))
    await begin(dut)
    with np.load(FOLDER / "operands.npz") as operands:
        batches = [
            [operands[f"{name}{i}"] for name in ("a", "zero_points") if f"{name}{i}" in operands] for i in (0, 1)
        ]
    for batch in batches:
        given.expect(*batch)
        source.send(block.pack(*batch, generator=np.random.default_rng(3)))
    await source.sent()
    await given.finish(20)
    await seen.finish(20)
    assert given.compared == sum(len(batch[0]) for batch in batches) * block.layer.n
    assert seen.compared == sum(-(-len(batch[0]) // block.rows) for batch in batches) * block.rows * block.layer.n
    assert sink.beats
    sink.check()


@cocotb.test(skip=not (FOLDER / "array").exists())
async def array(dut: Any) -> None:
    """Products of several tiles, with pauses; then one of which something else is expected."""
    block = Block.open(FOLDER / "array")
    a_source, b_source = (StreamSource(dut, f"s_axis_{name}", pauses=0.3, seed=seed) for seed, name in enumerate("ab"))
    scoreboard = SumsScoreboard(block, sums=SumsMonitor(dut))
    await begin(dut)
    with np.load(FOLDER / "operands.npz") as operands:
        products = [(operands["a0"], operands["b0"]), (operands["a1"], operands["b1"])]
    for a, b in products:
        scoreboard.expect(a, b)
        of_a, of_b = block.pack(a, b)
        a_source.send(of_a)
        b_source.send(of_b)
    await scoreboard.finish(20)
    assert scoreboard.compared == sum(len(a) * b.shape[1] for a, b in products)
    assert a_source.done
    assert b_source.done

    a, b = products[0]
    other = b.copy()
    other[0, 1] ^= 1
    scoreboard.expect(a, other)
    for source, beats in zip((a_source, b_source), block.pack(a, b), strict=True):
        source.send(beats)
    row = sum(len(each) for each, _ in products)
    with pytest.raises(
        AssertionError, match=rf"outputs differ from golden\n\w+: row {row}, column 1: expected -?\d+, got"
    ):
        await scoreboard.finish(20)
    assert {each.column for each in scoreboard.mismatches} == {1}

    for source, beats in zip((a_source, b_source), block.pack(a, b), strict=True):
        source.send(beats)
    await b_source.sent()
    await Timer(1, "us")
    assert any("a sum of column 0 in cycle" in fault for fault in scoreboard.faults)
    scoreboard.expect(a, b)
    scoreboard.clear()
    assert scoreboard.pending == 0


class Bytes:
    """The bytes of a frame that tkeep leaves, all but the last beat's full."""

    def __init__(self, size: int) -> None:
        self.data, self.size, self.ended = b"", size, False

    def beat(self, word: int, last: bool, cycle: int) -> None:
        self.data += word.to_bytes(self.size, "little")
        self.ended |= last

    def cleared(self) -> None:
        self.data = b""


@cocotb.test(skip=not (FOLDER / "work.pickle").exists())
async def engine(dut: Any) -> None:
    """A job whose words our sources send, and whose Y our sink takes."""
    from cocotbext.axi import AxiLiteBus, AxiLiteMaster

    work = pickle.loads((FOLDER / "work.pickle").read_bytes())[0]
    for name in ("aw", "w", "ar"):
        getattr(dut, f"s_axi_ctrl_{name}valid").value = 0
    sources = {name: StreamSource(dut, f"s_axis_{name}", pauses=0.2, seed=4) for name in "ab"}
    sink = StreamSink(dut, "m_axis_y", pauses=0.2, seed=5)
    taken = Bytes(len(dut.m_axis_y_tdata) // 8)
    sink.listeners.append(taken)
    await begin(dut)
    await RisingEdge(dut.clk)
    control = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi_ctrl"), dut.clk, dut.rst)
    for action, name, address, value, data in work.steps:
        if action in ("write", "fill"):
            await control.write(address, data if action == "fill" else value.to_bytes(4, "little"))
        elif action == "send":
            words = work.words[0][name]
            sources[name].send(Beats(words, [False] * (len(words) - 1) + [True]))
        elif action == "wait" and not dut.irq.value:
            await RisingEdge(dut.irq)
    assert taken.ended
    sink.check()
    (FOLDER / "y.bin").write_bytes(taken.data)


@cocotb.test
async def what_is_wrong_is_said(dut: Any) -> None:
    """Names that are none, pauses that are no probability, beats without their ends."""
    with pytest.raises(AttributeError, match="contains no child object named s_axis_x_tvalid"):
        StreamSource(dut, "s_axis_x")
    with pytest.raises(ValueError, match="pauses must be a probability from 0 to below 1, not 1"):
        StreamSource(dut, "s_axis_a", pauses=1)
    source = StreamSource(dut, "s_axis_a")
    with pytest.raises(ValueError, match="beats must have a last for each of their 2 words, not 1"):
        source.send(Beats([1, 2], [True]))
    await begin(dut)
