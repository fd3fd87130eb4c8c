"""The DMA engine, as a program sees it: jobs and matrices in memory, on the emitted Verilog."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.hw import emit_verilog
from systoliq.hw.cells import models_verilog
from systoliq.hw.dma.commands import Placement, command_list, dma_register, tiled
from systoliq.hw.dma.dma_engine import DmaEngine
from systoliq.hw.dma.list_player import ListError
from systoliq.hw.dma.registers import BASE, OPERANDS
from systoliq.hw.engine import EngineConfig, JobShape
from systoliq.hw.engine.host import Map
from systoliq.hw.engine.host.job import AnyJob
from systoliq.hw.hierarchy import mark_used

from ..cache import run_directory
from ..dma_exchange import VARIABLE, ListOutcome, ListWork, leave_lists, take_outcomes
from ..process import SimulationError
from ..runner import Simulation, SimulatorName, SimulatorWarning, build
from ..tools import require
from .errors import engine_error

__all__ = ["ListReport", "MemoryImage", "SimulatedDmaEngine"]

TOP = "engine"
BENCH = "systoliq.sim.dma_bench"
Array = npt.NDArray[Any]


class MemoryImage:
    """Bytes from address 0 on, to which arrays are added; what lies between them is random."""

    def __init__(self, seed: int = 0) -> None:
        self.generator = np.random.default_rng(seed)
        self.data = bytearray()

    def reserve(self, size: int, align: int = 1, offset: int = 0) -> int:
        """The address of `size` bytes more, `offset` behind a multiple of `align`."""
        at = -(-len(self.data) // align) * align + offset
        self.data += self.generator.bytes(at + size - len(self.data))
        return at

    def put(self, data: bytes, align: int = 1, offset: int = 0) -> int:
        """The address of these bytes."""
        at = self.reserve(len(data), align, offset)
        self.data[at : at + len(data)] = data
        return at

    def matrix(self, values: Array, *, gap: int = 0, align: int = 1, offset: int = 0) -> tuple[int, int]:
        """(address, stride) of a matrix row by row, with `gap` bytes between rows."""
        stride = values.shape[1] * values.dtype.itemsize + gap
        at = self.reserve(stride * len(values) - gap, align, offset)
        for row, of_row in enumerate(values):
            self.data[at + row * stride : at + row * stride + of_row.nbytes] = of_row.tobytes()
        return at, stride


@dataclasses.dataclass(frozen=True, kw_only=True)
class ListReport:
    """Report of a list: `cycles` from its start to the interrupt, beats of each port of memory."""

    shapes: tuple[JobShape, ...]
    cycles: int
    busy_cycles: int
    beats: dict[str, int]

    @property
    def utilization(self) -> float:
        """Useful multiply-accumulates per multiply-accumulate that the array could do in `cycles`."""
        config = self.shapes[0].config
        return sum(shape.macs for shape in self.shapes) / (self.cycles * config.macs_per_cycle)


class SimulatedDmaEngine:
    """A `DmaEngine` under a simulator; built at its first use, and kept in the cache."""

    def __init__(self, config: EngineConfig, *, bus_bytes: int = 16, simulator: SimulatorName = "verilator") -> None:
        self.config = config
        self.bus_bytes = bus_bytes
        self.simulator = simulator
        self.hardware = DmaEngine(config, bus_bytes=bus_bytes)
        mark_used(self.hardware)  # as long as nothing runs

    @functools.cached_property
    def simulation(self) -> Simulation:
        """The built simulation; a `ToolError` if cocotbext-axi is not installed."""
        require("cocotbext-axi")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulatorWarning)  # lint of the emitted Verilog is its own test
            return build(self.verilog() + models_verilog(self.config.cells), TOP, self.simulator)

    def verilog(self) -> str:
        """The engine's Verilog, without the models of its cells."""
        return emit_verilog(self.hardware, TOP)

    def place(self, jobs: Sequence[AnyJob], image: MemoryImage, *, ragged: bool = False) -> list[Placement]:
        """Put the operands of `jobs` into memory, at odd places where it is `ragged`, and make room for results."""
        places = []
        for job in jobs:
            odd = [int(value) for value in image.generator.integers(0, 40, 6)] if ragged else [0] * 6
            align = 1 if ragged else self.bus_bytes
            whole = -job.k % self.bus_bytes  # rows begin with a beat: none is read twice
            a, a_stride = image.matrix(job.a, gap=odd[0] if ragged else whole, align=align, offset=odd[1])
            if self.config.depth == 1 and (ragged and odd[2] % 2):
                b, b_stride = image.matrix(job.b, gap=odd[2], align=align, offset=odd[3])
            else:
                b, b_stride = image.put(tiled(job.b, self.config).tobytes(), align, odd[3]), None
            y, y_stride = image.matrix(np.zeros((job.m, job.n), job.y_dtype), gap=odd[4], align=align, offset=odd[5])
            places.append(Placement(a=a, a_stride=a_stride, b=b, b_stride=b_stride, y=y, y_stride=y_stride))
        return places

    def prepare(
        self, jobs: Sequence[AnyJob], places: Sequence[Placement], image: MemoryImage, **options: Any
    ) -> ListWork:
        """Inputs of the bench that runs these jobs by a list; options are fields of `ListWork`."""
        commands = command_list(jobs, places, self.config, self.bus_bytes).data
        address = image.put(commands, 4)
        image.reserve(0, 64)
        return self.work(bytes(image.data), address, len(commands), **options)

    def work(self, memory: bytes, address: int, length: int, **options: Any) -> ListWork:
        """Inputs of the bench that plays the list of `length` bytes at `address`; options are fields of `ListWork`."""
        registers = Map.of(self.config)
        of = {
            name: BASE + dma_register(name).offset for name in ("LIST_ADDRESS", "LIST_EXTENT", "HALT", "LIST_CONTROL")
        }
        of |= {name: BASE + dma_register(name).offset for name in ("DMA_STATUS", "DMA_INTERRUPT")}
        status, control = registers.register("STATUS"), registers.register("CONTROL")
        return ListWork(
            memory=memory,
            address=address,
            length=length,
            registers={
                "DMA_STATUS": of["DMA_STATUS"],
                "STATUS": status.offset,
                "BUSY_CYCLES": registers.register("BUSY_CYCLES").offset,
            },
            before=[(of["LIST_ADDRESS"], address), (of["LIST_EXTENT"], length - 1), (of["DMA_INTERRUPT"], 3)],
            play=(of["LIST_CONTROL"], 1),
            recovery=[
                (of["HALT"], 1),
                (control.offset, control.field("clear").mask),
                (status.offset, status.field("busy").mask, 0),
                (of["DMA_STATUS"], *[dma_register("DMA_STATUS").field("resting").mask] * 2),
                (of["HALT"], 0),
                (of["LIST_CONTROL"], 2),
            ],
            **options,
        )

    def simulate(self, work: Sequence[ListWork], *, seed: int = 0) -> list[ListOutcome]:
        """Run prepared lists in one simulator process; errors are reported in the result, not raised."""
        folder = run_directory()
        leave_lists(folder, work)
        results = self.simulation.run(BENCH, env={VARIABLE: str(folder)}, directory=folder, seed=seed)
        results.check()
        outcomes = take_outcomes(folder)
        if outcomes is None or len(outcomes) != len(work):
            raise SimulationError(f"the bench left no outcome; log: {results.log}")
        return outcomes

    def finish(
        self, jobs: Sequence[AnyJob], places: Sequence[Placement], outcome: ListOutcome
    ) -> tuple[list[Array], ListReport]:
        """Y of each job and the report of all, or the exception for what went wrong."""
        self.check(outcome, len(jobs))
        results = []
        for job, place in zip(jobs, places, strict=True):
            size = job.n * job.y_dtype.itemsize
            rows = (outcome.memory[place.y + row * place.y_stride :][:size] for row in range(job.m))
            results.append(np.frombuffer(b"".join(rows), job.y_dtype).reshape(job.m, job.n))
        shapes = tuple(JobShape(m=job.m, k=job.k, n=job.n, config=self.config) for job in jobs)
        busy = outcome.registers["BUSY_CYCLES"]
        return results, ListReport(shapes=shapes, cycles=outcome.cycles, busy_cycles=busy, beats=outcome.beats)

    def check(self, outcome: ListOutcome, jobs: int) -> None:
        """Raise what went wrong, if anything did."""
        registers = Map.of(self.config)
        engine, status = outcome.registers["STATUS"], outcome.registers["DMA_STATUS"]
        ended = registers.extract("STATUS", "jobs", engine)
        if code := registers.extract("STATUS", "error", engine):
            raise engine_error(code, f"job {ended} of {jobs}")
        fields = {
            field.name: status >> field.lsb & (1 << field.bits) - 1 for field in dma_register("DMA_STATUS").fields
        }
        failed = [name for name in (*OPERANDS, "list") if fields[f"{name}_failed"]]
        if failed:
            raise SimulationError(f"job {ended} of {jobs}: memory answered with an error on {', '.join(failed)}")
        if fields["list_error"]:
            error = ListError(fields["list_error"]).name
            raise SimulationError(f"the list was given up at word {fields['words']}: {error}")
        if outcome.timed_out or not fields["done"] or ended != jobs:
            raise SimulationError(f"{ended} of {jobs} jobs ended in time")

    def run(
        self, jobs: Sequence[AnyJob], *, ragged: bool = False, seed: int = 0, **options: Any
    ) -> tuple[list[Array], ListReport]:
        """Run jobs by a list: Y [m, n] of each, and how all went."""
        image = MemoryImage(seed)
        places = self.place(jobs, image, ragged=ragged)
        (outcome,) = self.simulate([self.prepare(jobs, places, image, seed=seed, **options)], seed=seed)
        return self.finish(jobs, places, outcome)
