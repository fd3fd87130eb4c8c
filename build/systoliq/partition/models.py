"""Models of parts of a model: some of its nodes in order, with the constants that they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..onnx.functions import tensors_taken
from ..onnx.graph import Graph
from .regions import Nodes, Region, Regions

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

__all__ = ["after", "before", "boundary", "network"]


def network(model: ModelProto, regions: Regions, region: Region) -> ModelProto:
    """The model of `region`, with one input and one output."""
    return _part(model, regions, region.nodes, [region.start], [region.end])


def boundary(regions: Regions, region: Region) -> list[str]:
    """The tensors that the model before `region` computes for those after it, and the start of the region first."""
    first = regions.ancestors([region.start])
    taken = {name for place in _later(regions, region) for name in tensors_taken(regions.nodes[place])}
    made = _made(regions, first)
    kept = [name for name in made if (name in taken or regions.graph.is_output(name)) and name != region.start]
    return [*([region.start] if first.any() else []), *kept]


def before(model: ModelProto, regions: Regions, region: Region) -> ModelProto | None:
    """The model that computes `boundary`; None where the region starts at an input of the graph."""
    names = boundary(regions, region)
    nodes = [int(place) for place in regions.ancestors([region.start]).nonzero()[0]]
    return _part(model, regions, nodes, _given(regions), names) if nodes else None


def after(model: ModelProto, regions: Regions, region: Region) -> ModelProto | None:
    """The model of the outputs that are neither in `boundary` nor the region's end; None if there are none."""
    known = [*boundary(regions, region), region.end]
    outputs = [each.name for each in model.graph.output if each.name not in known]
    return _part(model, regions, _later(regions, region), [*known, *_given(regions)], outputs) if outputs else None


def _later(regions: Regions, region: Region) -> list[int]:
    """Places of the nodes that compute the outputs from `region`'s end and from what comes before the region."""
    known = {*_made(regions, regions.ancestors([region.start])), region.start, region.end}
    outputs = [each.name for each in regions.graph.graph.output]
    return [int(place) for place in regions.ancestors(outputs, known).nonzero()[0]]


def _made(regions: Regions, nodes: Nodes) -> list[str]:
    """The tensors that `nodes` compute, constants left out."""
    computed = (nodes & ~regions.constant).nonzero()[0]
    return [name for place in computed for name in regions.nodes[int(place)].output if name]


def _given(regions: Regions) -> list[str]:
    graph = regions.graph
    return [each.name for each in graph.graph.input if each.name not in graph.initializers]


def _part(
    model: ModelProto, regions: Regions, nodes: Sequence[int], inputs: Sequence[str], outputs: Sequence[str]
) -> ModelProto:
    """`nodes` and the constant ones before them as a model; of `inputs` it has those that they take."""
    from onnx import helper

    graph = regions.graph
    wanted = {name for place in nodes for name in tensors_taken(regions.nodes[place])}
    constants = regions.ancestors(wanted) & regions.constant
    places = sorted({*nodes, *(int(place) for place in constants.nonzero()[0])})
    taken = {name for place in places for name in tensors_taken(regions.nodes[place])}
    made = {name for place in places for name in regions.nodes[place].output}
    part = helper.make_graph(
        [regions.nodes[place] for place in places],
        "part",
        [_info(graph, name) for name in dict.fromkeys(inputs) if name in taken - made],
        [_info(graph, name) for name in outputs],
        initializer=[each for each in model.graph.initializer if each.name in taken],
        sparse_initializer=[each for each in model.graph.sparse_initializer if each.values.name in taken],
        value_info=[each for each in model.graph.value_info if each.name in made - set(outputs)],
    )
    found: ModelProto = helper.make_model(part, opset_imports=model.opset_import, ir_version=model.ir_version)
    return found


def _info(graph: Graph, name: str) -> ValueInfoProto:
    """The type and shape of the tensor `name`, if they are known."""
    from onnx import helper

    kind = graph.type_of(name)
    number = 1 if kind is None else helper.np_dtype_to_tensor_dtype(kind)
    return helper.make_tensor_value_info(name, number, graph.shape(name))
