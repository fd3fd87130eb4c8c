"""Lists of jobs in C against those in Python: word for word, with the same tables shared, and their errors."""

from __future__ import annotations

import ctypes
import shutil
from ctypes import POINTER, byref, c_int, c_size_t, c_uint32

import numpy as np
import pytest
from configurations import draw, random_jobs
from driver_c import CEngine, CJob, Hooks, c_engine, c_job, compiled

from systoliq.hw.dma.commands import Placement, command_list, dma_register, tiled
from systoliq.hw.dma.registers import BASE
from systoliq.hw.engine import ERRORS, EngineConfig
from systoliq.hw.engine.host import Job, Map
from systoliq.sim.tools import find

TABLES = 64  # of a list: more than any list below has
FULL, BAD_PLACE, MEMORY_FAILED, REFUSED, STUCK, TIMEOUT = 270, 271, 272, 273, 261, 259


class CPlace(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in ("a", "a_stride", "b", "b_stride", "y", "y_stride")]


class CHeld(ctypes.Structure):
    _fields_ = (*[(name, c_uint32) for name in ("first", "count", "last")], ("job", POINTER(CJob)))


class CRing(ctypes.Structure):
    _fields_ = (
        *[(name, c_uint32) for name in ("size", "next", "oldest", "count", "used")],
        ("held", CHeld * TABLES),
    )


class CList(ctypes.Structure):
    _fields_ = (
        ("words", POINTER(c_uint32)),
        *[(name, c_uint32) for name in ("used", "jobs", "room", "bus_bytes")],
        ("error", c_int),
        ("engine", POINTER(CEngine)),
        ("walks", c_uint32 * 21),
        ("columns", CRing),
        ("rows", CRing),
    )


@pytest.fixture(scope="module", params=["c++17", "c99"])
def library(request, tmp_path_factory):
    if request.param == "c99":
        compiler, language = shutil.which("gcc") or shutil.which("cc"), ["-pedantic"]
    else:
        compiler, language = find("c++").path, ["-x", "c++"]
    if compiler is None:
        pytest.skip(f"no compiler of {request.param}")
    command = [str(compiler), *language, f"-std={request.param}", f"-DSYSTOLIQ_LIST_TABLES={TABLES}"]
    found = compiled(command, tmp_path_factory.mktemp("lists") / "lists.so", "engine_lists.c")
    found.systoliq_tiled_bytes.restype = c_size_t
    return found


def engine_of(rng):
    """A random configuration that can feed itself, and the bytes of its bus."""
    while True:
        config = draw(rng, "output-stationary")
        buses = [size for size in (4, 8, 16) if size % config.depth == 0]
        if config.lanes & (config.lanes - 1) == 0 and buses:
            return config, int(rng.choice(buses))


def places_of(rng, config, jobs):
    row_by_row = config.depth == 1
    return [
        Placement(
            **{name: int(rng.integers(0, 2**32)) for name in ("a", "a_stride", "b", "y", "y_stride")},
            b_stride=int(rng.integers(1, 2**32)) if row_by_row and rng.random() < 0.5 else None,
        )
        for _ in jobs
    ]


def shared(rng, jobs):
    """The jobs, and some of them again with other operands, so that tables are shared."""
    again = [jobs[i] for i in rng.integers(0, len(jobs), len(jobs) // 2)]
    return [jobs[i] for i in rng.permutation(len(jobs))] + again


def listed(library, found, bus, jobs, places, room=1 << 20):
    """Words of a list made in C, and what its functions returned."""
    kept, made, words = [c_job(job) for job in jobs], CList(), (c_uint32 * room)()
    library.systoliq_list_begin(byref(made), byref(found), bus, words, room)
    errors = []
    for job, place in zip(kept, places, strict=True):
        c_place = CPlace(**vars(place) | {"b_stride": place.b_stride or 0})
        errors.append(library.systoliq_list_add(byref(made), byref(job), byref(c_place)))
    errors.append(library.systoliq_list_end(byref(made)))
    return list(words[: made.used]), errors


@pytest.mark.sampled(99)
def test_lists_are_those_of_python(library):
    """Random engines and jobs: tables that go round their rings, are shared, and are given up while jobs use them."""
    rng, waits = np.random.default_rng(1), 0
    for _ in range(60):
        config, bus = engine_of(rng)
        jobs = shared(rng, random_jobs(config, rng, int(rng.integers(1, 9))))
        places = places_of(rng, config, jobs)
        expected = command_list(jobs, places, config, bus).words
        words, errors = listed(library, c_engine(library, config), bus, jobs, places)
        assert errors == [0] * (len(jobs) + 1)
        assert words == expected
        waits += len(jobs)
    assert waits > 200


def test_an_empty_list(library):
    config = EngineConfig()
    assert listed(library, c_engine(library, config), 4, [], [])[0] == command_list([], [], config, 4).words


def test_b_is_tiled_as_in_python(library):
    rng = np.random.default_rng(2)
    for _ in range(40):
        config, _ = engine_of(rng)
        (job,) = random_jobs(config, rng, 1)
        found, kept, b = c_engine(library, config), c_job(job), np.ascontiguousarray(job.b)
        size = library.systoliq_tiled_bytes(byref(found), byref(kept))
        guarded = ctypes.create_string_buffer(b"\xa5" * (size + 8), size + 8)
        library.systoliq_tile_b(byref(found), byref(kept), b.ctypes, guarded)
        assert guarded.raw == tiled(job.b, config).tobytes() + b"\xa5" * 8


def small_job(k=3, n=2):
    zero = np.zeros(n, np.int8)
    return Job(
        a=np.ones((2, k), np.int8),
        b=np.ones((k, n), np.int8),
        a_zero_point=np.zeros(1, np.int8),
        b_zero_point=zero,
        bias=np.zeros(n, np.int32),
    )


def test_what_is_refused(library):
    deep, plain = EngineConfig(depth=2), EngineConfig()
    place = Placement(a=0, a_stride=4, b=0, b_stride=4, y=0, y_stride=8)
    assert listed(library, c_engine(library, deep), 4, [small_job()], [place])[1] == [BAD_PLACE] * 2
    columns = [ERRORS["TOO_MANY_COLUMNS"][0]] * 3
    found = c_engine(library, plain)
    jobs = [small_job(n=plain.max_columns + 1), small_job()]
    assert listed(library, found, 4, jobs, [place] * 2)[1] == columns, "a list with an error stays so"
    whole, _ = listed(library, found, 4, [small_job()], [place])
    for room in range(len(whole)):
        words, errors = listed(library, found, 4, [small_job()], [place], room)
        assert errors[-1] == FULL
        assert words == whole[:room]
    assert listed(library, found, 4, [small_job()], [place], len(whole))[1] == [0, 0]


class Registers:
    """The registers of an engine that answers `status` to looks at DMA_STATUS, the last of them for ever."""

    def __init__(self, status, engine=0):
        self.status, self.engine, self.written, self.halted = list(status), engine, [], False
        self.hooks = Hooks()
        for name in ("read_register", "write_register"):
            setattr(self.hooks, name, dict(Hooks._fields_)[name](getattr(self, name)))

    def read_register(self, _, offset):
        if offset == BASE + dma_register("DMA_STATUS").offset:
            resting = dma_register("DMA_STATUS").field("resting").mask if self.halted else 0
            return resting | (self.status.pop(0) if len(self.status) > 1 else self.status[0])
        assert offset == Map().register("STATUS").offset
        return 0 if self.halted else self.engine

    def write_register(self, _, offset, value):
        self.written.append((offset, value))
        if offset == BASE + dma_register("HALT").offset:
            self.halted = bool(value)


def mask(name):
    return dma_register("DMA_STATUS").field(name).mask


PLAYING = 1
ENDS = {
    "done": ([PLAYING, PLAYING, mask("done")], 0, 0),
    "a job": ([PLAYING, 4 << 8], 3 << 8 | 1, 3),
    "memory": ([PLAYING, mask("y_failed") | 4 << 8], 0, MEMORY_FAILED),
    "a register": ([PLAYING, 3 << 8], 0, REFUSED),
    "never": ([PLAYING], 0, TIMEOUT),
}


@pytest.mark.parametrize("library", ["c99"], indirect=True)
@pytest.mark.parametrize("end", ENDS)
def test_playing_a_list(library, end):
    """What is written in order, and what comes of it: errors have names, and the engine is recovered."""
    statuses, engine, expected = ENDS[end]
    registers, at = Registers(statuses, engine), lambda name: BASE + dma_register(name).offset
    found = CEngine(hooks=registers.hooks)
    assert library.systoliq_list_play(byref(found), c_uint32(0x1234), c_uint32(10), c_uint32(20)) == expected
    begun = [(at("LIST_ADDRESS"), 0x1234), (at("LIST_EXTENT"), 39), (at("DMA_INTERRUPT"), 0), (at("LIST_CONTROL"), 1)]
    assert registers.written[:4] == begun
    control = Map().register("CONTROL")
    recovery = [(at("HALT"), 1), (control.offset, control.field("clear").mask), (at("HALT"), 0)]
    assert registers.written[4:] == (recovery if expected else []) + [(at("LIST_CONTROL"), 2)]


def test_an_engine_that_does_not_rest_is_stuck(library):
    registers = Registers([PLAYING], 0)
    registers.write_register = lambda *_: None
    registers.hooks.write_register = dict(Hooks._fields_)["write_register"](lambda *_: None)
    found = CEngine(hooks=registers.hooks)
    assert library.systoliq_list_play(byref(found), c_uint32(0), c_uint32(10), c_uint32(20)) == STUCK
