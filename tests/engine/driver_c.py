"""docs/engine_driver.c as a shared library, and a model of engine and DMA behind its hooks."""

from __future__ import annotations

import ctypes
import functools
import subprocess
from ctypes import CFUNCTYPE, POINTER, byref, c_float, c_int, c_int32, c_size_t, c_uint8, c_uint32, c_void_p
from pathlib import Path

import numpy as np

from systoliq.hw.engine import AxiEngine, EngineConfig
from systoliq.hw.engine.host import Job, Map, column_constants

DOCS = Path(__file__).resolve().parents[2] / "docs"
STREAMS = "aby"


class Hooks(ctypes.Structure):
    _fields_ = (
        ("user", c_void_p),
        ("read_register", CFUNCTYPE(c_uint32, c_void_p, c_uint32)),
        ("write_register", CFUNCTYPE(None, c_void_p, c_uint32, c_uint32)),
        ("send", CFUNCTYPE(c_int, c_void_p, c_int, c_void_p, c_size_t)),
        ("receive", CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)),
        ("ended", CFUNCTYPE(c_int, c_void_p, c_int)),
        ("stop", CFUNCTYPE(None, c_void_p, c_int)),
        ("clean", CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)),
        ("invalidate", CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)),
        ("wait", CFUNCTYPE(None, c_void_p)),
    )


class CEngine(ctypes.Structure):
    _fields_ = (
        ("hooks", Hooks),
        *[(name, c_uint32) for name in ("rows", "cols", "depth", "lanes")],
        *[(name, c_uint32) for name in ("a_words", "b_words", "max_columns", "max_rows")],
        ("weight_stationary", c_int),
    )


class CJob(ctypes.Structure):
    _fields_ = (
        *[(name, c_uint32) for name in "mkn"],
        *[(name, c_int) for name in ("a_unsigned", "b_unsigned", "y_unsigned", "y_int32")],
        *[(name, c_int32) for name in ("a_zero_point", "b_zero_point", "y_zero_point")],
        *[(name, POINTER(c_int32)) for name in ("a_zero_points", "b_zero_points", "bias")],
        ("multiplier", POINTER(c_uint32)),
        ("shift", POINTER(c_uint8)),
    )


def compiled(command: list[str], output: Path, *more: str) -> ctypes.CDLL:
    """The driver, with `more` of the files beside it, as a shared library, without a warning."""
    flags = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-O1", "-fPIC", "-shared"]
    sources = [str(DOCS / name) for name in ("engine_driver.c", *more)]
    subprocess.run([*command, *flags, "-o", str(output), *sources], check=True)
    library = ctypes.CDLL(str(output))
    for name in ("a", "b", "y"):
        getattr(library, f"systoliq_{name}_bytes").restype = c_size_t
    library.systoliq_scale.argtypes = [c_float, POINTER(c_uint32), POINTER(c_uint8)]
    return library


def array(values, kind):
    return (kind * len(values))(*(int(value) for value in values))


def c_job(job: Job) -> CJob:
    """The job for the C driver."""
    multipliers, shifts = column_constants(np.zeros(job.n, np.float32) if job.scale is None else job.scale)
    per_row = len(job.a_zero_point) > 1
    return CJob(
        m=job.m,
        k=job.k,
        n=job.n,
        a_unsigned=job.a.dtype == np.uint8,
        b_unsigned=job.b.dtype == np.uint8,
        y_unsigned=not job.y_format.signed,
        y_int32=job.scale is None,
        a_zero_point=int(job.a_zero_point[0]),
        y_zero_point=job.y_zero_point,
        a_zero_points=array(job.a_zero_point, c_int32) if per_row else None,
        b_zero_points=array(job.b_zero_point, c_int32),
        bias=array(job.bias, c_int32),
        multiplier=array(multipliers, c_uint32),
        shift=array(shifts, c_uint8),
    )


def c_engine(library: ctypes.CDLL, config: EngineConfig) -> CEngine:
    """An engine of this configuration as the driver finds it."""
    engine = CEngine(hooks=Model(config).hooks)
    assert library.systoliq_probe(byref(engine)) == 0
    return engine


@functools.cache
def constants(config: EngineConfig) -> dict[int, int]:
    """Registers that never change, by address."""
    words: dict[int, int] = {}
    for (name, field), value in AxiEngine(config).constants().items():
        register = Map().register(name)
        words[register.offset] = words.get(register.offset, 0) | value << register.field(field).lsb
    return words


class Model:
    """Registers and transfers of an engine that gives `y`, a stream, and then `error`.

    `events` tells what was asked of it, in order. Status is busy for `work` looks at it after a start; `rest` more
    after its end, and after a clear; a transfer is over at the second question.
    """

    def __init__(self, config: EngineConfig, *, y: bytes = b"", error: int = 0, work: int = 3, rest: int = 2) -> None:
        self.map = Map()
        self.y, self.code, self.work, self.rest = y, error, work, rest
        self.events: list[str] = []
        self.written: dict[int, int] = {}
        self.sent: dict[str, bytes] = {}
        self.failing = ""
        self.busy = self.left = 0
        self.state = "idle"
        self.asked: set[str] = set()
        self.constants = dict(constants(config))
        self.hooks = Hooks()
        for name, kind in Hooks._fields_[1:]:
            setattr(self.hooks, name, kind(getattr(self, name)))

    def _status(self) -> int:
        self.left -= self.left > 0
        if self.state == "running" and not self.left:
            self.state, self.left = ("failed" if self.code else "done"), self.rest + 1
            if not self.code:
                ctypes.memmove(self.destination, self.y, len(self.y))
        fields = {
            "busy": self.state == "running" or self.left > 0,
            "done": self.state == "done",
            "error": self.code if self.state == "failed" else 0,
        }
        status = self.map.register("STATUS")
        return sum(int(value) << status.field(name).lsb for name, value in fields.items())

    def read_register(self, _, offset: int) -> int:
        return self._status() if offset == self.map.register("STATUS").offset else self.constants[offset]

    def write_register(self, _, offset: int, value: int) -> None:
        control = self.map.register("CONTROL")
        if offset != control.offset:
            assert not self.left, "what is written while the engine is busy is lost"
            self.written[offset] = value
            return
        (name,) = (field.name for field in control.fields if field.mask == value)
        self.events.append(name)
        if name == "start":
            self.state, self.left = "running", self.work
        elif name == "clear":
            self.state, self.left = "idle", self.rest
        elif name == "acknowledge":
            self.state = "idle"

    def send(self, _, stream: int, words: int, count: int) -> int:
        self.events.append(f"send {STREAMS[stream]}")
        self.sent[STREAMS[stream]] = ctypes.string_at(words, count)
        return int(self.failing == f"send {STREAMS[stream]}")

    def receive(self, _, y: int, count: int) -> int:
        self.events.append("receive")
        self.destination, self.room = y, count
        return int(self.failing == "receive")

    def ended(self, _, stream: int) -> int:
        name = STREAMS[stream]
        if self.failing == f"ended {name}":
            return -1
        again = name in self.asked
        self.asked.add(name)
        return int(again)

    def stop(self, _, stream: int) -> None:
        self.events.append(f"stop {STREAMS[stream]}" + " while busy" * (self.left > 0))

    def clean(self, _, data: int, count: int) -> None:
        self.events.append("clean")

    def invalidate(self, _, data: int, count: int) -> None:
        self.events.append("invalidate")

    def wait(self, _) -> None:
        pass
