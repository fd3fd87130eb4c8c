"""The bench of the engine: bus models on its four ports carry out the driver's steps; runs inside the simulator.

The bus models are cocotbext-axi's. `engine_exchange` passes work to the bench and outcomes back. This module is no
part of the package `engine`, which imports the hardware and would cost each run half a second.
"""

from __future__ import annotations

import logging
import os
import random
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import First, RisingEdge, Timer

from .axi_stream import StabilityRule
from .engine_exchange import VARIABLE, JobOutcome, Work, leave_outcomes, take_work

with warnings.catch_warnings():
    # Its 0.1.28 is written for cocotb 1.x and 2.x alike: it imports what 2.x deprecates (Edge, setimmediatevalue).
    warnings.simplefilter("ignore", DeprecationWarning)
    from cocotbext.axi import (
        AxiLiteBus,
        AxiLiteMaster,
        AxiResp,
        AxiStreamBus,
        AxiStreamFrame,
        AxiStreamSink,
        AxiStreamSource,
    )
warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"cocotbext\.axi|cocotb_bus")

__all__ = [
    "Bench",
    "dense",
    "engine",
    "pauses",
    "watch",
]

PERIOD = 10  # ns; any will do


class Bench:
    """The engine's surroundings: clock, reset, an AXI4-Lite master, two stream sources and a stream sink."""

    def __init__(self, dut: Any) -> None:
        for name in ("s_axi_ctrl", "s_axis_a", "s_axis_b", "m_axis_y"):
            logging.getLogger(f"cocotb.{dut._name}").setLevel(logging.ERROR)  # it logs each frame, byte by byte
            logging.getLogger(f"cocotb.{dut._name}.{name}").setLevel(logging.ERROR)
        self.dut = dut
        self.control = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi_ctrl"), dut.clk, dut.rst)
        # One "byte" a word: the source then puts a whole word on the wires in one step.
        self.sources = {
            name: AxiStreamSource(AxiStreamBus.from_prefix(dut, f"s_axis_{name}"), dut.clk, dut.rst, byte_lanes=1)
            for name in ("a", "b")
        }
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis_y"), dut.clk, dut.rst)

    @classmethod
    async def start(cls, dut: Any) -> Bench:
        """Clock and reset the engine, then put the bus models on it, which cannot read an undefined ready."""
        for name in ("s_axi_ctrl_aw", "s_axi_ctrl_w", "s_axi_ctrl_ar", "s_axis_a_t", "s_axis_b_t"):
            getattr(dut, f"{name}valid").value = 0
        for name in ("s_axi_ctrl_bready", "s_axi_ctrl_rready", "m_axis_y_tready"):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        Clock(dut.clk, PERIOD, unit="ns", impl="gpi").start()
        await Timer(3 * PERIOD, "ns")
        bench = cls(dut)
        await bench.reset()
        return bench

    async def cycles(self, count: int) -> None:
        """Let cycles pass."""
        if count:
            await Timer(count * PERIOD, "ns")

    async def reset(self, cycles: int = 3) -> None:
        """Reset the engine and the bus models, in any state."""
        await RisingEdge(self.dut.clk)
        self.dut.rst.value = 1
        await self.cycles(cycles)
        await RisingEdge(self.dut.clk)
        self.dut.rst.value = 0
        self.forget()
        await RisingEdge(self.dut.clk)

    def forget(self) -> None:
        """Stop the transfers under way, as the reset of a DMA engine does; their remaining data are lost."""
        for model in (*self.sources.values(), self.sink):
            model.clear()
            model.assert_reset()

    async def write(self, address: int, data: int | bytes) -> None:
        """Write a register, or bytes from `address` on; an answer other than OKAY is an error."""
        data = data.to_bytes(4, "little") if isinstance(data, int) else data
        answer = await self.control.write(address, data)
        if answer.resp != AxiResp.OKAY:
            raise AssertionError(f"writing {len(data)} bytes to 0x{address:x} gave {answer.resp!r}")

    async def read(self, address: int) -> int:
        """Read a register."""
        answer = await self.control.read(address, 4)
        if answer.resp != AxiResp.OKAY:
            raise AssertionError(f"reading 0x{address:x} gave {answer.resp!r}")
        return int.from_bytes(answer.data, "little")

    def send(self, name: str, words: Sequence[int]) -> None:
        """Begin to send words on a stream, ``tlast`` with the last."""
        self.sources[name].send_nowait(AxiStreamFrame(words))

    def stall(self, stalls: Sequence[float], seed: int) -> None:
        """Pause A, B and Y at random from now on."""
        models = (*self.sources.values(), self.sink)
        for index, (model, probability) in enumerate(zip(models, stalls, strict=True)):
            model.set_pause_generator(pauses(probability, seed + index) if probability else None)
            model.pause = False

    async def interrupt(self, limit: int) -> bool:
        """Wait for the interrupt; return whether it came within `limit` cycles."""
        if not self.dut.irq.value:
            await First(RisingEdge(self.dut.irq), Timer(limit * PERIOD, "ns"))
        return bool(self.dut.irq.value)

    async def poll(self, address: int, mask: int, limit: int) -> bool:
        """Read a register until the bits of `mask` are 0; return whether that happened within `limit` cycles."""
        end = cocotb.simtime.get_sim_time("ns") + limit * PERIOD
        while await self.read(address) & mask:
            if cocotb.simtime.get_sim_time("ns") > end:
                return False
        return True

    async def ended(self, address: int, jobs: int, work: Work) -> bool:
        """Read STATUS until the jobs have ended, or one has failed; return whether that happened in time."""
        unit = work.jobs & -work.jobs
        end = cocotb.simtime.get_sim_time("ns") + work.limit * PERIOD
        while True:
            status = await self.read(address)
            left = (jobs - status // unit) & (work.jobs // unit)
            if status & work.error or left == 0 or left > len(work.words):  # counted modulo, and never more than asked
                return True
            if cocotb.simtime.get_sim_time("ns") > end:
                return False

    async def recover(self, work: Work) -> bool:
        """Carry out the recovery's steps, then stop the transfers; whether it came to an end."""
        ended = True
        for action, _, address, value, _ in work.recovery:
            if action == "write":
                await self.write(address, value)
            elif action == "poll":
                ended = ended and await self.poll(address, value, work.limit)
        self.forget()  # only now: the sink takes the offered beats up to the end of a frame
        return ended

    async def run(self, work: Work) -> JobOutcome:
        """Carry out the steps of a job, or of queued ones."""
        outcome = JobOutcome()
        began, seconds = cocotb.simtime.get_sim_time("ns"), time.perf_counter()
        watching = cocotb.start_soon(watch(self.dut, outcome.violations)) if any(work.stalls) else None
        self.stall(work.stalls, work.seed)
        for action, name, address, value, data in work.steps:
            if action == "write":
                await self.write(address, value)
            elif action == "fill":
                await self.write(address, data)
            elif action == "send":
                self.send(name, work.words[value][name])
            elif action == "jobs":
                if not await self.ended(address, value, work):
                    outcome.timed_out = True
                    break
            elif action == "wait":
                if not await self.interrupt(work.limit):
                    outcome.timed_out = True
                    break
            elif action == "read":
                outcome.registers[name] = await self.read(address)
                if name == "STATUS" and outcome.registers[name] & work.error:
                    self._collect(work, outcome)  # of the jobs before
                    outcome.timed_out = not await self.recover(work)
                    break
        if watching is not None:
            watching.cancel()
        self._collect(work, outcome)
        if not self.sink.empty():
            outcome.violations.append("m_axis_y: more beats after the last")
        outcome.cycles = int(cocotb.simtime.get_sim_time("ns") - began) // PERIOD
        outcome.seconds = time.perf_counter() - seconds
        return outcome

    def _collect(self, work: Work, outcome: JobOutcome) -> None:
        """Take the frames of Y that have come, one for each job at the most."""
        while not self.sink.empty() and len(outcome.frames) < len(work.words):
            frame = self.sink.recv_nowait(compact=False)
            outcome.frames.append(bytes(_bytes(frame)))
            if not dense(frame, len(self.dut.m_axis_y_tkeep)):
                outcome.violations.append("m_axis_y: a beat with gaps, or one before the last that is not full")


def _bytes(frame: AxiStreamFrame) -> Iterator[int]:
    """The bytes that count; the frame's own `compact` takes time by the square of its length."""
    return (byte for byte, keep in zip(frame.tdata, frame.tkeep, strict=True) if keep)


def dense(frame: AxiStreamFrame, beat: int) -> bool:
    """True if every beat except the last is full, and the last uses its lowest bytes."""
    kept = len(frame.tkeep) - list(frame.tkeep[-beat:]).count(0)
    return all(frame.tkeep[:kept]) and len(frame.tkeep) - kept < beat


def pauses(probability: float, seed: int) -> Iterator[bool]:
    """Endless iterator over cycles: whether to pause in each."""
    generator = random.Random(seed)
    while True:
        yield generator.random() < probability


async def watch(dut: Any, violations: list[str]) -> None:
    """Check the rule that a valid payload stays, unchanged, until it is taken."""
    channels: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("m_axis_y_t", ("data", "keep", "last")),
        ("s_axi_ctrl_b", ("resp",)),
        ("s_axi_ctrl_r", ("data", "resp")),
    )
    watched = []
    for prefix, payload in channels:
        rule = StabilityRule(prefix)
        rule.violations = violations
        handles = [getattr(dut, f"{prefix}{name}") for name in ("valid", "ready", *payload)]
        watched.append((rule, *handles))
    edge = RisingEdge(dut.clk)
    cycle = 0
    while True:
        await edge
        for rule, valid, ready, *signals in watched:
            beat = tuple(str(signal.value) for signal in signals) if valid.value else None
            rule.see(cycle, beat, bool(ready.value))
        cycle += 1


@cocotb.test
async def engine(dut: Any) -> None:
    """Run all the work of the folder, one job after the other without a reset between them."""
    folder = Path(os.environ[VARIABLE])
    work = take_work(folder)
    bench = await Bench.start(dut)
    outcomes: list[JobOutcome] = []
    try:
        for each in work:
            outcomes.append(await bench.run(each))
            if outcomes[-1].timed_out:
                await bench.reset()
    finally:
        leave_outcomes(folder, outcomes)
