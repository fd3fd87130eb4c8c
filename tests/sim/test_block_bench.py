"""Our drivers, monitors and scoreboards on blocks of each kind, under both simulators."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from block_layers import LAYERS, layer, operands

from systoliq.api import ArrayDesign, ArrayOptions, LayerDesign, LayerOptions, write_package
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import EnginePacking
from systoliq.sim import Block, SimulatorWarning, build
from systoliq.sim.engine import Engine
from systoliq.sim.engine_exchange import leave_work

from ..support.simulators import icarus_first

HERE = Path(__file__).resolve().parent


def run(verilog, top, simulator, folder, test):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulatorWarning)
        simulation = build(verilog, top, simulator)
    results = simulation.run(HERE / "block_bench.py", env={"BLOCK_BENCH": str(folder)}, directory=folder)
    assert results.check().tests == (f"block_bench.{test}", "block_bench.what_is_wrong_is_said")


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", ["int8", "zero points of A", "float8", "not exact"])
@icarus_first
def test_layers(name, simulator, tmp_path):
    fields, hardware = LAYERS[name]
    design = LayerDesign(layer(**fields), LayerOptions(**hardware), name="fc")
    write_package(design, tmp_path / "layer")
    block = Block.open(tmp_path / "layer")
    arrays = {}
    for index, rows in enumerate((5, 2)):
        arrays[f"a{index}"], zero_points = operands(block, rows)
        if zero_points is not None:
            arrays[f"zero_points{index}"] = zero_points
    np.savez(tmp_path / "operands.npz", **arrays)
    run(design.verilog, "fc", simulator, tmp_path, "layer")


@pytest.mark.sampled(99)
@pytest.mark.parametrize("cols", [1, 3])
@icarus_first
def test_arrays(cols, simulator, tmp_path):
    design = ArrayDesign(ArrayOptions(rows=2, cols=cols, depth=2, accumulator_bits=20))
    write_package(design, tmp_path / "array")
    generator = np.random.default_rng(cols)
    arrays = {
        f"{name}{index}": generator.integers(-128, 128, shape).astype(np.int8)
        for index, (m, k, n) in enumerate([(5, 7, 4), (2, 3, 3)])
        for name, shape in (("a", (m, k)), ("b", (k, n)))
    }
    np.savez(tmp_path / "operands.npz", **arrays)
    run(design.verilog, design.name, simulator, tmp_path, "array")


@icarus_first
def test_streams_of_an_engine(simulator, tmp_path):
    config = EngineConfig(rows=2, cols=2, lanes=2)
    engine = Engine(config, simulator=simulator)
    generator = np.random.default_rng(0)
    a, b = generator.integers(-128, 128, (3, 5)).astype(np.int8), generator.integers(-128, 128, (5, 3)).astype(np.int8)
    (job,) = engine.plan_matmul_integer(a, b).jobs
    leave_work(tmp_path, [engine.prepare(job)])
    results = engine.simulation.run(HERE / "block_bench.py", env={"BLOCK_BENCH": str(tmp_path)})
    assert results.check().tests == ("block_bench.engine", "block_bench.what_is_wrong_is_said")
    data = (tmp_path / "y.bin").read_bytes()[: job.m * job.n * 4]
    y = EnginePacking(config).unpack_y(data, job.m, job.n, np.dtype(np.int32))
    np.testing.assert_array_equal(y, a.astype(np.int32) @ b)
