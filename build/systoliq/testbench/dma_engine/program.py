"""The program of the testbench of a DMA engine: lists, errors of memory and of lists, resets, halts.

A step is a statement that puts it into the testbench's program: `p(WHAT, x, y, z);`, see `testbench_text.STEPS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from systoliq.hw.dma.commands import CommandList, Placement, command_list, dma_register
from systoliq.hw.dma.list_player import ListError
from systoliq.hw.dma.map_walk import COUNTS
from systoliq.hw.dma.registers import BASE, DMA_REGISTERS, LIST_ENDS, OPERANDS
from systoliq.hw.dma.vector_commands import vector_commands
from systoliq.hw.engine.host import Map
from systoliq.sim.engine.dma_engine import MemoryImage, SimulatedDmaEngine

from ...design.dma_engine.design import DmaEngineDesign
from ..beats import SEED
from ..driver import put_step as _p
from ..engine.stimulus import LONG, NEAR_TIES, SHORT, EngineJob
from .vector_list import placed_operations

__all__ = ["DmaProgram", "ListOfJobs"]

Array = npt.NDArray[Any]
_ALL = 0xFFFFFFFF
_SLVERR = 2
_NOWHERE = BASE + 0x4000  # an address with nothing behind it
_RESETS = (1, 2, 1, 3)  # cycles of resets, one after the other
_TRIALS = 8  # resets, and as many halts, spread over a list
_WAITS = 14  # cycles that a list takes for a word of its own, at the most


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A list in memory: its address and bytes, the words of memory of all it has, and its results, each with its
    address and the bytes from one row to the next.
    """

    address: int
    length: int
    words: tuple[int, int]
    results: tuple[tuple[int, int, Array], ...]


@dataclass(frozen=True, kw_only=True)
class ListOfJobs(Listed):
    """The list of jobs in memory."""

    jobs: tuple[EngineJob, ...]
    places: tuple[Placement, ...]


class DmaProgram:
    """The program, and memory as words: as it is in the beginning (`first`), and with the results of all (`wanted`)."""

    def __init__(self, design: DmaEngineDesign, jobs: Sequence[EngineJob]) -> None:
        self._config, self._bus = design.config, design.top.bus_bytes
        self._map = Map.of(design.config)
        self._constants = design.engine.constants()
        image = MemoryImage(SEED)
        placer = SimulatedDmaEngine(design.config, bus_bytes=self._bus)
        image.reserve(self._bus)
        near_ties = [job for job in jobs if job.title == NEAR_TIES]
        whole = [job for job in jobs if job.title != LONG and job.ahead is None and job not in near_ties[1:]]
        self.whole = self._listed(placer, image, whole, ragged=True)
        self.near_ties = self._listed(placer, image, near_ties[1:], ragged=False) if near_ties[1:] else None
        short = [next(job for job in jobs if job.title == SHORT), jobs[-1]]
        self.short = self._listed(placer, image, short, ragged=False)
        self.vector = self._operations(image) if design.config.vector else None
        self._wrong = {error: self._put(image, made) for error, made in _wrong_lists(self._map).items()}
        image.reserve(0, 16 * self._bus)
        self.first, self.wanted = self._words(bytes(image.data)), self._words(self._with_results(image))

    def steps(self) -> Iterator[str]:
        """All of it, once for each phase; the later ones have less of it."""
        yield from self._right(self.whole)
        if self.vector is not None:
            yield from self._done(self.vector)
        for name in (*OPERANDS, "list"):
            yield from self._broken(name)
        yield _p("AGAIN", 2)
        yield from self._registers()
        for error, (address, length) in self._wrong.items():
            yield from self._play(address, length)
            yield _p("INTERRUPT")
            yield self._dma("DMA_STATUS", {"list_error": error.value}, "list_error", "playing", "done", *_FAILURES)
            yield from self._recovered()
            yield from self._right(self.short)
        yield from self._stopped(self._trials(), resets=True)
        yield from self._stopped(self._trials(), resets=False)
        yield _p("AGAIN", 1)
        if self.near_ties is not None:
            yield from self._right(self.near_ties)
        yield _p("AGAIN")

    def _listed(
        self, placer: SimulatedDmaEngine, image: MemoryImage, jobs: Sequence[EngineJob], *, ragged: bool
    ) -> ListOfJobs:
        start = image.reserve(0, self._bus) // self._bus
        places = placer.place([job.job for job in jobs], image, ragged=ragged)
        commands = command_list([job.job for job in jobs], places, self._config, self._bus)
        address, length, words = self._placed(image, start, commands)
        results = tuple((place.y, place.y_stride, job.y) for job, place in zip(jobs, places, strict=True))
        return ListOfJobs(
            jobs=tuple(jobs), places=tuple(places), address=address, length=length, words=words, results=results
        )

    def _operations(self, image: MemoryImage) -> Listed:
        start = image.reserve(0, self._bus) // self._bus
        found = placed_operations(image, self._bus, self._config.row_length)
        commands = vector_commands([(each.operation, each.place) for each in found])
        address, length, words = self._placed(image, start, commands)
        results = tuple((each.place.y, each.place.y_stride, each.y) for each in found)
        return Listed(address=address, length=length, words=words, results=results)

    def _placed(self, image: MemoryImage, start: int, commands: CommandList) -> tuple[int, int, tuple[int, int]]:
        """(address, bytes, words of memory from `start` on) of a list that is put behind its operands."""
        address, length = self._put(image, commands)
        return address, length, (start, image.reserve(0, self._bus) // self._bus)

    def _put(self, image: MemoryImage, commands: CommandList) -> tuple[int, int]:
        """(address, bytes) of a list, in its own words of memory: errors next to it do not affect it."""
        return image.put(commands.data, self._bus, self._bus - 4), len(commands.data)

    def _with_results(self, image: MemoryImage) -> bytes:
        data = bytearray(image.data)
        for listed in filter(None, (self.whole, self.near_ties, self.short, self.vector)):
            for address, stride, y in listed.results:
                for row, values in enumerate(y):
                    at = address + row * stride
                    data[at : at + values.nbytes] = values.tobytes()
        return bytes(data)

    def _words(self, data: bytes) -> list[int]:
        size = self._bus
        return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]

    def _dma(self, name: str, values: dict[str, int], *fields: str) -> str:
        """Read a register of the masters: `fields` must have `values`, those not given 0; without any all of it."""
        register = dma_register(name)
        value = sum(
            register.field(field).mask & number << register.field(field).lsb for field, number in values.items()
        )
        mask = sum(register.field(field).mask for field in {*fields, *values}) if fields else _ALL
        return _p("READ", BASE + register.offset, value, mask)

    def _play(self, address: int, length: int) -> Iterator[str]:
        yield _write("LIST_ADDRESS", address)
        yield _write("LIST_EXTENT", length - 1)
        yield _write("DMA_INTERRUPT", 3)
        yield _write("LIST_CONTROL", 1)

    def _right(self, listed: ListOfJobs) -> Iterator[str]:
        """A list of jobs is carried out, and its results are there."""
        status = self._map.register("STATUS")
        jobs = status.field("jobs")
        mask = sum(status.field(name).mask for name in ("jobs", "error", "busy", "queued"))
        yield from self._done(listed, _p("READ", status.offset, len(listed.jobs) << jobs.lsb & jobs.mask, mask))

    def _done(self, listed: Listed, *steps: str) -> Iterator[str]:
        """A list is carried out, then come `steps`, and its results are there."""
        yield from self._play(listed.address, listed.length)
        yield _p("INTERRUPT")
        yield self._dma("DMA_STATUS", {"done": 1, "words": listed.length // 4 & 0xFFFF})
        yield from steps
        yield _write("LIST_CONTROL", 2)
        yield self._dma("DMA_STATUS", {}, "done", "playing", "list_error")
        yield _p("CHECK", *listed.words, 1)

    def _broken(self, name: str) -> Iterator[str]:
        """Memory fails where an operand, or the list, of the short list's last job lies."""
        place, job = self.short.places[-1], self.short.jobs[-1].job
        starts = {"a": place.a, "b": place.b, "y": place.y, "list": self.short.address + self.short.length // 2}
        ends = {"a": place.a + place.a_stride * (job.m - 1) + 1, "b": place.b + 1, "y": place.y + 1}
        start = -(-starts[name] // self._bus)
        stop = max(-(-ends.get(name, 0) // self._bus), start + 1)
        yield _p("BREAK", start, stop)
        yield from self._play(self.short.address, self.short.length)
        yield _p("INTERRUPT")
        yield self._dma("DMA_STATUS", {f"{name}_failed": 1}, "done", *_FAILURES)
        yield from self._recovered()
        yield _p("BREAK")
        yield _p("CHECK", *self.short.words, 0)
        yield from self._right(self.short)

    def _recovered(self) -> Iterator[str]:
        """A driver's steps after an error."""
        status, control = self._map.register("STATUS"), self._map.register("CONTROL")
        resting = dma_register("DMA_STATUS").field("resting").mask
        yield _write("HALT", 1)
        yield _p("WRITE", control.offset, control.field("clear").mask)
        yield _p("POLL", status.offset, status.field("busy").mask)
        yield _p("POLL", BASE + dma_register("DMA_STATUS").offset, resting, resting)
        yield _write("HALT", 0)
        yield _p("PAUSE", 4)
        yield self._dma("DMA_STATUS", {}, "done", "playing", "list_error", "resting", *_FAILURES)

    def _trials(self) -> list[int]:
        """Cycles of the short list in which it is stopped."""
        of_jobs = sum(job.cycles for job in self.short.jobs)
        span = _WAITS * self.short.length // 4 + 2 * of_jobs
        return [index * span // _TRIALS + 7 * index % 5 for index in range(_TRIALS)]

    def _stopped(self, cycles: Sequence[int], *, resets: bool) -> Iterator[str]:
        """The short list is stopped in the middle, by a reset or as after an error, and carried out again."""
        for index, cycle in enumerate(cycles):
            yield from self._play(self.short.address, self.short.length)
            yield _p("PAUSE", cycle, 3)
            if resets:
                yield _p("RESET", _RESETS[index % len(_RESETS)])
            else:
                yield from self._recovered()
            yield _p("CHECK", *self.short.words, 0)
            yield from self._right(self.short)

    def _registers(self) -> Iterator[str]:
        """Written registers are read back, constant registers are read, and other addresses and values are refused."""
        for register in DMA_REGISTERS:
            mask, at = sum(field.mask for field in register.fields), BASE + register.offset
            if register.name in LIST_ENDS:
                ends = LIST_ENDS[register.name]
                for value in (_ALL ^ 3 | ends, 0x5A5A5A58 | ends, ends):
                    yield _p("WRITE", at, value)
                    for wrong in (1, 2, 3):
                        yield _p("WRITE", at, _ALL ^ value ^ 3 ^ wrong, _SLVERR)
                    yield _p("READ", at, value & mask, _ALL)
            for field in register.fields:
                if field.name in COUNTS:
                    yield _p("WRITE", at, _ALL ^ field.mask, _SLVERR)
        for register in self._map.registers:
            fields = {field.name for field in register.fields}
            held = {name: value for (of, name), value in self._constants.items() if of == register.name}
            if fields == held.keys():
                yield _p("READ", register.offset, self._map.write(register.name, "", **held).value, _ALL)
        yield _p("WRITE", _NOWHERE, _ALL, _SLVERR)


_FAILURES = tuple(f"{name}_failed" for name in (*OPERANDS, "list"))


def _wrong_lists(registers: Map) -> dict[ListError, CommandList]:
    """A list for each way of being wrong."""
    lists: dict[ListError, CommandList] = {error: CommandList() for error in ListError if error is not ListError.NONE}
    lists[ListError.COMMAND].words = [0, 0]
    cut = lists[ListError.CUT_OFF]
    cut.write(registers.register("M").offset, [1, 1, 1])
    del cut.words[-1]
    lists[ListError.REFUSED].write(_NOWHERE, [0])
    playing = dma_register("DMA_STATUS")
    lists[ListError.FAILED].wait(BASE + playing.offset, playing.field("resting").mask, 1, playing.field("playing").mask)
    return lists


def _write(name: str, value: int) -> str:
    """Write a register of the masters."""
    return _p("WRITE", BASE + dma_register(name).offset, value)
