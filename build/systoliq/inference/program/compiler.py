"""Compiler: from a lowered model and shapes of its inputs to a `Program`."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from itertools import accumulate

from systoliq.hw.dma.bus import BUS_BYTES
from systoliq.hw.dma.dma_engine import check
from systoliq.hw.engine import EngineConfig

from ...errors import InputError
from ..division import Division
from ..lowering import Lowered
from ..operations import Array
from ..products import asked_of_engine, known
from ..steps import HostStep
from .averages import with_convolutions
from .gates import with_matrix_products
from .means import with_averages
from .memory_map import ADDRESSES, Buffer, Role, Room, aligned, check_base, check_size, place_rooms
from .pieces import NotCompiledError
from .product import (
    JobList,
    OperationInMemory,
    Product,
    b_size,
    bytes_of_rows,
    bytes_of_tiles,
    lists_of,
    patches_of,
    placements,
)
from .program import Program
from .runs import Run, joined_list, steps_of_runs
from .single_outputs import with_single_outputs
from .sketch import OperationSketch, ProductSketch, Rows, sketch
from .vector import VectorInMemory, VectorSketch, rows_in_place, vector_list
from .vector_steps import vector_steps, work_of
from .vector_work import SCRATCH

__all__ = ["bytes_of_bus", "compile_model"]


def bytes_of_bus(config: EngineConfig, bits: int) -> int:
    """Bytes of a bus of `bits` for an engine of `config`; a ValueError where they do not go together."""
    if bits not in (sizes := [8 * size for size in BUS_BYTES]):
        raise InputError(f"bus must be one of {', '.join(map(str, sizes))} bits, not {bits}")
    if config.float8:
        raise InputError(f"the engine must be one of integers, not of {config.a} x {config.b}")
    check(config, bits // 8)
    return bits // 8


def compile_model(
    model: Lowered,
    config: EngineConfig,
    feed: Mapping[str, Array],
    *,
    bus_bytes: int,
    only: Collection[str] | None = None,
    base: int = 0,
    memory: int | None = None,
) -> tuple[Program, Division]:
    """The program of `model` for inputs of the shapes of `feed`, and the division that it follows.

    Raises InputError where no product can be compiled, or where `memory` bytes from `base` on are not enough.
    """
    check_base(base)
    if config.vector:
        model = with_averages(model, feed)
    model = with_convolutions(model, feed, channels_last=config.vector)
    if config.vector:
        model = with_single_outputs(model, feed)
        if config.depth == 1:  # where B is read row by row
            model = with_matrix_products(model, feed)
    division, sketches = _sketches(model, config, bus_bytes, feed, only)
    order = {step: place for place, step in enumerate(division.steps, 1)}
    placed = _Placed(config, bus_bytes)
    for step in division.steps:
        if not isinstance(step, HostStep):
            placed.add(order[step], sketches[step.node.output[0]])
    placed.settle(base)
    if placed.end > ADDRESSES:  # lists need addresses of 32 bits: find the size of all elsewhere
        placed.settle(0)
        check_size(0, placed.end, None, model.path.name)
    made = {step.number: step for step in placed.steps()}
    steps = tuple(step if isinstance(step, HostStep) else made[place] for place, step in enumerate(division.steps, 1))
    runs = tuple(placed.run(each) for each in steps_of_runs(steps))
    size = placed.working + aligned(len(placed.image))
    check_size(base, size, memory, model.path.name)
    program = Program(
        name=model.path.stem,
        config=config,
        bus_bytes=bus_bytes,
        base=base,
        working=placed.working,
        size=size,
        image=bytes(placed.image),
        steps=steps,
        runs=runs,
        host=division.host,
        inputs={name: (array.dtype.name, array.shape) for name, array in feed.items()},
        outputs=tuple(each.name for each in model.session.outputs),
    )
    return program, division


def _sketches(
    model: Lowered, config: EngineConfig, bus_bytes: int, feed: Mapping[str, Array], only: Collection[str] | None
) -> tuple[Division, dict[str, _Sketch]]:
    """The model's division, with the reasons of what cannot be compiled, and a sketch of each step of the engine by its
    output.
    """
    vectors = vector_steps(model, rows=config.row_length > 0) if config.vector else ()
    division = Division(model, only=only, vectors=vectors, memory=True)
    tensors = {**division.constants, **feed, **division.expected(feed)}
    constants, refused = set(division.constants), dict[str, str]()
    sketches: dict[str, _Sketch] = {}
    for step in division.products:
        output = step.node.output[0]
        try:
            asked = asked_of_engine(step.node, tensors)
            sketches[output] = sketch(step, asked, known(step.node, constants), constants, config, bus_bytes)
        except NotCompiledError as error:
            refused[output] = str(error)
    kept = []
    for unit in vectors:
        try:
            work = work_of(model, unit, tensors, config.row_length)
        except NotCompiledError as error:
            refused[unit.output] = str(error)
            continue
        names = zip("ab", unit.inputs, strict=False)
        shapes = {letter: tensors[name].shape for letter, name in (*names, ("y", unit.output))}
        known_operands = {
            letter: tensors[name] for letter, name in zip("ab", unit.inputs, strict=False) if name in division.constants
        }
        sketches[unit.output] = VectorSketch(step=unit, work=work, shapes=shapes, constants=known_operands)
        kept.append(unit)
    if refused:
        division = Division(model, only=only, refused=refused, vectors=kept, memory=True)
    return division, sketches


_Sketch = ProductSketch | VectorSketch


def _gives(other: _Sketch, name: str, rows: Rows) -> bool:
    """True if Y of `other` is the tensor `name` with this layout, a row for each last dimension."""
    if other.step.node.output[0] != name:
        return False
    return (other.rows["y"] if isinstance(other, VectorSketch) else rows_in_place(other, "y")) == rows


def _feeds(sketch: ProductSketch, other: _Sketch) -> bool:
    """True if Y of `other` can be used in place as A of the product `sketch`."""
    if not isinstance(other, VectorSketch):
        return sketch.takes(other)
    rows = rows_in_place(sketch, "a")
    return rows is not None and _gives(other, sketch.step.node.input[0], rows)


def _feeds_b(sketch: ProductSketch, other: _Sketch) -> bool:
    """True if Y of `other` can be used in place as B of the product `sketch`, which is computed."""
    rows, name = sketch.b_in_place
    return rows is not None and _gives(other, name, rows)


class _Placed:
    """Steps one after the other: first their rooms, then weights and at last lists in `image`."""

    def __init__(self, config: EngineConfig, bus_bytes: int) -> None:
        self.config, self.bus_bytes, self.base = config, bus_bytes, 0
        self.sketches: list[tuple[int, _Sketch]] = []
        self.image = bytearray()
        self.working = 0
        self._rooms: list[Room] = []
        self._room_of: dict[tuple[int, int, str], int] = {}  # product, operation and operand
        self._from: dict[tuple[int, str], str] = {}
        self._filled: dict[tuple[str, Rows], int] = {}  # rooms of tensors that the host puts there
        self._addresses: list[int] = []
        self._operations: dict[int, tuple[OperationInMemory, ...]] = {}
        self._tables: dict[int, tuple[tuple[Buffer, ...], ...]] = {}
        self._constants: dict[tuple[int, str], Buffer] = {}
        self._kept: dict[bytes, int] = {}

    def add(self, number: int, sketch: _Sketch) -> None:
        """Make rooms for a step; its operands may be the rooms of other steps' Y."""
        if isinstance(sketch, VectorSketch):
            self._add_vector(number, sketch)
        else:
            self._add_product(number, sketch)
        self.sketches.append((number, sketch))

    def _add_vector(self, number: int, sketch: VectorSketch) -> None:
        index = len(self.sketches)
        for operand, name in zip(sketch.operands, sketch.step.inputs, strict=True):
            if operand in sketch.constants:
                continue
            rows = sketch.rows[operand]
            source = next((i for i, (_, other) in enumerate(self.sketches) if _gives(other, name, rows)), None)
            if source is None:
                self._host_room(index, operand, name, rows, number)
            else:
                self._share(index, 0, operand, source, number)
        self._room(index, 0, "y", sketch.rows["y"].bytes, number)
        if sketch.work.scratch:
            self._room(index, 0, SCRATCH, sketch.work.scratch, number)

    def _room(self, index: int, place: int, operand: str, size: int, number: int) -> None:
        self._room_of[index, place, operand] = len(self._rooms)
        self._rooms.append(Room(size=size, first=number, last=number))

    def _host_room(self, index: int, operand: str, name: str, rows: Rows, number: int) -> None:
        """The operand of a step that the host fills with the tensor `name`, unless that lies there for another step."""
        room = self._filled.get((name, rows))
        if room is None:
            self._filled[name, rows] = len(self._rooms)
            self._room(index, 0, operand, rows.bytes, number)
            return
        self._room_of[index, 0, operand] = room
        self._rooms[room] = dataclasses.replace(self._rooms[room], last=number)
        self._from[index, operand] = name

    def _share(self, index: int, place: int, operand: str, source: int, number: int) -> None:
        """An operand is the Y of the step with the index `source`."""
        room = self._room_of[index, place, operand] = self._room_of[source, 0, "y"]
        self._rooms[room] = dataclasses.replace(self._rooms[room], last=number)
        self._from[index, operand] = self.sketches[source][1].step.name

    def _add_product(self, number: int, sketch: ProductSketch) -> None:
        index = len(self.sketches)
        source = next((i for i, (_, other) in enumerate(self.sketches) if _feeds(sketch, other)), None)
        of_b = next((i for i, (_, other) in enumerate(self.sketches) if _feeds_b(sketch, other)), None)
        for place, operation in enumerate(sketch.operations):
            sizes = {"a": operation.a.bytes, "y": operation.y.bytes}
            if not sketch.known.b:
                sizes["b"] = b_size(operation).bytes
            for operand, size in sizes.items():
                if operand == "a" and source is not None:
                    self._share(index, place, "a", source, number)
                elif operand == "b" and of_b is not None:
                    self._share(index, place, "b", of_b, number)
                elif operand == "a" and (rows := rows_in_place(sketch, "a")) is not None:
                    self._host_room(index, "a", sketch.step.node.input[0], rows, number)
                else:
                    self._room(index, place, operand, size, number)

    def settle(self, base: int) -> None:
        """Give each room, and behind all rooms each weight, its place in memory from `base` on."""
        offsets, self.working = place_rooms(self._rooms)
        self.base, self.image = base, bytearray()
        self._kept.clear()
        self._addresses = [base + offset for offset in offsets]
        for index, (number, each) in enumerate(self.sketches):
            name = each.step.name
            if isinstance(each, VectorSketch):
                self._tables[index] = tuple(
                    tuple(self._flat(name, "b", table, number) for table in tables) for tables in each.memory
                )
                for operand, array in each.constants.items():
                    self._constants[index, operand] = self._constant(name, operand, each.rows[operand], array, number)
            else:
                self._operations[index] = tuple(
                    self._operation(index, place, number, name, each.known.b, operation)
                    for place, operation in enumerate(each.operations)
                )
        self._align()

    @property
    def end(self) -> int:
        """The address behind all that has its place."""
        return self.base + self.working + len(self.image)

    def steps(self) -> list[Product | VectorInMemory]:
        """All steps that were added. Their lists lie behind all weights, one behind the other without gaps."""
        return [
            self._vector(index, number, each) if isinstance(each, VectorSketch) else self._product(index, number, each)
            for index, (number, each) in enumerate(self.sketches)
        ]

    def run(self, steps: list[Product | VectorInMemory]) -> Run:
        """The run of these steps, and its list. A single step has one already, and if the host writes into the first
        step's list, the lists of the steps are played in a row. Otherwise, a list is added after those of all steps.
        """
        first, parts = steps[0], [part for step in steps for part in step.parts]
        numbers = tuple(step.number for step in steps)
        if len(steps) > 1 and not (isinstance(first, Product) and first.patches):
            data, jobs = joined_list(steps, self.config, self.bus_bytes)
            address = self._flat(first.name, "list", data, first.number).address
            return Run(steps=numbers, address=address, size=len(data), jobs=jobs)
        return Run(
            steps=numbers, address=parts[0][0].address, size=sum(buffer.size for buffer, _ in parts),
            jobs=next((jobs for _, jobs in reversed(parts) if jobs), 0),  # each list of jobs counts from 0
        )  # fmt: skip

    def _vector(self, index: int, number: int, sketch: VectorSketch) -> VectorInMemory:
        name, tables = sketch.step.name, self._tables[index]
        buffers = {
            role: self._constants.get((index, role)) or self._working(index, 0, role, name, sketch.rows[role])
            for role in ("a", "b", "y")
            if role in sketch.operands + "y"
        }
        scratch, size = None, sketch.work.scratch
        if size:
            scratch = self._working(index, 0, SCRATCH, name, Rows(count=1, size=size, stride=size))
        addresses = {role: buffer.address for role, buffer in buffers.items()}
        addresses |= {} if scratch is None else {SCRATCH: scratch.address}
        data = vector_list(sketch, addresses, tuple(tuple(table.address for table in each) for each in tables))
        return VectorInMemory(
            number=number,
            sketch=sketch,
            operands={operand: buffers[operand] for operand in sketch.operands},
            y=buffers["y"],
            scratch=scratch,
            tables=tables,
            list=self._flat(name, "list", data, number),
            data=data,
            sources={
                operand: self._from[index, operand] for operand in sketch.operands if (index, operand) in self._from
            },
        )

    def _product(self, index: int, number: int, sketch: ProductSketch) -> Product:
        operations = self._operations[index]
        places = [
            each
            for operation in operations
            for each in placements(operation.sketch, operation.a.address, operation.b.address, operation.y.address)
        ]
        pieces = [piece for operation in sketch.operations for piece in operation.pieces]
        made = lists_of(pieces, places, self.config, self.bus_bytes)
        ends = list(accumulate((count for _, count in made), initial=0))
        lists = tuple(
            JobList(
                buffer=self._flat(sketch.step.name, "list", data, number),
                data=data,
                pieces=tuple(pieces[first:last]),
                places=tuple(places[first:last]),
            )
            for (data, _), first, last in zip(made, ends, ends[1:], strict=False)
        )
        addresses = [each.buffer.address for each in lists]
        return Product(
            number=number,
            sketch=sketch,
            operations=operations,
            lists=lists,
            patches=patches_of(sketch, places, made, addresses, self.config, self.bus_bytes),
            a_from=self._from.get((index, "a")),
            b_from=self._from.get((index, "b")),
        )

    def _operation(
        self, index: int, place: int, number: int, name: str, b_known: bool, operation: OperationSketch
    ) -> OperationInMemory:
        if b_known:
            b = self._flat(name, "b", bytes_of_tiles(operation, self.config), number)
        else:
            b = self._working(index, place, "b", name, b_size(operation))
        return OperationInMemory(
            sketch=operation,
            a=self._working(index, place, "a", name, operation.a),
            b=b,
            y=self._working(index, place, "y", name, operation.y),
        )

    def _working(self, index: int, place: int, operand: Role, name: str, rows: Rows) -> Buffer:
        number = self._room_of[index, place, operand]
        room = self._rooms[number]
        return Buffer(
            name=name, role=operand, address=self._addresses[number],
            rows=rows.count, row_bytes=rows.size, stride=rows.stride, first=room.first, last=room.last,
        )  # fmt: skip

    def _constant(self, name: str, operand: str, rows: Rows, array: Array, number: int) -> Buffer:
        """The buffer of a constant operand of the vector unit."""
        kept = self._flat(name, "b", bytes_of_rows(rows, array), number)
        role: Role = "a" if operand == "a" else "b"
        return dataclasses.replace(kept, role=role, rows=rows.count, row_bytes=rows.size, stride=rows.stride)

    def _align(self) -> None:
        self.image += bytes(aligned(len(self.image)) - len(self.image))

    def _flat(self, name: str, role: Role, data: bytes, number: int) -> Buffer:
        """A buffer for `data` that is kept; equal data share a place, except lists, which are not aligned."""
        at = self._kept.get(data) if role == "b" else None
        if at is None:
            if role != "list":
                self._align()
            at = self.base + self.working + len(self.image)
            self.image += data
            self._kept[data] = at
        return Buffer(
            name=name, role=role, address=at, rows=1, row_bytes=len(data), stride=len(data),
            first=number, last=number, kept=True,
        )  # fmt: skip
