"""Bad input at the engine's edge: every error code, clear, reset at any cycle, interrupts, and the registers."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from engines import FLOAT8, RAGGED, SMALL, engine
from float8_operations import random_float8_job
from operations import values

from systoliq.golden import matmul_integer
from systoliq.hw.engine import ERRORS, REGISTERS, ROW_TABLE, lane_slots
from systoliq.hw.engine.host import EnginePacking, Job, Map
from systoliq.sim.cache import run_directory
from systoliq.sim.engine import ENGINE_ERRORS, EngineError
from systoliq.sim.engine.errors import engine_error, error_classes

RUNS = [
    pytest.param("verilator", SMALL, marks=pytest.mark.simulator, id="verilator-small"),
    *(
        pytest.param(simulator, config, marks=[pytest.mark.simulator, pytest.mark.slow], id=f"{simulator}-{name}")
        for simulator in ("verilator", "icarus")
        for name, config in (("small", SMALL), ("ragged", RAGGED), ("float8", FLOAT8))
        if (simulator, name) != ("verilator", "small")
    ),
]


def job(m, k, n, *, per_row=False, seed=0):
    rng = np.random.default_rng(seed)
    return Job(
        a=values(rng, np.int8, (m, k)),
        b=values(rng, np.uint8, (k, n)),
        a_zero_point=values(rng, np.int8, (m if per_row else 1,)),
        b_zero_point=values(rng, np.uint8, (n,)),
        bias=np.zeros(n, np.int32),
    )


def golden(job):
    return matmul_integer(job.a, job.b, job.a_zero_point, job.b_zero_point)


def with_register(work, name, value):
    steps = [(*step[:3], value, step[4]) if step[1] == name else step for step in work.steps]
    return dataclasses.replace(work, steps=steps)


def with_words(work, name, change):
    return dataclasses.replace(work, words=[work.words[0] | {name: change(work.words[0][name])}])


@pytest.mark.sampled(99)
def test_every_code(small):
    """Each error ends in the exception of its name, and after the clear the next job is right."""
    good = job(6, 9, 7, per_row=True)
    prepared = small.prepare(good)
    bad = {
        "ILLEGAL_SHAPE": [(good, with_register(prepared, name, 0)) for name in ("M", "K", "N")],
        "A_TOO_LARGE": [job(3, SMALL.a_words * SMALL.depth + 1, 5)],
        "B_TOO_LARGE": [job(5, 32, 4 * SMALL.cols + 1), job(5, 2 * SMALL.b_words + 1, 1)],
        "TOO_MANY_COLUMNS": [job(2, 3, SMALL.max_columns + 1)],
        "TOO_MANY_ROWS": [job(SMALL.max_rows + 1, 3, 2, per_row=True)],
    }
    shorter, longer = (lambda words: words[:-1]), (lambda words: [*words, 0])
    for name in ("a", "b"):
        early = [shorter, lambda words: words[:1]]
        bad[f"{name.upper()}_ENDED_EARLY"] = [(good, with_words(prepared, name, change)) for change in early]
        bad[f"{name.upper()}_ENDED_LATE"] = [(good, with_words(prepared, name, longer))]
    assert {*bad, "QUEUE_FULL"} == set(ERRORS)

    cases = []
    for name, group in bad.items():
        for case in group:
            refused, work = case if isinstance(case, tuple) else (case, small.prepare(case))
            cases += [(refused, work, name), (good, prepared, None)]
    outcomes = small.simulate([work for _, work, _ in cases])
    for (what, work, name), outcome in zip(cases, outcomes, strict=True):
        if name is None:
            y, report = small.finish(what, work, outcome)
            np.testing.assert_array_equal(y, golden(what))
            assert report.cycles == report.model_cycles
        else:
            with pytest.raises(ENGINE_ERRORS[ERRORS[name][0]]) as caught:
                small.finish(what, work, outcome)
            assert str(caught.value).startswith(f"job of M = {what.m}, K = {what.k}, N = {what.n}: ")
            assert caught.value.code == ERRORS[name][0]


def test_driver_raises(small):
    with pytest.raises(ENGINE_ERRORS[ERRORS["TOO_MANY_COLUMNS"][0]], match="N must not exceed the column table"):
        small.run_jobs([job(2, 3, SMALL.max_columns + 1)])


def test_error_classes():
    names = {kind.__name__ for kind in ENGINE_ERRORS.values()}
    assert {"IllegalShapeError", "AEndedEarlyError", "QueueFullError"} <= names
    assert len(names) == len(ERRORS)
    assert error_classes({"NEW_ONE": (99, "Text.")})[99].__name__ == "NewOneError"
    assert type(engine_error(200, "job")) is EngineError


def table_addresses(config, registers):
    """Addresses of entries that the tables have, and of some that they have not."""
    table, slots = registers.column_table, lane_slots(config)
    columns, column_end = table.base, config.table_words * slots * table.stride
    if registers.row_table is None:
        beyond, within = [ROW_TABLE.base, ROW_TABLE.base + ROW_TABLE.stride, columns - 4], []
    else:
        rows, row_end = ROW_TABLE.base, config.max_rows * ROW_TABLE.stride
        beyond, within = [rows + row_end, rows + 2 * row_end, columns - 4], [rows + row_end - ROW_TABLE.stride]
    for word in table.words:
        beyond += [columns + column_end + word.offset, columns + 2 * column_end + word.offset]
        beyond += [columns + table.stride * lane + word.offset for lane in range(config.lanes, slots)]
        last = config.table_words * slots - 1 - (slots - config.lanes)
        within.append(columns + table.stride * last + word.offset)
    return beyond, within


def entries(config, registers):
    """Addresses of words in the tables."""
    table, size = registers.column_table, registers.column_table.stride // 4
    found = [table.base + i * 4 for i in range(size * 8) if i // size % lane_slots(config) < config.lanes]
    rows = [] if registers.row_table is None else [ROW_TABLE.base + i * ROW_TABLE.stride for i in range(8)]
    return rows + found


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("simulator", "config"), RUNS, indirect=["simulator"])
@pytest.mark.parametrize(
    "case",
    [
        "queue_full",
        "start_again_after_an_error",
        "interrupts",
        "reset_and_clear_at_any_cycle",
        "clear_with_y_stalled",
        "start_during_clear",
        "acknowledge_loses_no_error",
        "tables_beyond_their_end",
        "writes_while_busy",
        "busy_from_the_first_word",
        "registers",
    ],
)
def test_at_the_edge(simulator, config, case):
    small = engine(config, simulator)
    registers = Map.of(config)
    if config.float8:
        rng = np.random.default_rng(0)
        jobs = [random_float8_job(config, rng, *shape) for shape in ((7, 9, 6), (5, 20, 9))]
        y = [EnginePacking(config).pack_y(each.golden()) for each in jobs]
    else:
        jobs = [job(7, 9, 6, per_row=True), job(5, 20, 9, seed=1)]
        y = [EnginePacking(config).pack_y(golden(each)) for each in jobs]
    status = registers.register("STATUS")
    constants = {}
    for (name, field), value in small.hardware.constants().items():
        constants[name] = constants.get(name, 0) | value << registers.register(name).field(field).lsb
    beyond, within = table_addresses(config, registers)
    folder = run_directory()
    content = {
        "work": [small.prepare(each) for each in jobs],
        "y": y,
        "cycles": [small.hardware.cycles(small.shape(each)) for each in jobs],
        "address": {register.name: register.offset for register in registers.registers},
        "command": {field.name: field.mask for field in registers.register("CONTROL").fields},
        "status": {field.name: field.mask for field in status.fields},
        "interrupt": {field.name: field.mask for field in registers.register("INTERRUPT").fields},
        "errors": {name: code for name, (code, _) in ERRORS.items()},
        "constants": constants,
        "writable": {
            register.name: sum(field.mask for field in register.fields)
            for register in registers.registers
            if register.access == "rw"
        },
        "beyond": beyond,
        "within": within,
        "entries": entries(config, registers),
        "nowhere": [max(register.offset for register in REGISTERS) + 4, 0x1000, 0x7FFFC],
    }
    (folder / "case.pickle").write_bytes(pickle.dumps(content))
    small.simulation.run(
        Path(__file__).parent / "faults_bench.py",
        testcase=case,
        env={"SYSTOLIQ_FAULTS": str(folder)},
        directory=folder,
    ).check()
