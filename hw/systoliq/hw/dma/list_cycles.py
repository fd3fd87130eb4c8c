"""Cycle model of a whole list: commands, jobs and commands of the vector unit, from its start to the interrupt.

words -> commands (`ListPlayer`) -> registers -> jobs (`job_cycles`), walks and commands of the vector unit
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from ..engine import AxiEngine, EngineConfig, JobShape
from ..engine.host import Map
from ..hierarchy import mark_used
from ..network.softmax_steps import ADD_CYCLES
from .commands import WalkOf, dma_register
from .job_cycles import Held, RowsOfA, Supply, job_times
from .list_player import Opcode
from .normalized_rows import RECORDS, search_cycles
from .registers import (
    BASE,
    MAP_REGISTERS,
    NORMALIZATION_REGISTERS,
    OPERANDS,
    SOFTMAX_REGISTER,
    VECTOR_REGISTERS,
    WALK_WORDS,
)
from .row_unit import RECORD_BYTES, SOFTMAX_TABLE_BYTES
from .vector_product import VectorProduct

__all__ = ["ListCycles", "list_cycles"]

_BEGINS = 21
"""Cycles of a list without a command: to its first word, and from its last command to the interrupt."""
_WORD, _WAIT, _POLL = 7, 4, 8
"""Cycles of a word that is written, of the words of a wait, and of each time it reads the register."""
_TABLE = 3
"""Cycles of a command that fills a table, beside one for each of its words."""
_LOAD, _VECTOR = 280, {"a": 50, "b": 48, "y": 56}
"""Cycles from a command of the vector unit to its end: of a table, and beside the beats of each operand."""
_PRODUCT = 42
"""The same of a product, beside its unit's latency and a cycle for each byte of its words; of few words, it takes up to
5 more.
"""
_FAST_RUNS = 5
"""Runs of Y that take a cycle each: behind them, two runs of one beat take three."""
_CLEARED = 8
"""Cycles until an engine that is cleared is not busy."""
_LOADED = 4
"""Cycles from the write of a start to the job's first word, of an engine at rest."""
_AFTER_WORDS = 6
"""Cycles from the last word of a job to the first of the job that is queued behind it."""
_ROW_TABLE, _ROWS, _NORMALIZED = 28, 48, 56
"""The same of a command for rows: of a table beside its beats, of a softmax, and of a layer normalization."""
(_COMMAND,), _SOFTMAX = VECTOR_REGISTERS, SOFTMAX_REGISTER
_, _NORM_SCALE, _NORMALIZATION = NORMALIZATION_REGISTERS
_QUEUE, _OF_MASTERS = dma_register("QUEUE"), dma_register("DMA_STATUS")
_MAP = {field.name: (register, field) for register in MAP_REGISTERS for field in register.fields}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ListCycles:
    """`cycles` of a list, from its start to the interrupt, and the `least` that its work takes array, ports and units
    of the masters, if nothing waits for anything else.
    """

    cycles: int
    least: int


def list_cycles(data: bytes, config: EngineConfig, bus_bytes: int, *, engine: AxiEngine | None = None) -> ListCycles:
    """Cycles of the list `data` with memory that answers at once and never pauses.

    The constants of this model are measured (`tests/engine/test_list_cycles.py` states how far it is from RTL). The
    list must be one that ends without an error, on an engine of integers. `engine` saves the time to make one.
    """
    if engine is None:
        engine = AxiEngine(config.of_streams)
        mark_used(engine)  # for its own cycle model alone
    player = _Player(engine, config, bus_bytes)
    cycles = player.play(np.frombuffer(data, "<u4").tolist())
    return ListCycles(cycles=cycles, least=round(player.least))


class _Player:
    """Time, registers, and when what was started ends."""

    def __init__(self, engine: AxiEngine, config: EngineConfig, bus_bytes: int) -> None:
        self.engine, self.config, self.bus_bytes = engine, config, bus_bytes
        self._product_latency = VectorProduct.latency_of(config.cells)
        self.map = Map.of(config)
        self.control, self.status = self.map.register("CONTROL"), self.map.register("STATUS")
        self.registers: dict[int, int] = {}
        self.time = 0.0
        self.free = 0.0  # for the first tile of the next job
        self.opens = 0.0  # for its first word
        self.waiting: tuple[JobShape, float] | None = None  # a job that has been started, and waits for its walks
        self.walks = dict.fromkeys(OPERANDS, 0.0)  # the end of the last walk
        self.starts = dict.fromkeys(OPERANDS, 0.0)
        self.queued: dict[str, WalkOf] = {}
        self.rows = RowsOfA()
        self.held = Held()
        self.loaded = 0.0
        self.ended: list[float] = []
        self.written = 0.0
        self.least = 0.0  # cycles of all work so far

    def play(self, words: list[int]) -> int:
        """Cycles of the list."""
        at = 0
        while at < len(words):
            head, address = words[at], words[at] & ((1 << 22) - 1)
            if head >> 30 == Opcode.WRITE:
                count = (head >> 22 & 0xFF) + 1
                self.time += 1
                for index, word in enumerate(words[at + 1 : at + 1 + count]):
                    self.time += _WORD
                    self._write(address + 4 * index, word)
                at += 1 + count
            elif head >> 30 == Opcode.TABLE:
                count = (head >> 22 & 0xFF) + 1
                self.time += _TABLE + count
                at += 1 + count
            else:
                self._wait(address, words[at + 1], words[at + 2])
                at += 4
        return _BEGINS + round(self.time)

    def _write(self, address: int, word: int) -> None:
        """Keep the word, and start what it starts."""
        self.registers[address] = word
        if address == BASE + _QUEUE.offset:
            self._queue(word)
        elif (unit := self._unit(address)) is not None:
            unit(word)
            self.least += self.written - self.time
        elif address == self.control.offset and word & self.control.field("clear").mask:
            self.ended, self.free = [], self.time
        elif address == self.control.offset and word & self.control.field("start").mask:
            self._start()

    def _unit(self, address: int) -> Callable[[int], None] | None:
        """The work of the unit whose command is at this address, if there is one."""
        if address == BASE + _COMMAND.offset and self.config.vector:
            return self._vector
        if address == BASE + _SOFTMAX.offset and self.config.row_length:
            return self._softmax
        if address == BASE + _NORMALIZATION.offset and self.config.row_length:
            return self._normalization
        return None

    def _wait(self, address: int, mask: int, value: int) -> None:
        """Poll until what is waited for is there."""
        begins = self.time + _WAIT
        polls = max(1, math.ceil((self._event(address, mask, value) - begins) / _POLL))
        self.time = begins + polls * _POLL

    def _event(self, address: int, mask: int, value: int) -> float:
        """When the masked bits of a register have the value."""
        status = self.status
        if address == BASE + _OF_MASTERS.offset:
            found = [self.starts[name] for name in OPERANDS if mask & _OF_MASTERS.field(f"{name}_queued").mask]
            return max([*found, self.written if mask & _OF_MASTERS.field("y_busy").mask else 0.0])
        if mask & status.field("queued").mask:
            return self.loaded
        if mask & status.field("jobs").mask and value:
            return self.ended[(value >> status.field("jobs").lsb) - 1]
        return self.time + _CLEARED

    def _walk(self, name: str) -> WalkOf:
        """The settings of an operand's walk."""
        return WalkOf(
            **{
                field: self.registers.get(BASE + dma_register(f"{name.upper()}_{word}").offset, 1)
                for word, field, _, _ in WALK_WORDS
            }
        )

    def _queue(self, flags: int) -> None:
        """Walks begin once those before have ended."""
        for name in OPERANDS:
            if flags & _QUEUE.field(name).mask:
                self.queued[name] = self._walk(name)
                self.starts[name] = max(self.time + 2, self.walks[name])
        if flags & _QUEUE.field("a").mask:
            self.rows = self._windows() if flags & _QUEUE.field("map").mask else RowsOfA()
        if self.waiting and self.queued.keys() == set(OPERANDS):
            self._job(*self.waiting)

    def _windows(self) -> RowsOfA:
        """The windows of the map whose settings are there."""

        def of_map(name: str) -> int:
            register, field = _MAP[name]
            return (self.registers[BASE + register.offset] & field.mask) >> field.lsb

        walk, stride = self._walk("a"), of_map("stride_x")
        return RowsOfA(
            across=of_map("taps_x"),
            down=of_map("taps_y"),
            line=of_map("out_width"),
            shares=walk.steps == 1 and stride == of_map("dilation_x") and walk.row_stride == of_map("tap_stride"),
        )

    def _start(self) -> None:
        """A job with the registers and walks as they are."""
        m, k, n = (
            self.map.extract(name, name.lower(), self.registers[self.map.register(name).offset]) for name in "MKN"
        )
        shape = JobShape(m=m, k=k, n=n, config=self.config)
        self.loaded = max(self.time + _LOADED, self.free)
        self.waiting = shape, self.time + _LOADED
        if self.queued.keys() == set(OPERANDS):
            self._job(*self.waiting)

    def _job(self, shape: JobShape, started: float) -> None:
        """A job that was started, and whose walks are queued."""
        opens = max(started, self.opens)
        supply = Supply(
            walks=self.queued, starts=self.starts, rows=self.rows, bus_bytes=self.bus_bytes, opens=opens,
            held=self.held,
        )  # fmt: skip
        times = job_times(self.engine, shape, supply, max(started, self.free))
        self.free, self.walks, self.queued, self.waiting = times.free, times.walks, {}, None
        self.opens, self.held = times.all_words + _AFTER_WORDS, times.held
        self.least += times.least
        self.ended.append(times.ended)
        self.written = max(self.written, times.written)

    def _softmax(self, word: int) -> None:
        """A softmax of the rows of A, or the reading of its table."""
        load, bits = ((word & field.mask) >> field.lsb for field in map(_SOFTMAX.field, ("load", "quotient_bits")))
        if load:
            self.written = self.time + _ROW_TABLE + SOFTMAX_TABLE_BYTES // self.bus_bytes
            return
        walk = self._walk("a")
        length = walk.last_extent + 1
        row = length * (ADD_CYCLES + bits + 2) + 1
        self.written = self.time + _ROWS + length + walk.rows * row

    def _normalization(self, word: int) -> None:
        """A layer normalization of the rows of A, whose records are read again for each row."""
        field = _NORMALIZATION.field
        divide, places = ((word & each.mask) >> each.lsb for each in map(field, ("divide", "places")))
        scale = self.registers[BASE + _NORM_SCALE.offset]
        half = (scale & _NORM_SCALE.field("half").mask) >> _NORM_SCALE.field("half").lsb
        walk = self._walk("a")
        length = walk.last_extent + 1
        rate = max(1, RECORD_BYTES / self.bus_bytes)  # cycles of a record
        multiplies = max(length, math.ceil((length - RECORDS) * rate))
        row = length + search_cycles(self.config.row_length, half, divide + places) + multiplies
        self.written = self.time + _NORMALIZED + length + walk.rows * row

    def _vector(self, word: int) -> None:
        """A command of the vector unit, whose walks have the shape of A's."""
        command = {field.name: (word & field.mask) >> field.lsb for field in _COMMAND.fields}
        if command["load"]:
            self.written = self.time + _LOAD
            return
        walk = self._walk("a")
        runs = {name: _Runs.of(self._walk(name), walk, self.bus_bytes) for name in OPERANDS}
        ends = {name: _VECTOR[name] + runs[name].cycles for name in ("ab" if command["pair"] else "a")}
        y = runs["y"]
        least = walk.rows + max(walk.rows - _FAST_RUNS, 0) // 2
        ends["y"] = _VECTOR["y"] + max(y.cycles - y.last_turns, least) + runs["a"].first_waits
        if command["product"]:
            words = walk.rows * (walk.last_extent // self.bus_bytes + 1)
            ends["product"] = _PRODUCT + words * self.bus_bytes + self._product_latency
        self.written = self.time + max(ends.values())


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Runs:
    """The runs of an operand of the vector unit: the `cycles` of all at the bus, whether the last one takes one more
    than it has beats, and whether the first word needs two beats.

    A run takes a cycle more than it has beats where it begins within one and has as many words as beats, but one.
    """

    cycles: int
    last_turns: bool
    first_waits: bool

    @classmethod
    def of(cls, walk: WalkOf, shape: WalkOf, bus_bytes: int) -> _Runs:
        """Runs at the addresses of `walk`, as many and as long as A's, whose walk is `shape`."""
        words = shape.last_extent // bus_bytes + 1
        places = (walk.address + np.arange(shape.rows) * walk.row_stride) % bus_bytes
        beats = (places + shape.last_extent) // bus_bytes + 1
        turns = (places != 0) & (beats == words) & (words > 1)
        return cls(
            cycles=int((beats + turns).sum()),
            last_turns=bool(turns[-1]),
            first_waits=bool(places[0] and beats[0] > 1),
        )
