"""Whole systems in RTL: a processor's program, the bus and the engine give the operators' own bits, under stalls."""

from __future__ import annotations

import importlib
import importlib.util

import numpy as np
import pytest
from configurations import golden, random_jobs
from dma_lists import SMALL
from job_table import run_lists, system_config

from systoliq.golden.operators import QLinearInputs
from systoliq.hw.engine import ERRORS, EngineConfig
from systoliq.hw.engine.host import Job, plan_matmul_integer, plan_qlinear_matmul
from systoliq.sim.tools import find, missing_text

ENGINE = SMALL
OTHERS = {
    "deep, 64 bits": (EngineConfig(rows=2, cols=3, lanes=1, depth=4, a_words=16, b_words=32, max_columns=8), 8),
    "wide, 128 bits": (EngineConfig(rows=8, cols=8, lanes=8, a_words=32, b_words=64, max_columns=64, max_rows=16), 16),
}
MEMORY_FAILED = 272  # of engine_lists.h
OFFICIAL = [
    "test_matmulinteger",
    *(
        f"test_qlinearmatmul_{rank}_{kind}_{scale}"
        for rank in ("2D", "3D")
        for kind in ("uint8", "int8")
        for scale in ("float32", "float16")
    ),
]


@pytest.fixture(scope="module", autouse=True)
def _tools():
    for module, package in (("ziglang", "ziglang"), ("pythondata_cpu_picorv32", "pythondata-cpu-picorv32")):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{package} is not installed: pip install 'systoliq[soc]'")
    for name in ("verilator", "c++"):
        if not (tool := find(name)).found:
            pytest.skip(missing_text(tool))


def official():
    """(name, operator, inputs, expected) of each data set of ONNX's own tests."""
    node = importlib.import_module("onnx.backend.test.case.node")
    for module in ("matmulinteger", "qlinearmatmul"):
        importlib.import_module(f"{node.__name__}.{module}")
    for case in node._NodeTestCases:
        if case.name in OFFICIAL:
            for inputs, (expected,) in case.data_sets:
                yield case.name, case.model.graph.node[0].op_type, inputs, expected


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("stalls", [0.0, 0.3])
def test_the_official_tests_of_onnx(stalls):
    """All nine, each a list: processor, bus and engine give what ONNX says."""
    config, cases = system_config(ENGINE, 4), list(official())
    assert sorted(name for name, *_ in cases) == sorted(OFFICIAL)
    plans = [
        plan_matmul_integer(ENGINE, *inputs)
        if operator == "MatMulInteger"
        else plan_qlinear_matmul(ENGINE, QLinearInputs(*inputs))
        for _, operator, inputs, _ in cases
    ]
    outcomes = run_lists(config, [list(plan.jobs) for plan in plans], again=True, stalls=stalls, seed=1)
    for (name, _, _, expected), plan, outcome in zip(cases, plans, outcomes, strict=True):
        assert outcome.error == 0, name
        y = plan.assemble(outcome.engine)
        assert y.dtype == expected.dtype
        np.testing.assert_array_equal(y, expected, name)


def assert_right(jobs, outcome):
    """The list's results are golden's, the processor's own too."""
    assert outcome.error == 0
    for job, y, own in zip(jobs, outcome.engine, outcome.processor, strict=True):
        np.testing.assert_array_equal(y, golden(job))
        np.testing.assert_array_equal(own, golden(job))


def check(config, lists, **options):
    """All lists are right."""
    for jobs, outcome in zip(lists, run_lists(config, lists, again=True, **options), strict=True):
        assert_right(jobs, outcome)


def random_lists(config, rng, jobs):
    """Lists of one to five jobs, so many in all."""
    lists = []
    while jobs:
        count = min(jobs, int(rng.integers(1, 6)))
        lists.append(random_jobs(config, rng, count))
        jobs -= count
    return lists


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("index", range(10))
def test_a_hundred_random_jobs(index):
    """Ten at a time, with stalls of all rates, at odd places and at even ones."""
    rng, stalls = np.random.default_rng(100 + index), (0.0, 0.1, 0.3, 0.5, 0.8)[index % 5]
    lists = random_lists(ENGINE, rng, 10)
    check(system_config(ENGINE, 4), lists, ragged=index % 2 == 0, stalls=stalls, seed=index, tables=(16, 3)[index % 2])


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_other_engines_and_buses(name):
    engine, bus_bytes = OTHERS[name]
    rng = np.random.default_rng(5)
    for seed in range(3):
        lists = random_lists(engine, rng, 8)
        check(system_config(engine, bus_bytes), lists, ragged=seed > 0, stalls=0.3 * seed, seed=seed)


@pytest.mark.simulator
def test_random_jobs_and_errors_that_have_codes():
    """A job that the engine would refuse, and one whose matrices lie beyond the memory; the next list is right."""
    config, rng = system_config(ENGINE, 4), np.random.default_rng(9)
    good = random_jobs(ENGINE, rng, 2)
    zero = np.zeros(100, np.int8)
    wide = Job(
        a=np.ones((1, 1), np.int8),
        b=np.ones((1, 100), np.int8),
        a_zero_point=zero[:1],
        b_zero_point=zero,
        bias=zero.astype(np.int32),
    )
    lists = [good, [wide], good, good, good]
    first, refused, second, broken, last = run_lists(
        config, lists, again=True, ragged=True, stalls=0.4, seed=3, tables=2, beyond={3}
    )
    assert broken.error == MEMORY_FAILED
    assert refused.error == ERRORS["TOO_MANY_COLUMNS"][0]
    for outcome in (first, second, last):
        assert_right(good, outcome)
