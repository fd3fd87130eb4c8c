"""Job after job as fast as the bus allows; runs inside the simulator, started by test_pace.

Signals are driven directly, not by bus models: a register takes one cycle to write, and a job starts as many cycles
after the interrupt of the one before as it says. All words of all jobs wait on their streams from the first cycle on.
The folder named by SYSTOLIQ_PACE holds the jobs, and takes what they gave.
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import First, RisingEdge, Timer

from systoliq.sim.engine_bench import PERIOD, pauses

FOLDER = Path(os.environ["SYSTOLIQ_PACE"])
CASE = pickle.loads((FOLDER / "case.pickle").read_bytes())


async def write(dut: Any, address: int, value: int) -> None:
    """Write a register, from now to the next edge."""
    for name, signal in (("awaddr", address), ("wdata", value), ("wstrb", 0xF), ("awvalid", 1), ("wvalid", 1)):
        getattr(dut, f"s_axi_ctrl_{name}").value = signal
    while True:
        await RisingEdge(dut.clk)
        if dut.s_axi_ctrl_awready.value and dut.s_axi_ctrl_wready.value:
            break
    dut.s_axi_ctrl_awvalid.value = 0
    dut.s_axi_ctrl_wvalid.value = 0


async def read(dut: Any, address: int) -> int:
    dut.s_axi_ctrl_araddr.value = address
    dut.s_axi_ctrl_arvalid.value = 1
    while True:
        await RisingEdge(dut.clk)
        if dut.s_axi_ctrl_rvalid.value:
            break
    dut.s_axi_ctrl_arvalid.value = 0
    return int(dut.s_axi_ctrl_rdata.value)


class Counter:
    """Cycles since the bench began."""

    def __init__(self) -> None:
        self.now = 0

    async def run(self, clk: Any) -> None:
        while True:
            await RisingEdge(clk)
            self.now += 1


async def send(dut: Any, name: str, words: list[tuple[int, int]], first: list[int], counter: Counter) -> None:
    """Words with their `tlast`, one after the other; notes the cycle of each job's first."""
    begins = True
    for word, last in words:
        getattr(dut, f"s_axis_{name}_tdata").value = word
        getattr(dut, f"s_axis_{name}_tlast").value = last
        getattr(dut, f"s_axis_{name}_tvalid").value = 1
        while True:
            await RisingEdge(dut.clk)
            if getattr(dut, f"s_axis_{name}_tready").value:
                break
        if begins:
            first.append(counter.now)
        begins = bool(last)
    getattr(dut, f"s_axis_{name}_tvalid").value = 0


async def receive(dut: Any, taken: list[bytes], last: list[int], counter: Counter) -> None:
    """The bytes that count of each job, and the cycle of its last beat."""
    data = b""
    pause = pauses(CASE["pause"], CASE["seed"])
    dut.m_axis_y_tready.value = 1
    while True:
        await RisingEdge(dut.clk)
        if dut.m_axis_y_tvalid.value and dut.m_axis_y_tready.value:
            keep = int(dut.m_axis_y_tkeep.value)
            word = int(dut.m_axis_y_tdata.value).to_bytes(len(dut.m_axis_y_tdata) // 8, "little")
            data += bytes(byte for i, byte in enumerate(word) if keep >> i & 1)
            if dut.m_axis_y_tlast.value:
                taken.append(data)
                last.append(counter.now)
                data = b""
        if CASE["pause"]:
            dut.m_axis_y_tready.value = not next(pause)


@cocotb.test
async def pace(dut: Any) -> None:
    """Run all jobs, or as many as come to an end."""
    for name in ("aw", "w", "ar"):
        getattr(dut, f"s_axi_ctrl_{name}valid").value = 0
    for name in ("a", "b"):
        getattr(dut, f"s_axis_{name}_tvalid").value = 0
    dut.m_axis_y_tready.value = 0
    dut.s_axi_ctrl_bready.value = 1
    dut.s_axi_ctrl_rready.value = 1
    dut.rst.value = 1
    Clock(dut.clk, PERIOD, unit="ns", impl="gpi").start()
    counter = Counter()
    cocotb.start_soon(counter.run(dut.clk))
    for _ in range(4):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    for address, value in CASE["setup"]:
        await write(dut, address, value)

    taken: list[bytes] = []
    first: dict[str, list[int]] = {"a": [], "b": []}
    last: list[int] = []
    for name in ("a", "b"):
        cocotb.start_soon(send(dut, name, CASE["words"][name], first[name], counter))
    cocotb.start_soon(receive(dut, taken, last, counter))
    finished = 0
    for writes, wait, limit in CASE["jobs"]:
        for _ in range(wait):
            await RisingEdge(dut.clk)
        for address, value in writes:
            await write(dut, address, value)
        # The write was taken at this edge, and done falls with it; the next rise is this job's.
        risen = RisingEdge(dut.irq)
        if await First(risen, Timer(limit * PERIOD, "ns")) is not risen:
            break
        finished += 1
    await RisingEdge(dut.clk)
    outcome = {
        "status": await read(dut, CASE["status"]),
        "finished": finished,
        "y": taken,
        "first": [min(each) for each in zip(first["a"], first["b"], strict=False)],
        "last": last,
    }
    (FOLDER / "outcome.pickle").write_bytes(pickle.dumps(outcome))
