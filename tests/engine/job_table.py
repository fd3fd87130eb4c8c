"""Tables of jobs for the firmware `jobs.c`: lists, their operands in memory, and what the firmware sends of them."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from systoliq.hw.dma.commands import Placement
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import Job
from systoliq.hw.soc import Soc, SocConfig
from systoliq.hw.verilog import emit_verilog
from systoliq.sim.engine.dma_engine import MemoryImage, SimulatedDmaEngine
from systoliq.sim.system import SystemSimulation
from systoliq.soc.compiler import compile_firmware
from systoliq.soc.design import MEMORY, NAME, memory_file, picorv32
from systoliq.soc.sources import JOBS_ADDRESS, LIBRARY, firmware_sources
from systoliq.soc.testbench import soc_testbench

FLAGS = {"a_unsigned": 1, "b_unsigned": 2, "y_unsigned": 4, "y_int32": 8, "per_row": 16}


@functools.cache
def system_config(engine: EngineConfig, bus_bytes: int, ram_kib: int = 128) -> SocConfig:
    """A throttled system whose UART takes two cycles a bit."""
    return SocConfig(
        engine=engine, bus_bytes=bus_bytes, ram_kib=ram_kib, clock_hz=2_000_000, baud=1_000_000, throttled=True
    )


@functools.cache
def simulation(config: SocConfig) -> SystemSimulation:
    sources = {
        "soc.v": str(emit_verilog(Soc(config), NAME)), "soc_tb.v": soc_testbench(config, NAME), "cpu.v": picorv32()
    }  # fmt: skip
    return SystemSimulation.build(sources, f"{NAME}_tb")


@functools.cache
def program(config: SocConfig, tables: int = 16) -> bytes:
    """The program that reads the table; it has the memory below the table, its stack included."""
    sources = firmware_sources(config)
    sources["link.ld"] = sources["link.ld"].replace(str(config.ram_bytes), str(JOBS_ADDRESS))
    sources["soc.h"] += f"#define SYSTOLIQ_LIST_TABLES {tables}\n"
    sources["engine_lists.h"] = '#include "soc.h"\n' + sources["engine_lists.h"]
    return compile_firmware(sources, (*LIBRARY, "jobs.c"))


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What came of a list: an error's code, its cycles, Y of each job by the engine, and by the processor."""

    error: int
    cycles: int
    engine: list[np.ndarray]
    processor: list[np.ndarray]


def memory_of(
    config: SocConfig, lists: list[list[Job]], *, again: bool, ragged: bool, seed: int, tables: int, beyond: set[int]
) -> bytes:
    """The whole memory, with the program and the table of these lists; A of those in `beyond` lies beyond it."""
    placer, image = SimulatedDmaEngine(config.engine, bus_bytes=config.bus_bytes), MemoryImage(seed)
    code = program(config, tables)
    image.put(code)
    image.reserve(JOBS_ADDRESS - len(code))
    entry_words = 17
    size = 4 * (4 + sum(1 + entry_words * len(jobs) for jobs in lists))
    at = image.reserve(size, 16)
    assert at == JOBS_ADDRESS
    words: list[int] = []
    for index, jobs in enumerate(lists):
        words.append(len(jobs))
        placed = placer.place(jobs, image, ragged=ragged)
        if index in beyond:
            placed = [dataclasses.replace(place, a=config.ram_bytes) for place in placed]
        for job, place in zip(jobs, placed, strict=True):
            words += _entry(image, job, place)
    free = image.reserve(0, 64)
    assert free < config.ram_bytes, "too many jobs for the memory"
    table = np.array([len(lists), free, config.ram_bytes, again, *words], np.uint32)
    image.data[at : at + size] = table.astype("<u4").tobytes()
    return bytes(image.data)


def _entry(image: MemoryImage, job: Job, place: Placement) -> list[int]:
    put = lambda values, kind: image.put(np.asarray(values).astype(kind).tobytes(), 4)  # noqa: E731
    per_row = len(job.a_zero_point) > 1
    given = {
        "a_unsigned": job.a.dtype == np.uint8, "b_unsigned": job.b.dtype == np.uint8,
        "y_unsigned": not job.y_format.signed, "y_int32": job.scale is None, "per_row": per_row,
    }  # fmt: skip
    zero_points = [int(job.a_zero_point[0]) & 0xFFFFFFFF, job.y_zero_point & 0xFFFFFFFF]
    return [
        job.m, job.k, job.n, sum(FLAGS[name] for name, holds in given.items() if holds), *zero_points,
        put(job.a_zero_point, "<i4") if per_row else 0,
        put(job.b_zero_point, "<i4"), put(job.bias, "<i4"), 0 if job.scale is None else put(job.scale, "<f4"),
        place.a, place.a_stride, place.b, place.b_stride or 0, place.y, place.y_stride,
        image.put(job.b.tobytes()),
    ]  # fmt: skip


def run_lists(
    config: SocConfig,
    lists: list[list[Job]],
    *,
    again: bool = False,
    ragged: bool = False,
    seed: int = 0,
    stalls: float = 0.0,
    tables: int = 16,
    beyond: set[int] = frozenset(),
) -> list[Outcome]:
    """Run these lists on the system, one after the other, by its processor."""
    memory = memory_of(config, lists, again=again, ragged=ragged, seed=seed, tables=tables, beyond=beyond)
    run = simulation(config).run({MEMORY: memory_file(memory, config)}, stalls=stalls, seed=seed, limit=20_000_000)
    *lines, last = run.lines
    assert last == "done", last
    said, outcomes = iter(lines), []
    for jobs in lists:
        _, error, cycles = next(said).split()
        engine, processor = [], []
        for job in jobs if error == "0" else ():
            engine.append(_matrix(next(said), "engine", job))
            if again:
                processor.append(_matrix(next(said), "processor", job))
        outcomes.append(Outcome(error=int(error), cycles=int(cycles), engine=engine, processor=processor))
    assert next(said, None) is None
    return outcomes


def _matrix(line: str, who: str, job: Job) -> np.ndarray:
    name, digits = line.split()
    assert name == who
    kind = job.y_dtype.newbyteorder("<")
    return np.frombuffer(bytes.fromhex(digits), kind).reshape(job.m, job.n).astype(job.y_dtype)
