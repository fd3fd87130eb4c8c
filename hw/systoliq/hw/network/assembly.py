"""Assembly: a network of integer operators as a pipeline of stages."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from systoliq.golden import network

from ..hierarchy import mark_used
from ..operand_shape import operand_shape
from .dependency import Dependency
from .line_pace import keeps_up
from .operators import operator_of
from .parallelism import Parallelism
from .pipeline import Inlet, Joint, Outlet, Pipeline, stream_letters
from .recipe import Order, Requantize
from .stages import stage_of

__all__ = ["PORT_BITS", "Assembly", "Latency", "assemble"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Latency:
    """Cycles from the one in which the first beat of an image is taken to those in which the first and the last beat of
    its results leave, if nothing else is under way and neither side waits.
    """

    first: int
    last: int


PORT_BITS = 1 << 14
"""Largest FIFO at a port of a network with several ports: about one memory block."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Assembly:
    """The ``pipeline`` of the network ``net``: the ``nodes`` that are its stages, their ``parallelism``, and the
    tensor of each stream.

    Moves that only change the order are no stages: their tensors are those that they move. The network's input and
    output of one index are the pipeline's.
    """

    net: network.Network
    pipeline: Pipeline
    nodes: Sequence[network.Node]
    parallelism: Mapping[str, Parallelism]
    tensors: Mapping[str, network.Tensor]

    @property
    def inputs(self) -> dict[str, str]:
        """The stream of each input by the letter in its port's name: ``a``, or ``a0`` and on."""
        return _by_letter("a", self.pipeline.inputs)

    @property
    def outputs(self) -> dict[str, str]:
        """The stream of each output by the letter in its port's name: ``y``, or ``y0`` and on."""
        return _by_letter("y", self.pipeline.outputs)

    @property
    def waiting(self) -> dict[str, tuple[int, ...]]:
        """The beats that may wait in the FIFOs of each stage, by the stream that it gives.

        These are FIFOs before its inputs, and those at ports: of an input that the stage takes first, or of its output.
        """
        found = {joint.name: joint.waiting for joint in self.pipeline.joints}
        for inlet in self.pipeline.inputs:
            taker = next(joint.name for joint in self.pipeline.joints if inlet.name in joint.inputs)
            found[taker] += (inlet.waiting,)
        for outlet in self.pipeline.outputs:
            found[outlet.name] += (outlet.waiting,)
        return found

    @property
    def image_cycles(self) -> int:
        """Cycles from one image to the next if neither side waits: the slowest stage's."""
        return max(operator_of(node).image_cycles(self.parallelism[node.name]) for node in self.nodes)

    @property
    def image_beats(self) -> tuple[int, ...]:
        """Beats of an image as it enters, for each input."""
        inputs = self.pipeline.inputs
        return tuple(math.prod(self.tensors[each.name].shape[1:]) // each.lanes for each in inputs)

    @cached_property
    def latency(self) -> dict[str, Latency]:
        """The latency of each output, by the letter in its port's name, if the images of all inputs begin together."""
        left = self.pipeline.timed(self.image_beats).values()
        return {
            letter: Latency(first=int(beats.cycles[0]), last=int(beats.cycles[-1]))
            for letter, beats in zip(self.outputs, left, strict=True)
        }

    @property
    def exact(self) -> bool:
        """True if an image takes exactly `image_cycles`, not only at least: no window leaves the image, as in
        `WindowOperator.image_cycles`, and every window buffer keeps up with the stage before it. False for several
        inputs, which may wait for each other.
        """
        if len(self.pipeline.inputs) > 1:
            return False
        cycles = {node.output.name: operator_of(node).image_cycles(self.parallelism[node.name]) for node in self.nodes}
        slowest = max(cycles.values())
        for joint in self.pipeline.joints:
            buffer = getattr(joint.component, "buffer", None)
            before = cycles.get(joint.inputs[0]) if joint.inputs else None  # neither the input nor a constant
            if buffer is None or before is None:
                continue
            own, windows = cycles[joint.name], buffer.windows
            if not keeps_up(windows, lines=buffer.lines, source_cycles=before, own_cycles=own, cycles=slowest):
                return False
        return not any(operator_of(node).windows.leaves_image for node in self.nodes)

    @property
    def cells(self) -> tuple[str, ...]:
        """The sets of cells of all stages, each once, the pipeline's own first."""
        named = (cells for each in self.parallelism.values() for cells in (each.cells, each.lane_cells) if cells)
        return tuple(dict.fromkeys([self.pipeline.cells, *named]))

    @property
    def multipliers(self) -> int:
        """Products per cycle, without requantizers'."""
        return sum(operator_of(node).multipliers(self.parallelism[node.name]) for node in self.nodes)


@dataclasses.dataclass(frozen=True)
class _Stream:
    """The stream ``name`` as ``tensor``, whose elements come in ``order`` (None: its own raster order)."""

    name: str
    tensor: network.Tensor
    order: Order | None


def assemble(
    net: network.Network,
    parallelism: Mapping[str, Parallelism],
    *,
    requantize: Requantize,
    cells: str = "portable",
    lane_cells: str | None = None,
) -> Assembly:
    """The stages of ``net``, each with the parallelism under its node's name, between streams for inputs and outputs.

    ``requantize`` chooses the integer constants of each layer; ``lane_cells`` are those that requantizers multiply
    with, where they are not the others'.

    Each of several inputs, and each of several outputs, has a FIFO for an image, of at most `PORT_BITS`.

    Raises ValueError for what `stage_of` has no hardware, and for inputs and outputs that no stage takes or makes.
    """
    chosen = {node.name: parallelism.get(node.name, Parallelism()) for node in net.nodes if operator_of(node).is_stage}
    slowest = max(
        (operator_of(node).image_cycles(chosen[node.name]) for node in net.nodes if node.name in chosen), default=1
    )
    assembler = _Assembler(net.inputs, cells, lane_cells or cells, requantize, slowest)
    try:
        for number, node in enumerate(net.nodes):
            kind = f"s{number}_{_plain(node.name)}"
            assembler.add(node, parallelism.get(node.name, Parallelism()), kind)
        outputs = [_outlet(net, output, assembler) for output in net.outputs]
        inputs = [_inlet(source, assembler.joints, several=len(net.inputs) > 1) for source in net.inputs]
        pipeline = Pipeline(assembler.joints, inputs=inputs, outputs=outputs, cells=cells)
    finally:
        for joint in assembler.joints:  # for the cycle model alone, as long as no Verilog is asked for
            mark_used(joint.component)
    mark_used(pipeline)
    tensors = {name: each.tensor for name, each in assembler.streams.items() if each.name == name}
    return Assembly(net=net, pipeline=pipeline, nodes=assembler.nodes, parallelism=chosen, tensors=tensors)


def _by_letter(letter: str, ends: Sequence[Inlet | Outlet]) -> dict[str, str]:
    return dict(zip(stream_letters(letter, len(ends)), (each.name for each in ends), strict=True))


def _inlet(source: network.Tensor, joints: Sequence[Joint], *, several: bool) -> Inlet:
    """The input ``source``, in beats of the stage that takes it first."""
    ports = (each.port(index) for each in joints for index, name in enumerate(each.inputs) if name == source.name)
    first = next(ports, None)
    if first is None:
        raise ValueError(f"input {source.name!r} must be taken by a stage, and is not: leave it out of the model")
    lanes = first.payload.data.shape().length
    waiting = _port_depth(source, lanes) if several else 0
    return Inlet(name=source.name, shape=operand_shape(source.format), lanes=lanes, waiting=waiting)


def _outlet(net: network.Network, output: network.Tensor, assembler: _Assembler) -> Outlet:
    """The output ``output``, in beats of the stage that makes it."""
    given = assembler.streams[output.name]
    made = next((each.component for each in assembler.joints if each.name == given.name), None)
    if made is None:
        raise ValueError(f"output {output.name!r} must be made by a stage, and is an input, moved at most")
    if given.order is not None:
        raise ValueError(f"output {output.name!r}: its elements must come in raster order, channels last")
    lanes = made.o.payload.data.shape().length
    return Outlet(name=given.name, waiting=_port_depth(given.tensor, lanes) if len(net.outputs) > 1 else 0)


def _port_depth(tensor: network.Tensor, lanes: int) -> int:
    """Beats, a power of two, that the FIFO at a port holds: an image, as far as `PORT_BITS` go."""
    beat = tensor.format.bits * lanes + 1
    return min(_depth(tensor.pixels, tensor, lanes), max(1 << (PORT_BITS // beat).bit_length() - 1, 2))


class _Assembler:
    """Joints, node by node."""

    def __init__(
        self, sources: Sequence[network.Tensor], cells: str, lane_cells: str, requantize: Requantize, slowest: int
    ) -> None:
        self._cells, self._lane_cells, self._requantize = cells, lane_cells, requantize
        self._slowest = slowest
        self.streams = {source.name: _Stream(source.name, source, None) for source in sources}
        steps = max(source.pixels for source in sources)
        self._dependencies = {source.name: Dependency.of_source(source, steps) for source in sources}
        self.nodes: list[network.Node] = []
        self.joints: list[Joint] = []

    def add(self, node: network.Node, parallelism: Parallelism, kind: str) -> None:
        """Add the joint of ``node``, and the joints of its constants; a move has no joint, only another name."""
        taken = [self.streams[tensor.name] for tensor in node.inputs if tensor.value is None]
        operator = operator_of(node)
        if not operator.is_stage:
            self.streams[node.output.name] = _moved(node, taken[0])
            return
        stage = stage_of(
            node,
            parallelism,
            cells=self._cells,
            lane_cells=self._lane_cells,
            kind=kind,
            requantize=self._requantize,
            order=next((each.order for each in taken if each.order is not None), None),
        )
        inputs = tuple(self._input(node, index, parallelism, kind) for index in range(len(node.inputs)))
        joint = Joint(name=node.output.name, component=stage, inputs=inputs)
        given = [self._dependencies[each.name] for each in taken]
        busy = operator.image_cycles(parallelism) / self._slowest
        self._dependencies[joint.name] = operator.dependency(given, busy)
        if len(taken) > 1:
            joint = dataclasses.replace(joint, waiting=_waiting(node, joint, taken, given))
        self.nodes.append(node)
        self.joints.append(joint)
        self.streams[joint.name] = _Stream(joint.name, node.output, None)

    def _input(self, node: network.Node, index: int, parallelism: Parallelism, kind: str) -> str:
        """The name of the stream that is the input ``index`` of ``node``."""
        tensor = node.inputs[index]
        if tensor.value is None:
            return self.streams[tensor.name].name
        label = f"{kind}_constant_{index}"
        constants = operator_of(node).constants(index, parallelism, cells=self._cells, kind=label)
        name = f"{node.name}: constant {index}"
        self.joints.append(Joint(name=name, component=constants, inputs=()))
        return name


def _moved(node: network.Node, given: _Stream) -> _Stream:
    """The same stream as the tensor that ``node`` makes of it."""
    x, there = node.inputs[0], operator_of(node).order  # for each element of the output: which of the input it is
    places = np.arange(x.pixels * x.channels)
    order = np.argsort(there)  # for each element of the input, in order: its place in the output's order
    if given.order is not None:
        order = order[given.order]
    return _Stream(given.name, node.output, None if (order == places).all() else order)


def _waiting(
    node: network.Node, joint: Joint, taken: Sequence[_Stream], given: Sequence[Dependency]
) -> tuple[int, ...]:
    """Beats that must find room before each input of a join: none before constants."""
    counts = operator_of(node).waiting(given)
    depths = {each.name: (count, each.tensor) for each, count in zip(taken, counts, strict=True)}
    return tuple(
        _depth(*depths[name], joint.port(index).payload.data.shape().length) if name in depths else 0
        for index, name in enumerate(joint.inputs)
    )


def _depth(pixels: int, tensor: network.Tensor, lanes: int) -> int:
    """Beats, a power of two, that hold the given pixels; 0 if none must wait."""
    beats = -(-pixels * tensor.channels // lanes)
    return 1 << max(beats - 1, 1).bit_length()


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_").lower()[-24:].strip("_") or "node"
