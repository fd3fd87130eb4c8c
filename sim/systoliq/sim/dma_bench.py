"""The bench of a DMA engine: memory on its four AXI4 ports, and lists that it plays; in the simulator.

The bus models are cocotbext-axi's, which hold bursts to the protocol. `dma_exchange` passes lists to the bench and
outcomes back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.queue import Queue
from cocotb.triggers import Timer
from cocotb.types import LogicArray
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiReadBus,
    AxiSlaveRead,
    AxiSlaveWrite,
    AxiWriteBus,
)

from .dma_exchange import PORTS, VARIABLE, ListOutcome, ListWork, leave_outcomes, take_lists
from .engine_bench import PERIOD, Bench, pauses

__all__ = ["ListBench"]


class _Memory:
    """One memory behind all ports; it counts the beats."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.broken: Sequence[tuple[int, int]] = ()
        self.beats = dict.fromkeys(PORTS, 0)

    def check(self, address: int, length: int) -> None:
        """Raise, which the bus model answers with SLVERR, where the access is not to be."""
        if address + length > len(self.data) or any(lo < address + length and address < hi for lo, hi in self.broken):
            raise IndexError(address)


class _Port:
    """The memory as one port sees it."""

    def __init__(self, memory: _Memory, name: str) -> None:
        self.memory, self.name = memory, name

    async def read(self, address: int, length: int) -> bytes:
        self.memory.beats[self.name] += 1
        self.memory.check(address, length)
        return bytes(self.memory.data[address : address + length])

    async def write(self, address: int, data: bytes) -> None:
        self.memory.beats[self.name] += 1
        self.memory.check(address, len(data))
        self.memory.data[address : address + len(data)] = data


def _settle(channel: Any) -> None:
    """Make the beats that come from a channel of writes 0 in bytes without a strobe: they may be unknown."""
    receive = channel.recv

    async def settled() -> Any:
        beat = await receive()
        data, strobe = str(beat.wdata), str(beat.wstrb)
        lanes = (data[8 * at : 8 * at + 8] if strobed != "0" else "0" * 8 for at, strobed in enumerate(strobe))
        beat.wdata = LogicArray("".join(lanes))
        return beat

    channel.recv = settled


class _Latency:
    """Answers of the memory come `cycles` later than they can; others may be on their way at the same time."""

    def __init__(self, slaves: Mapping[str, Any]) -> None:
        self.cycles = 0
        for name, slave in slaves.items():
            if name == "y":
                self._answer_later(slave.b_channel)
            else:
                self._ask_later(slave.ar_channel)

    def _answer_later(self, channel: Any) -> None:
        """Delay what is sent over a channel."""
        send = channel.send

        async def later(beat: Any) -> None:
            await Timer(self.cycles * PERIOD, "ns")
            await send(beat)

        async def sent(beat: Any) -> None:
            if self.cycles:
                cocotb.start_soon(later(beat))
            else:
                await send(beat)

        channel.send = sent

    def _ask_later(self, channel: Any) -> None:
        """Delay what comes over a channel."""
        receive, come = channel.recv, Queue[tuple[float, Any]]()

        async def keep() -> None:
            while True:
                beat = await receive()
                come.put_nowait((cocotb.simtime.get_sim_time("ns") + self.cycles * PERIOD, beat))

        async def received() -> Any:
            due, beat = await come.get()
            if (left := due - cocotb.simtime.get_sim_time("ns")) > 0:
                await Timer(left, "ns")
            return beat

        channel.recv = received
        cocotb.start_soon(keep())


class ListBench(Bench):
    """Clock, reset, an AXI4-Lite master and memory."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.memory = _Memory()
        self.control = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi_ctrl"), dut.clk, dut.rst)
        self.slaves: dict[str, Any] = {}
        for name in PORTS:
            kind, bus = (AxiSlaveWrite, AxiWriteBus) if name == "y" else (AxiSlaveRead, AxiReadBus)
            target = _Port(self.memory, name)
            self.slaves[name] = kind(bus.from_prefix(dut, f"m_axi_{name}"), dut.clk, dut.rst, target=target)
        _settle(self.slaves["y"].w_channel)
        self._latency = _Latency(self.slaves)
        for model in (self.control.write_if, self.control.read_if, *self.slaves.values()):
            model.log.setLevel("ERROR")

    @classmethod
    async def start(cls, dut: Any) -> ListBench:
        """Clock and reset the engine, then put the bus models on it."""
        for name in ("awvalid", "wvalid", "arvalid", "bready", "rready"):
            getattr(dut, f"s_axi_ctrl_{name}").value = 0
        for port in PORTS:
            for name in ("awready", "wready", "bvalid") if port == "y" else ("arready", "rvalid"):
                getattr(dut, f"m_axi_{port}_{name}").value = 0
        dut.rst.value = 1
        Clock(dut.clk, PERIOD, unit="ns", impl="gpi").start()
        await Timer(3 * PERIOD, "ns")
        bench = cls(dut)
        await bench.reset()
        return bench

    def forget(self) -> None:
        """Nothing is left in the bus models after a reset."""

    def stall_ports(self, stalls: Sequence[float], seed: int) -> None:
        """Pause the ports at random from now on."""
        for index, (name, chance) in enumerate(zip(PORTS, stalls, strict=True)):
            slave = self.slaves[name]
            names = ("aw_channel", "w_channel", "b_channel") if name == "y" else ("ar_channel", "r_channel")
            for number, channel in enumerate(getattr(slave, each) for each in names):
                channel.set_pause_generator(pauses(chance, seed + 10 * index + number) if chance else None)
                channel.pause = False

    async def steps(self, steps: Sequence[tuple[int, ...]], limit: int) -> bool:
        """Write registers, and wait for others; whether all came in time."""
        for address, *values in steps:
            if len(values) == 1:
                await self.write(address, values[0])
                continue
            mask, value = values
            end = cocotb.simtime.get_sim_time("ns") + limit * PERIOD
            while await self.read(address) & mask != value:
                if cocotb.simtime.get_sim_time("ns") > end:
                    return False
        return True

    async def play(self, work: ListWork) -> ListOutcome:
        """Play a list in a separate memory; recover if it fails."""
        self.memory.data = bytearray(work.memory)
        outcome = await self.carry_out(work)
        outcome.memory = bytes(self.memory.data)
        return outcome

    async def carry_out(self, work: ListWork) -> ListOutcome:
        """Play a list in the memory that is there; where it fails, recover. The outcome has no memory."""
        outcome, memory = ListOutcome(), self.memory
        memory.broken, memory.beats = work.broken, dict.fromkeys(PORTS, 0)
        self.stall_ports(work.stalls, work.seed)
        self._latency.cycles = work.latency
        await self.steps(work.before, work.limit)
        began = cocotb.simtime.get_sim_time("ns")
        await self.write(*work.play)
        outcome.timed_out = not await self.interrupt(work.limit)
        outcome.cycles = int(cocotb.simtime.get_sim_time("ns") - began) // PERIOD
        for name, address in work.registers.items():
            outcome.registers[name] = await self.read(address)
        outcome.recovered = await self.steps(work.recovery, work.limit)  # harmless where nothing failed
        outcome.beats = memory.beats
        return outcome


@cocotb.test
async def lists(dut: Any) -> None:
    """Play all lists of the folder, one after the other without a reset between them."""
    folder = Path(os.environ[VARIABLE])
    work = take_lists(folder)
    bench = await ListBench.start(dut)
    outcomes: list[ListOutcome] = []
    try:
        for each in work:
            outcomes.append(await bench.play(each))
            if not outcomes[-1].recovered:
                await bench.reset()
    finally:
        leave_outcomes(folder, outcomes)
