"""The driver in C against the one in Python: packing, constants, checks and a job's steps."""

from __future__ import annotations

import ctypes
import shutil
from ctypes import byref, c_float, c_uint8, c_uint32

import numpy as np
import pytest
from driver_c import Model, c_engine, c_job, compiled
from engines import CONFIGS, engine
from operations import TYPES, values

from systoliq.golden import INT8, UINT8
from systoliq.hw.engine import ERRORS, EngineConfig
from systoliq.hw.engine.host import EnginePacking, Job, Map, column_constants, sequence
from systoliq.sim.tools import find

LIMIT = 50


@pytest.fixture(scope="module", params=["c++17", "c99"])
def driver(request, tmp_path_factory):
    """The library, compiled as either language."""
    if request.param == "c99":
        compiler = shutil.which("gcc") or shutil.which("cc")
        language = ["-pedantic"]
    else:
        compiler = find("c++").path if find("c++").found else None
        language = ["-x", "c++"]
    if compiler is None:
        pytest.skip(f"no compiler of {request.param}")
    return compiled(
        [str(compiler), *language, f"-std={request.param}"], tmp_path_factory.mktemp("driver") / "driver.so"
    )


def random_config(rng):
    lanes, interval = (int(value) for value in rng.integers(1, 8, 2))
    rows, depth = (int(value) for value in rng.integers(1, 8, 2))
    dataflow = ["output-stationary", "weight-stationary"][rng.integers(2)]
    return EngineConfig(rows=rows, cols=lanes * interval, depth=depth, lanes=lanes, dataflow=dataflow)


def random_job(rng, *, most=40):
    m, k, n = (int(value) for value in rng.integers(1, most, 3))
    a_type, b_type = (TYPES[i] for i in rng.integers(0, 2, 2))
    y_format = [INT8, UINT8][rng.integers(2)]
    return Job(
        a=values(rng, a_type, (m, k)),
        b=values(rng, b_type, (k, n)),
        a_zero_point=values(rng, a_type, (m if rng.random() < 0.5 else 1,)),
        b_zero_point=values(rng, b_type, (n,)),
        bias=rng.integers(-(2**31), 2**31, n).astype(np.int32),
        scale=None if rng.random() < 0.3 else rng.uniform(0, 2, n).astype(np.float32),
        y_zero_point=int(values(rng, y_format.dtype, ())),
        y_format=y_format,
    )


def packed(driver, engine, job, name):
    """Words of an operand, as bytes."""
    operand = np.ascontiguousarray(getattr(job, name))
    size = getattr(driver, f"systoliq_{name}_bytes")(byref(engine), byref(c_job(job)))
    guarded = ctypes.create_string_buffer(b"\xa5" * (size + 8), size + 8)
    getattr(driver, f"systoliq_pack_{name}")(byref(engine), byref(c_job(job)), operand.ctypes, guarded)
    assert guarded.raw[size:] == b"\xa5" * 8
    return guarded.raw[:size]


def test_probe(driver):
    wide, deep = EngineConfig(rows=256, cols=256, lanes=1, max_columns=65536), EngineConfig(depth=256)
    for config in (*CONFIGS.values(), wide, deep):
        found = c_engine(driver, config)
        for name in ("rows", "cols", "depth", "lanes", "a_words", "b_words", "max_columns", "max_rows"):
            assert getattr(found, name) == getattr(config, name)
        assert found.weight_stationary == (config.dataflow == "weight-stationary")
    for register, answer in (("ID", 256), ("VERSION", 257)):
        model = Model(config)
        model.constants[Map().register(register).offset] ^= 1 << 16
        found.hooks = model.hooks
        assert driver.systoliq_probe(byref(found)) == answer


def test_packing(driver):
    """Operands byte for byte, results back, over all sizes of array, both dataflows and ragged edges."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        config, job = random_config(rng), random_job(rng)
        found = c_engine(driver, config)
        packing = EnginePacking(config)
        assert packed(driver, found, job, "a") == packing.pack_a(job.a).tobytes()
        assert packed(driver, found, job, "b") == packing.pack_b(job.b).tobytes()
        dtype = np.dtype(np.int32) if job.scale is None else np.dtype(np.uint8)
        y = rng.integers(0, 256, (job.m, job.n)).astype(dtype)
        back, stream = np.empty_like(y), packing.pack_y(y)
        driver.systoliq_unpack_y(byref(found), byref(c_job(job)), stream, back.ctypes)
        np.testing.assert_array_equal(back, y)
        room = driver.systoliq_y_bytes(byref(found), byref(c_job(job)))
        assert room % (4 * config.lanes) == 0
        assert len(stream) <= room < len(stream) + 4 * config.lanes


def test_scales(driver):
    """Corners and random bits of a float: the constants of `column_constants`, or a refusal."""
    rng = np.random.default_rng(2)
    exponents = np.concatenate([np.exp2(np.arange(-149, 128, dtype=np.float64)), [0.0, 256.0, 2.0**-32]])
    corners = np.concatenate([exponents * factor for factor in (1, 1 - 2.0**-24, 1 + 2.0**-23)]).astype(np.float32)
    random = rng.integers(0, 2**32, 4000, np.uint32).view(np.float32)
    near = (rng.integers(0x2F000000, 0x44000000, 4000, np.uint32)).view(np.float32)
    scales = np.concatenate([corners, random, near, np.float32([np.inf, -np.inf, np.nan, -0.0, -1e-45, -1])])
    taken = (scales >= 0) & np.isfinite(scales)
    multipliers, shifts = column_constants(scales[taken])
    expected = iter(zip(multipliers.tolist(), shifts.tolist(), strict=True))
    multiplier, shift = c_uint32(), c_uint8()
    for scale, good in zip(scales, taken, strict=True):
        with np.errstate(invalid="ignore"):
            answer = driver.systoliq_scale(c_float(scale), byref(multiplier), byref(shift))
        assert answer == (0 if good else 258), scale
        if good:
            assert (multiplier.value, shift.value) == next(expected), scale


def shapes(config):
    """Jobs (m, k, n, zero points per row) beside and beyond each limit."""
    depth, rows, cols = config.depth, config.rows, config.cols
    chunk = rows * depth
    yield from [(0, 1, 1, False), (1, 0, 1, False), (1, 1, 0, False)]
    for more in (0, 1):
        yield 2, 3, config.max_columns + more, False
        yield config.max_rows + more, 3, 2, True
        yield config.max_rows + more, 3, 2, False
        yield rows, config.a_words * depth + more, 1, False
        yield rows, config.a_words * depth + more, cols + 1, False
        yield rows + 1, config.b_words * depth + more, cols, False
        yield rows, config.b_words * depth + more, cols, False
        yield rows + 1, config.b_words // 2 * depth + more, 2 * cols, False
        yield 2, config.a_words // 2 * chunk + more, cols + 1, False
        yield 2, config.a_words // 2 * chunk + more, cols, False


@pytest.mark.sampled(99)
@pytest.mark.parametrize("driver", ["c++17"], indirect=True)
@pytest.mark.parametrize("name", ["odd", "weights", "least"])
def test_check_says_what_the_hardware_says(driver, name):
    """The codes that the engine itself ends such jobs with; those it takes are 0."""
    config = CONFIGS[name]
    hardware, found = engine(config), c_engine(driver, config)
    cases = []
    for m, k, n, per_row in shapes(config):
        zero = np.zeros(m if per_row else 1, np.int8)
        a, b = np.ones((m, k), np.int8), np.ones((k, n), np.int8)
        job = Job(a=a, b=b, a_zero_point=zero, b_zero_point=np.zeros(n, np.int8), bias=np.zeros(n, np.int32))
        cases.append((job, driver.systoliq_check(byref(found), byref(c_job(job)))))
    assert {code for job, code in cases if not job.m * job.k * job.n} == {ERRORS["ILLEGAL_SHAPE"][0]}
    assert ERRORS["TOO_MANY_COLUMNS"][0] in {code for job, code in cases if job.n > config.max_columns}
    cases = [(job, code) for job, code in cases if job.m * job.k and 0 < job.n <= config.max_columns]
    outcomes = hardware.simulate([hardware.prepare(job) for job, _ in cases])
    for (job, code), outcome in zip(cases, outcomes, strict=True):
        assert Map().extract("STATUS", "error", outcome.registers["STATUS"]) == code, (job.m, job.k, job.n)


def run(driver, model, config, job):
    """The answer of `systoliq_run`, and Y."""
    found = c_engine(driver, config)
    words = [ctypes.create_string_buffer(packed(driver, found, job, name)) for name in "ab"]
    y = ctypes.create_string_buffer(driver.systoliq_y_bytes(byref(found), byref(c_job(job))))
    found.hooks = model.hooks
    arguments = (byref(found), byref(c_job(job)))
    assert driver.systoliq_load_tables(*arguments) == 0
    answer = driver.systoliq_run(*arguments, *words, y, LIMIT)
    back = np.empty((job.m, job.n), job.y_dtype)
    driver.systoliq_unpack_y(*arguments, y, back.ctypes)
    return answer, back


BEGIN = ["clean", "clean", "invalidate", "receive", "send a", "send b", "start"]
RECOVERY = ["clear", "stop a", "stop b", "stop y"]


def test_a_job(driver):
    """Each register and table entry is what the driver in Python writes; the streams and Y arrive."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        config, job = random_config(rng), random_job(rng)
        y = rng.integers(-(2**31), 2**31, (job.m, job.n)).astype(job.y_dtype)
        packing = EnginePacking(config)
        model = Model(config, y=packing.pack_y(y))
        answer, result = run(driver, model, config, job)
        assert answer == 0
        np.testing.assert_array_equal(result, y)
        assert model.events == [*BEGIN, "acknowledge", "invalidate"]
        assert model.sent["a"] == packing.pack_a(job.a).tobytes()
        assert model.sent["b"] == packing.pack_b(job.b).tobytes()
        for step in sequence(job, config):
            if step.action == "fill":
                words = np.frombuffer(step.data, "<u4").tolist()
                written = [model.written.get(step.address + 4 * i, 0) for i in range(len(words))]
                assert written == words, step.name
            elif step.action == "write" and step.name != "CONTROL":
                assert model.written[step.address] == step.value, step.name


@pytest.fixture
def one_job():
    return random_config(np.random.default_rng(4)), random_job(np.random.default_rng(5))


def test_an_error(driver, one_job):
    """The transfer of Y goes on until the engine is at rest, which ends its frame."""
    model = Model(one_job[0], error=ERRORS["A_ENDED_EARLY"][0])
    assert run(driver, model, *one_job)[0] == ERRORS["A_ENDED_EARLY"][0]
    assert model.events == [*BEGIN, *RECOVERY]


def test_a_time_out(driver, one_job):
    model = Model(one_job[0], work=LIMIT + 1)
    assert run(driver, model, *one_job)[0] == 259
    assert model.events == [*BEGIN, *RECOVERY]


def test_an_engine_that_stays_busy(driver, one_job):
    model = Model(one_job[0], work=LIMIT + 1, rest=LIMIT + 9)
    assert run(driver, model, *one_job)[0] == 261
    assert model.events == [*BEGIN, "clear", *[f"stop {name} while busy" for name in "aby"]]
    found = c_engine(driver, one_job[0])
    found.hooks = model.hooks
    assert driver.systoliq_load_tables(byref(found), byref(c_job(one_job[1]))) == 262


@pytest.mark.parametrize(("failing", "begun"), [("receive", 4), ("send a", 5), ("send b", 6), ("ended y", 7)])
def test_a_transfer_that_fails(driver, one_job, failing, begun):
    config, job = one_job
    model = Model(config, y=bytes(job.m * job.n * job.y_dtype.itemsize))
    model.failing = failing
    assert run(driver, model, config, job)[0] == 260
    assert model.events == [*BEGIN[:begun], *RECOVERY]
