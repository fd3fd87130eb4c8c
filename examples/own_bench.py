"""A layer in a cocotb bench of your own, built and started by systoliq's runner.

    python examples/own_bench.py

Outside the simulator `main` emits the layer and starts the simulation; inside it cocotb imports this file again and
runs `rows_come_back`. What both need is in a file that an environment variable names. Needs Icarus Verilog.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

DATA = "OWN_BENCH_DATA"
DEPTH = COLS = 4


@cocotb.test
async def rows_come_back(dut: Any) -> None:
    """Send rows of A beat by beat, take rows of Y; the taker is busy in every third cycle."""
    data = np.load(os.environ[DATA])
    beats = data["a"].reshape(-1, DEPTH)  # the sidecar's packing: DEPTH elements of one row, the first in the low bits
    sent, got = 0, []
    dut.rst.value = 1
    dut.s_axis_a_tvalid.value = dut.m_axis_y_tready.value = 0
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    for _ in range(2):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    for cycle in range(1000):
        dut.s_axis_a_tvalid.value = int(sent < len(beats))
        if sent < len(beats):
            dut.s_axis_a_tdata.value = int.from_bytes(beats[sent].tobytes(), "little")
            dut.s_axis_a_tlast.value = int(sent == len(beats) - 1)
        dut.m_axis_y_tready.value = int(cycle % 3 != 0)
        await ReadOnly()  # what is there now counts at the rising edge
        sent += int(dut.s_axis_a_tvalid.value) & int(dut.s_axis_a_tready.value)
        if dut.m_axis_y_tvalid.value == 1 and dut.m_axis_y_tready.value == 1:
            got += list(dut.m_axis_y_tdata.value.to_unsigned().to_bytes(len(dut.m_axis_y_tdata) // 8, "little"))
            if dut.m_axis_y_tlast.value == 1:
                break
        await FallingEdge(dut.clk)
    y = np.array(got, np.uint8).view(np.int8).reshape(data["y"].shape)
    assert np.array_equal(y, data["y"]), f"{np.count_nonzero(y != data['y'])} outputs differ"
    cocotb.log.info("%d outputs, all right, in %d cycles", y.size, cycle + 1)


def main() -> None:
    """Emit a small layer and run the bench above."""
    from systoliq.api import LayerDesign, LayerOptions, MatMulLayer
    from systoliq.sim import build

    rng = np.random.default_rng(0)
    layer = MatMulLayer(
        name="small",
        b=rng.integers(-127, 128, (16, COLS)).astype(np.int8),
        b_scale=np.float32(0.02),
        b_zero_point=np.int8(0),
        a_scale=np.float32(0.1),
        a_zero_point=np.int8(0),
        y_scale=np.float32(0.5),
        y_zero_point=np.int8(0),
    )
    design = LayerDesign(layer, LayerOptions(cols=COLS, depth=DEPTH))
    a = rng.integers(-128, 128, (20, 16)).astype(np.int8)
    simulation = build(design.verilog + design.models, design.name, "icarus")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, a=a, y=layer.golden(a))
        here = Path(__file__).resolve()
        results = simulation.run(here, env={DATA: str(data)}).check()
    print(f"passed: {', '.join(results.tests)} in {results.seconds:.1f} s; log: {results.log}")


if __name__ == "__main__":
    main()
