"""Assembly: a network of integer operators as a pipeline of stages."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

import numpy as np

from systoliq.golden import network

from ..operand_shape import operand_shape
from .dependency import Dependency
from .line_pace import keeps_up
from .operators import operator_of
from .parallelism import Parallelism
from .pipeline import Joint, Pipeline
from .recipe import Order, Requantize
from .stages import stage_of

__all__ = ["Assembly", "assemble"]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Assembly:
    """A ``pipeline``, the ``nodes`` that are its stages with their ``parallelism``, and which tensor each stream is.

    Moves that only change the order are no stages: their tensors are those that they move.
    """

    pipeline: Pipeline
    nodes: Sequence[network.Node]
    parallelism: Mapping[str, Parallelism]
    tensors: Mapping[str, network.Tensor]

    @property
    def image_cycles(self) -> int:
        """Cycles from one image to the next if neither side waits: the slowest stage's."""
        return max(operator_of(node).image_cycles(self.parallelism[node.name]) for node in self.nodes)

    @property
    def exact(self) -> bool:
        """True if an image takes exactly `image_cycles`, not only at least: no window leaves the image, as in
        `WindowOperator.image_cycles`, and every window buffer keeps up with the stage before it.
        """
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
    """The stages of ``net``, each with the parallelism under its node's name, behind one stream and before one.

    ``requantize`` chooses the integer constants of each layer; ``lane_cells`` are those that requantizers multiply
    with, where they are not the others'.

    Raises ValueError for networks of several inputs or outputs, and for what `stage_of` has no hardware.
    """
    if len(net.sources) != 1 or len(net.outputs) != 1:
        raise ValueError(f"a network must have one input and one output, not {len(net.sources)} and {len(net.outputs)}")
    (source,) = net.inputs
    chosen = {node.name: parallelism.get(node.name, Parallelism()) for node in net.nodes if operator_of(node).is_stage}
    slowest = max(
        (operator_of(node).image_cycles(chosen[node.name]) for node in net.nodes if node.name in chosen), default=1
    )
    assembler = _Assembler(source, cells, lane_cells or cells, requantize, slowest)
    for number, node in enumerate(net.nodes):
        kind = f"s{number}_{_plain(node.name)}"
        assembler.add(node, parallelism.get(node.name, Parallelism()), kind)
    output = assembler.streams[net.outputs[0].name]
    if output.name == source.name:
        raise ValueError(f"output {output.tensor.name!r} must be made by a stage, and is the input, moved at most")
    if output.order is not None:
        raise ValueError(f"output {output.tensor.name!r}: its elements must come in raster order, channels last")
    joints = assembler.joints
    lanes = next(joint.port(0).payload.data.shape().length for joint in joints if source.name in joint.inputs)
    pipeline = Pipeline(
        joints, source=source.name, shape=operand_shape(source.format), lanes=lanes, output=output.name, cells=cells
    )
    tensors = {name: each.tensor for name, each in assembler.streams.items() if each.name == name}
    return Assembly(pipeline=pipeline, nodes=assembler.nodes, parallelism=chosen, tensors=tensors)


class _Assembler:
    """Joints, node by node."""

    def __init__(
        self, source: network.Tensor, cells: str, lane_cells: str, requantize: Requantize, slowest: int
    ) -> None:
        self._cells, self._lane_cells, self._requantize = cells, lane_cells, requantize
        self._slowest = slowest
        self.streams = {source.name: _Stream(source.name, source, None)}
        self._dependencies = {source.name: Dependency.of_source(source)}
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
