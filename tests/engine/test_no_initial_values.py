"""After reset nothing depends on what registers and memories held before: Verilog without initial values, bit for bit.

Under Icarus all is X until it is given a value, and no X may reach a result; under Verilator all begins at random.
"""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
from configurations import OUTPUT, WEIGHT, golden, random_job, text
from operations import values
from uninitialized import SHAPES, Uninitialized, UninitializedDma
from vector_lists import (
    CONFIG,
    memory_after,
    operations_of,
    prepared,
    random_normalization,
    random_softmax,
    random_tables,
)

from systoliq.golden import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, AxiBareArray, BareArray, Dense, emit_verilog
from systoliq.hw.cells import models_verilog
from systoliq.hw.engine import EngineConfig
from systoliq.signoff.power_up import without_initial_values
from systoliq.sim.cosimulation import Run, cosimulate_array, cosimulate_runs, dense_verilog
from systoliq.sim.engine import Engine
from systoliq.sim.engine.dma_engine import MemoryImage

from ..support.simulators import icarus_first

SIZES = {"a_words": 32, "b_words": 64, "max_columns": 32, "max_rows": 16}
ENGINES = [
    EngineConfig(rows=3, cols=4, depth=2, lanes=2, **SIZES),
    EngineConfig(rows=4, cols=6, depth=2, lanes=3, dataflow=WEIGHT, **SIZES),
    EngineConfig(rows=5, cols=3, depth=1, lanes=1, dataflow=WEIGHT, **SIZES),
    EngineConfig(rows=1, cols=4, depth=3, lanes=1, **SIZES),
]


@functools.cache
def dense():
    rng = np.random.default_rng(0)
    layer = MatMulLayer(
        name="layer",
        b=values(rng, np.int8, (9, 7)),
        a_scale=np.float32(0.02),
        a_zero_point=np.int8(3),
        b_scale=rng.uniform(0.001, 0.02, 7).astype(np.float32),
        b_zero_point=values(rng, np.int8, (7,)),
        y_scale=np.float32(0.5),
        y_zero_point=np.int8(-5),
        bias=rng.integers(-9999, 9999, 7).astype(np.int32),
    )
    requantization = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    return Dense(layer, requantization, ArrayConfig(rows=2, cols=4, depth=2))


@icarus_first
def test_layer(simulator):
    a = values(np.random.default_rng(1), np.int8, (11, 9))
    runs = [
        Run(a=a, bulk=False),
        Run(a=a[:1], bulk=False),
        Run(a=a, stalls=(0.3, 0.5), seed=1, bulk=False),
        Run(a=a, stalls=(0.2, 0.2), seed=2, resets=3, bulk=False),
        Run(a=a, batches=4, seed=3, bulk=False),
    ]
    verilog = without_initial_values(dense_verilog(dense()))
    results = cosimulate_runs(dense(), runs, simulator=simulator, verilog=verilog)
    for result in results:
        result.check()
    assert len(np.unique(results[0].y)) > 5
    assert results[0].cycles == dense().cycles(len(a))


@pytest.mark.slow  # the layer above has one
@pytest.mark.parametrize("cells", ["portable", "ice40"])
@icarus_first
def test_array(simulator, cells):
    config = ArrayConfig(rows=3, cols=4, depth=2, cells=cells)
    array = BareArray(config)
    rng = np.random.default_rng(2)
    verilog = without_initial_values(emit_verilog(AxiBareArray(array), "array")) + models_verilog(cells)
    for m, k, n in ((1, 1, 1), (7, 9, 10)):
        a, b = values(rng, np.int8, (m, k)), values(rng, np.int8, (k, n))
        for stalls in (0, (0.3, 0.4)):
            cosimulate_array(
                array, Run(a=a, stalls=stalls, bulk=False), b, simulator=simulator, verilog=verilog
            ).check()


@pytest.mark.sampled(99)
@pytest.mark.parametrize("config", ENGINES, ids=lambda each: f"{each.rows}x{each.cols}x{each.depth}-{each.dataflow}")
@icarus_first
def test_engine(simulator, config):
    rng = np.random.default_rng(3)
    jobs = [random_job(config, rng, *shape) for shape in SHAPES]
    stalls = [(0.0, 0.0, 0.0) if index % 2 else (0.3, 0.2, 0.4) for index in range(len(jobs))]
    results = Uninitialized(config, simulator=simulator).run_jobs(jobs, stalls)
    for job, each, (y, report) in zip(jobs, stalls, results, strict=True):
        np.testing.assert_array_equal(y, golden(job), err_msg=text(job))
        assert any(each) or report.cycles == report.model_cycles, text(job)


def test_weights_are_kept():
    """The contents of memories that nothing writes are the layer; those of the others go, as all of the registers'."""
    before = dense_verilog(dense())
    after = without_initial_values(before)
    kept = re.findall(r"^\s*initial begin\n(.*?)^\s*end$", after, re.MULTILINE | re.DOTALL)
    had = re.findall(r"^\s*initial begin\n(.*?)^\s*end$", before, re.MULTILINE | re.DOTALL)
    assert set(kept) < set(had)
    modules = re.findall(r"^module (\w*weights_\d+_rom)\(.*?^endmodule", after, re.MULTILINE | re.DOTALL)
    assert len(modules) >= dense().config.cols
    for name in modules:
        assert module_of(before, name)["contents"] == module_of(after, name)["contents"] != []
    assert "always" in after
    assert re.sub(r"\W", "", after) != re.sub(r"\W", "", before)


def module_of(verilog, name):
    module = re.search(rf"^module {name}\(.*?^endmodule", verilog, re.MULTILINE | re.DOTALL)[0]
    return {"contents": re.findall(r"\w+\[\d+\] = [^;]*;", module)}


def test_only_initial_values_go():
    engine = emit_verilog(Engine(EngineConfig(rows=2, cols=2, lanes=2, dataflow=OUTPUT, **SIZES)).hardware, "engine")
    stripped = without_initial_values(engine)
    assert " = 1'h0" not in "".join(re.findall(r"^\s*(?:output )?reg .*$", stripped, re.MULTILINE))
    assert "initial begin" not in stripped  # every memory of an engine is written
    assert re.findall(r"<= .*;", engine) == re.findall(r"<= .*;", stripped)
    assert re.findall(r"^\s*assign .*;", engine, re.MULTILINE) == re.findall(r"^\s*assign .*;", stripped, re.MULTILINE)
    with pytest.raises(ValueError, match="must have registers with initial values"):
        without_initial_values(stripped)


def test_a_memory_is_a_rom_only_if_nothing_writes_it():
    text = """module m(clk);
  reg [1:0] \\state$1  = 2'h0;
  reg [7:0] rom [1:0];
  initial begin
    rom[0] = 8'h01;
    rom[1] = 8'h02;
  end
  reg [7:0] ram [1:0];
  initial begin
    ram[0] = 8'h03;
    ram[1] = 8'h04;
  end
  always @(posedge clk) begin
    if (enable)
      ram[address][3:0] <= data[3:0];
    \\state$1  <= rom[address];
  end
endmodule
"""
    stripped = without_initial_values(text)
    assert "rom[1] = 8'h02;" in stripped
    assert "ram[1] = 8'h04;" not in stripped
    assert "2'h0" not in stripped


@pytest.mark.parametrize("simulator", [pytest.param("icarus", marks=pytest.mark.simulator)], indirect=True)
def test_the_first_commands_of_the_vector_unit(simulator):
    """One of each kind: the sum of a softmax, a row's extremes and its statistics begin undefined."""
    draws = iter([random_softmax, random_normalization, random_tables])
    engine, image = UninitializedDma(CONFIG, bus_bytes=8, simulator=simulator), MemoryImage(1)
    operations = operations_of(image, np.random.default_rng(1), 3, 8, draw=lambda rng: next(draws)(rng))
    work = prepared(engine, image, operations)
    (outcome,) = engine.simulate([work])
    engine.check(outcome, 0)
    assert outcome.memory == memory_after(work, operations)
