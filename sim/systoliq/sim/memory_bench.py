"""Bench of a DMA engine, whose memory stays: lists come one by one, and the host computes between them.

The process that started the simulator sends a `Turn` for each list over a connection, and receives a `Left`. The
simulation ends where the connection does, within a list too.
"""

from __future__ import annotations

import os
from multiprocessing.connection import Connection
from typing import Any, cast

import cocotb
from cocotb.triggers import First, RisingEdge, Timer

from .dma_bench import ListBench
from .dma_exchange import CONNECTION, Left, Turn
from .engine_bench import PERIOD

__all__ = ["serve"]

_LOOK = 4096  # cycles after which a list that runs looks whether anybody still waits for it


class _LeftAloneError(Exception):
    """The process at the other end of the connection has gone."""


class _MemoryBench(ListBench):
    """A `ListBench` with one memory for all lists; `connection` leads to the process that sends them."""

    def __init__(self, dut: Any) -> None:
        super().__init__(dut)
        self.connection = Connection(int(os.environ[CONNECTION]))

    async def interrupt(self, limit: int) -> bool:
        """See the base class; meanwhile nothing comes over the connection, unless it ends."""
        end = cocotb.simtime.get_sim_time("ns") + limit * PERIOD
        while not self.dut.irq.value and (left := end - cocotb.simtime.get_sim_time("ns")) > 0:
            if self.connection.poll():
                raise _LeftAloneError
            await First(RisingEdge(self.dut.irq), Timer(min(_LOOK * PERIOD, left), "ns"))
        return bool(self.dut.irq.value)

    async def serve(self) -> None:
        """Play lists until the connection ends; the first thing that comes is the memory."""
        try:
            self.memory.data = bytearray(self.connection.recv())
            while True:
                turn: Turn = self.connection.recv()
                for address, data in turn.writes:
                    self.memory.data[address : address + len(data)] = data
                outcome = await self.carry_out(turn.work)
                if not outcome.recovered:
                    await self.reset()
                found = tuple(bytes(self.memory.data[address : address + size]) for address, size in turn.reads)
                self.connection.send(Left(outcome=outcome, data=found))
        except (EOFError, OSError, _LeftAloneError):
            return


@cocotb.test
async def serve(dut: Any) -> None:
    """Play the lists that come over the connection."""
    bench = cast("_MemoryBench", await _MemoryBench.start(dut))
    await bench.serve()
