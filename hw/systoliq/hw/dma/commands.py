"""Commands: lists of them for a DMA engine, made from the driver's steps."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine import EngineConfig
from ..engine.host import DriverStep, Map, queue_sequence
from ..engine.host.job import AnyJob
from ..engine.registers import Register
from .bus import ADDRESS_BITS
from .convolutions import Maps, map_fields
from .list_player import ADDRESS_BITS as REGISTER_BITS
from .list_player import COUNT_BITS, Opcode
from .registers import BASE, DMA_REGISTERS, MAP_REGISTERS, OPERANDS, WALK_WORDS

__all__ = [
    "CommandList",
    "Placement",
    "WalkOf",
    "a_walk",
    "b_walk",
    "check_addresses",
    "check_range",
    "check_strides",
    "command_list",
    "dma_register",
    "tiled",
    "wait_for_masters",
    "y_walk",
]

Array = npt.NDArray[Any]


def dma_register(name: str) -> Register:
    """The register of the masters called `name`; its address is `BASE` + its offset."""
    return next(register for register in DMA_REGISTERS if register.name == name)


def check_addresses(of: object, *names: str) -> None:
    """Raise ValueError if one of these attributes is no address."""
    check_range(of, names, 0, (1 << ADDRESS_BITS) - 1)


def check_strides(of: object, *names: str) -> None:
    """Raise ValueError if one of these attributes is no stride: the bytes to the next row, or to the one before."""
    check_range(of, names, -1 << (ADDRESS_BITS - 1), (1 << ADDRESS_BITS) - 1)


def check_range(of: object, names: Iterable[str], least: int, most: int) -> None:
    """Raise ValueError if one of the attributes `names` is no integer from `least` to `most`."""
    for name in names:
        value = getattr(of, name)
        if not isinstance(value, (int, np.integer)) or not least <= value <= most:
            raise ValueError(f"{name} must be from {least} to {most}, not {value!r}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class WalkOf:
    """The settings of a walk: see `systoliq.hw.dma.WalkSettings`; all in bytes."""

    address: int
    row_stride: int
    step_stride: int
    rows: int
    steps: int
    extent: int
    last_extent: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Placement:
    """Addresses and strides, in bytes, of a job's matrices, which are stored row by row.

    With `b_stride` None, B has the layout of `tiled`. With `a_map`, the rows of A are windows of maps at address `a`,
    and `a_stride` is ignored. Addresses have 32 bits; strides have, too, or are negative. Raises ValueError otherwise.
    """

    a: int
    a_stride: int
    b: int
    b_stride: int | None
    y: int
    y_stride: int
    a_map: Maps | None = None

    def __post_init__(self) -> None:
        check_addresses(self, "a", "b", "y")
        check_strides(self, "a_stride", *(() if self.b_stride is None else ("b_stride",)), "y_stride")


def tiled(b: Array, config: EngineConfig) -> Array:
    """B [k, n] as the bytes of the engine's words: for each tile of columns, beat and column, `depth` rows."""
    (k, n), cols, depth = b.shape, config.cols, config.depth
    padded = np.zeros((-(-k // depth) * depth, -(-n // cols) * cols), b.dtype)
    padded[:k, :n] = b
    parts = padded.reshape(-1, depth, padded.shape[1] // cols, cols).transpose(2, 0, 3, 1)
    return np.ascontiguousarray(parts).reshape(-1).view(np.uint8)


def a_walk(config: EngineConfig, bus_bytes: int, m: int, k: int, address: int, stride: int) -> WalkOf:
    """The walk over A [m, k]: a step is one beat of the bus."""
    steps = -(-k // bus_bytes)
    return WalkOf(
        address=address,
        row_stride=stride,
        step_stride=bus_bytes,
        rows=m,
        steps=steps,
        extent=bus_bytes - 1,
        last_extent=(k - 1) % bus_bytes,
    )


def b_walk(config: EngineConfig, bus_bytes: int, k: int, n: int, address: int, stride: int | None) -> WalkOf:
    """B [k, n]: a step is a tile of columns; with no `stride` it lies as `tiled` puts it."""
    tiles, word = -(-n // config.cols), config.cols * config.depth
    if stride is not None:
        if config.depth > 1:
            raise ValueError(f"B must lie tiled for an engine of depth {config.depth}, not row by row")
        return WalkOf(
            address=address,
            row_stride=stride,
            step_stride=config.cols,
            rows=k,
            steps=tiles,
            extent=config.cols - 1,
            last_extent=(n - 1) % config.cols,
        )
    beats = -(-k // config.depth)
    whole = word % bus_bytes == 0 and beats * word <= 1 << 24  # a tile in one run, which is cut into words again
    rows, size = (1, beats * word) if whole else (beats, word)
    return WalkOf(
        address=address,
        row_stride=size,
        step_stride=beats * word,
        rows=rows,
        steps=tiles,
        extent=size - 1,
        last_extent=size - 1,
    )


def y_walk(config: EngineConfig, m: int, n: int, size: int, address: int, stride: int) -> WalkOf:
    """Y [m, n] of elements of `size` bytes: a step is a tile of columns."""
    cols = config.cols
    return WalkOf(
        address=address,
        row_stride=stride,
        step_stride=cols * size,
        rows=m,
        steps=-(-n // cols),
        extent=cols * size - 1,
        last_extent=((n - 1) % cols + 1) * size - 1,
    )


class CommandList:
    """Words of a list, command by command.

    Raises ValueError for an address or a word that the list cannot hold.
    """

    def __init__(self) -> None:
        self.words: list[int] = []

    def write(self, address: int, words: Sequence[int]) -> None:
        """Write `words` to the register at `address` and those behind it."""
        self._put(Opcode.WRITE, address, words)

    def fill(self, address: int, words: Sequence[int]) -> None:
        """Write `words` into a table of the engine, from the word at `address` on."""
        self._put(Opcode.TABLE, address, words)

    def _put(self, opcode: Opcode, address: int, words: Sequence[int]) -> None:
        most = 1 << COUNT_BITS
        _check(address)
        _check(address + 4 * max(len(words) - 1, 0), *words)
        for at in range(0, len(words), most):
            part = words[at : at + most]
            self.words += [opcode << 30 | (len(part) - 1) << 22 | (address + 4 * at), *part]

    def wait(self, address: int, mask: int, value: int, failing: int) -> None:
        """Wait until the masked bits of a register are `value`; give the list up where a bit of `failing` is 1."""
        _check(address, mask, value, failing)
        self.words += [Opcode.WAIT << 30 | address, mask, value, failing]

    @property
    def data(self) -> bytes:
        """The list as it lies in memory."""
        return np.asarray(self.words, "<u4").tobytes()


def _check(address: int, *words: int) -> None:
    if address % 4 or not 0 <= address < 1 << REGISTER_BITS:
        raise ValueError(f"address must be a multiple of 4 below {1 << REGISTER_BITS:#x}, not {address:#x}")
    for word in words:
        if not 0 <= word < 1 << 32:
            raise ValueError(f"words must be from 0 to 4294967295, not {word}")


def wait_for_masters(commands: CommandList, *names: str) -> None:
    """Wait until these fields of DMA_STATUS are 0; give the list up if a master has failed."""
    status = dma_register("DMA_STATUS")
    failing = sum(status.field(f"{name}_failed").mask for name in (*OPERANDS, "list"))
    commands.wait(BASE + status.offset, sum(status.field(name).mask for name in names), 0, failing)


def command_list(
    jobs: Sequence[AnyJob],
    places: Sequence[Placement],
    config: EngineConfig,
    bus_bytes: int,
    *,
    computed: Mapping[int, str] | None = None,
) -> CommandList:
    """The list that runs `jobs` in order, from an engine that is not busy; see `queue_sequence`.

    `computed` maps the index of a job to its operands ("a", "b" or "ab") that are results of earlier jobs. They are
    read once all results so far are in memory; the job's settings, tables and other operand do not wait for that.

    Raises ValueError if maps do not match the A of their job.
    """
    for job, place in zip(jobs, places, strict=True):
        if place.a_map:
            place.a_map.check(config, job.m, job.k, place.a)
    return _Translation(config, bus_bytes).all(queue_sequence(jobs, config), jobs, places, computed or {})


class _Translation:
    """Driver's steps as commands."""

    def __init__(self, config: EngineConfig, bus_bytes: int) -> None:
        self.config, self.bus_bytes = config, bus_bytes
        self.map = Map.of(config)
        self.commands = CommandList()
        self.started = 0
        self.held: dict[int, int] = {}  # settings of walks and maps, by offset
        status = self.map.register("STATUS")
        self.status, self.error = status.offset, status.field("error").mask

    def all(
        self,
        steps: Iterable[DriverStep],
        jobs: Sequence[AnyJob],
        places: Sequence[Placement],
        computed: Mapping[int, str],
    ) -> CommandList:
        """All steps; in the end all results are in memory."""
        late = ""  # operands of the next job, and Y, whose walks wait for results
        for step in steps:
            if step.action == "write":
                self.commands.write(step.address, [step.value])
                if step.name == "CONTROL" and step.value & self._start:
                    if late:
                        wait_for_masters(self.commands, "y_busy")
                        self._queue(late, places[self.started])
                        late = ""
                    self.started += 1
            elif step.action == "fill":
                self.commands.fill(step.address, np.frombuffer(step.data, "<u4").tolist())
            elif step.action == "poll":
                self.commands.wait(step.address, step.value, 0, self.error)
            elif step.action == "jobs":
                self._ended(step.value)
            elif step.action == "receive":
                self._walks(jobs[step.value], places[step.value])
                late = computed.get(step.value, "")
                late += "y" if late else ""  # until Y is queued, the engine may take words, and has nothing to write
                if now := [name for name in OPERANDS if name not in late]:
                    self._queue(now, places[step.value])
        wait_for_masters(self.commands, "y_busy")
        return self.commands

    @property
    def _start(self) -> int:
        return self.map.register("CONTROL").field("start").mask

    def _ended(self, jobs: int) -> None:
        """Wait until ``jobs`` jobs have ended; if fewer than all jobs started, wait until the queued job has begun."""
        field = self.map.register("STATUS").field("jobs" if jobs == self.started else "queued")
        value = jobs << field.lsb & field.mask if jobs == self.started else 0
        self.commands.wait(self.status, field.mask, value, self.error)

    def _walks(self, job: AnyJob, place: Placement) -> None:
        """Settings of the walks, and of the map, once those before have begun."""
        config, bus, maps = self.config, self.bus_bytes, place.a_map
        a, of_map = (place.a, {}) if maps is None else map_fields(maps, bus, place.a)
        columns, stride = (job.k, place.a_stride) if maps is None else (maps.windows.channels, maps.row_stride)
        walks = {
            "a": a_walk(config, bus, job.m, columns, a, stride),
            "b": b_walk(config, bus, job.k, job.n, place.b, place.b_stride),
            "y": y_walk(config, job.m, job.n, job.y_dtype.itemsize, place.y, place.y_stride),
        }
        wait_for_masters(self.commands, "a_queued", "b_queued", "y_queued")
        for name, walk in walks.items():
            first = dma_register(f"{name.upper()}_{WALK_WORDS[0][0]}")
            self._set(first, [getattr(walk, field) % (1 << bits) for _, field, bits, _ in WALK_WORDS])
        if of_map:
            words = [
                sum(of_map[field.name] << field.lsb & field.mask for field in register.fields)
                for register in MAP_REGISTERS
            ]
            self._set(MAP_REGISTERS[0], words)

    def _queue(self, names: Iterable[str], place: Placement) -> None:
        """Queue these walks, whose settings are there."""
        queue = dma_register("QUEUE")
        flags = [*names, "map"] if "a" in names and place.a_map else [*names]
        self.commands.write(BASE + queue.offset, [sum(queue.field(name).mask for name in flags)])

    def _set(self, first: Register, words: Sequence[int]) -> None:
        """Settings from `first` on, those that the list has not left there already."""
        changed = [(first.offset + 4 * i, word) for i, word in enumerate(words)]
        changed = [(offset, word) for offset, word in changed if self.held.get(offset) != word]
        self.held.update(changed)
        for _, run in itertools.groupby(enumerate(changed), lambda each: each[1][0] - 4 * each[0]):
            (_, (offset, _)), *_ = together = list(run)
            self.commands.write(BASE + offset, [word for _, (_, word) in together])
