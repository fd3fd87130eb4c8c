"""The emitted Verilog against golden, under both simulators: stalls, resets, batches, and the cycle model."""

from __future__ import annotations

import numpy as np
import pytest
from scenarios import CASES, PRODUCTS, Case

from systoliq.golden import INT8, MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, BareArray, Dense
from systoliq.sim import SimulationError
from systoliq.sim.cosimulation import Run, cosimulate, cosimulate_array, cosimulate_runs, dense_verilog

from ..support.resnet8 import resnet8_layer
from ..support.simulators import icarus_first


def on_both(cases):
    """The first case under Verilator, which has to compile it, and each under Icarus; the rest is slow."""
    runs = []
    for simulator, marks in (("verilator", [pytest.mark.slow]), ("icarus", [])):
        for index, case in enumerate(cases):
            slow = marks if index else []
            runs.append(
                pytest.param(case, simulator, marks=[pytest.mark.simulator, *slow], id=f"{simulator}-{case.id}")
            )
    return pytest.mark.parametrize(("case", "simulator"), runs, indirect=["simulator"])


@pytest.mark.sampled(24)
@on_both(CASES)
def test_layer_equals_golden(case, simulator):
    dense = case.dense()
    a = case.input()
    unstalled, stalled, interrupted, batches = cosimulate_runs(
        dense,
        [
            Run(a=a, bulk=False),
            Run(a=a, stalls=(0.3, 0.5), seed=1, bulk=False),
            Run(a=a, stalls=(0.2, 0.2), seed=2, resets=3, bulk=False),
            Run(a=a, batches=3, seed=3, bulk=False),
        ],
        simulator=simulator,
    )
    for result in (unstalled, stalled, interrupted, batches):
        result.check()
        assert result.y.dtype == dense.layer.y_format.dtype
    np.testing.assert_array_equal(unstalled.y, dense.requantization.apply(dense.layer.accumulate(a)))
    assert unstalled.cycles == dense.cycles(len(a))
    rows = dense.config.rows
    assert batches.cycles == dense.cycles(sum(-(-len(part) // rows) * rows for part in np.array_split(a, 3)))
    assert unstalled.utilization == pytest.approx(dense.schedule.utilization(len(a), unstalled.cycles))


def test_outputs_are_not_all_alike():
    """Scales that saturate everything would make the comparison above an empty one."""
    for case in CASES:
        layer = case.layer()
        y = layer.golden(case.input(64))
        assert len(np.unique(y)) >= min(3, 1 << layer.y_format.bits - 1), case.id


@pytest.mark.sampled(2)
@on_both(PRODUCTS)
def test_array_equals_integer_product(case, simulator):
    product = case
    array = BareArray(product.config())
    a, b = product.operands()
    wrap = 1 << product.accumulator_bits
    sums = (a @ b + wrap // 2) % wrap - wrap // 2
    for options in ({"bulk": False}, {"stalls": (0.4, 0.3), "resets": 2, "seed": 5}, {"stalls": 0.2, "bulk": True}):
        result = cosimulate_array(array, Run(a=a, **options), b, simulator=simulator).check()
        np.testing.assert_array_equal(result.y, sums)
        if "stalls" not in options:
            tiles = -(-product.m // product.rows) * -(-product.n // product.cols)
            assert result.cycles == array.cycles([-(-product.k // product.depth)] * tiles)


BULK = Case(rows=2, cols=4, depth=2, k=9, n=10, b_zero_point=5)


@pytest.mark.slow
@icarus_first
def test_bulk_run_is_the_same_run(simulator):
    dense = BULK.dense()
    a = BULK.input(101)
    results = cosimulate_runs(
        dense,
        [
            Run(a=a),
            Run(a=a, batches=[1, 99, 1]),
            Run(a=a, stalls=(0.3, 0.0), seed=1),
            Run(a=a, stalls=(0.0, 0.7), seed=2),
            Run(a=a, stalls=(0.5, 0.5), seed=3),
        ],
        simulator=simulator,
    )
    for result in results:
        result.check()
    assert results[0].cycles == dense.cycles(len(a))
    assert all(result.cycles > results[0].cycles for result in results[1:])


def test_real_weights_and_activations_equal_onnxruntime(shared, simulator):
    path = shared / "data" / "resnet8_fc.npz"
    known = np.load(path)
    config = ArrayConfig(rows=1, cols=10, depth=1)
    whole = resnet8_layer(known)
    for layer, y in ((whole, known["y_qgemm_bias"]), (whole.replace(bias=None), known["y_qlinearmatmul"])):
        requantization = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
        result = cosimulate(Dense(layer, requantization, config), Run(a=known["a"]), simulator=simulator).check()
        np.testing.assert_array_equal(result.y, y)


def test_mismatch_is_placed():
    dense = BULK.dense()
    y = dense.requantization
    other = Dense(dense.layer, y.replace(zero_point=1), dense.config)
    for options in ({"bulk": False}, {}):
        result = cosimulate(dense, Run(a=BULK.input(), **options), simulator="icarus", verilog=dense_verilog(other))
        assert not result.passed
        expected = dense.requantization.apply(dense.layer.accumulate(BULK.input()))
        row, column = np.argwhere(result.y != expected)[0]
        found = f"expected {expected[row, column]}, got {result.y[row, column]}"
        with pytest.raises(SimulationError, match=f"\nrow {row}, column {column}: {found}\n"):
            result.check()


@pytest.mark.slow
def test_waves(tmp_path, simulator):
    dense = BULK.dense()
    for bulk in (False, True):
        path = tmp_path / f"{bulk}.vcd"
        cosimulate(dense, Run(a=BULK.input(), bulk=bulk), simulator=simulator, waves=path).check()
        assert "m_axis_y_tdata" in path.read_text()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"stalls": 1.0}, ValueError, "stalls must be at least 0 and below 1, not 1.0"),
        ({"stalls": "much"}, TypeError, "stalls must be a probability or a pair of them, not 'much'"),
        ({"batches": 8}, ValueError, "batches must be 1 to 7 for 7 rows, not 8"),
        ({"batches": [3, 3]}, ValueError, "batches must be positive and sum to the 7 rows"),
        ({"resets": -1}, ValueError, "resets must be 0 or more, not -1"),
        ({"resets": 1, "bulk": True}, ValueError, "resets must be 0 in bulk, not 1"),
        ({"simulator": "modelsim"}, ValueError, "simulator must be one of verilator, icarus, not 'modelsim'"),
    ],
)
def test_bad_arguments(options, error, text):
    simulator = options.pop("simulator", "auto")
    run = Run(a=BULK.input(), **options)
    with pytest.raises(error, match=text):
        cosimulate(BULK.dense(), run, simulator=simulator)


def test_bad_operands():
    array = BareArray(ArrayConfig(a=INT8, b=INT8))
    good = np.ones((2, 3), np.int8)
    with pytest.raises(ValueError, match="b must have K = 3 rows for a of shape"):
        cosimulate_array(array, Run(a=good), good)
    with pytest.raises(ValueError, match="a must be in int8, not 200 to 200"):
        cosimulate_array(array, Run(a=np.full((1, 1), 200)), good)
    with pytest.raises(ValueError, match="a must be a matrix of integers"):
        cosimulate_array(array, Run(a=np.ones((2, 3))), good)
    with pytest.raises(ValueError, match="a must have the shape"):
        cosimulate(BULK.dense(), Run(a=BULK.input()[:, 1:]))


@pytest.mark.simulator
@pytest.mark.sampled(99)
@pytest.mark.parametrize("simulator", ["verilator"], indirect=True)
@pytest.mark.parametrize("cells", ["dsp48e2", "xilinx"])
def test_cells_may_hold_anything_before_the_first_clock(cells, simulator):
    """Verilator gives registers without a value a random one, another for each seed; a cell's mode is one of them."""
    layer = MatMulLayer(
        b=np.array([[3], [-2]], np.int8), b_scale=np.float32(0.02), b_zero_point=np.int8(0), a_scale=np.float32(0.1),
        a_zero_point=np.int8(0), y_scale=np.float32(0.05), y_zero_point=np.int8(0),
    )  # fmt: skip
    requantization = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    dense = Dense(layer, requantization, ArrayConfig(rows=1, cols=1, depth=1, cells=cells))
    for seed in range(4):
        cosimulate(dense, Run(a=np.ones((3, 2), np.int8), seed=seed), simulator=simulator).check()
