"""A whole ONNX model as a network of integer operators, or why not: QDQ and QOperator alike."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from systoliq.golden.formats import IntFormat
from systoliq.golden.limits import TENSOR_ELEMENTS
from systoliq.golden.network import Network, Source, Tensor

from ...errors import InputError
from ..catalogue import CATALOGUE
from ..graph import Graph
from ..lone import is_lone_product
from ..model_file import inferred
from ..node import MOVES, NotTakenError, dimensions, is_operator
from ..quantization import dynamic, unquantized
from .broadcasts import with_broadcasts
from .late import QUANTIZERS
from .layout import with_layout
from .quantizers import counted, inputs_of
from .reader import Reader
from .reorders import with_reorders
from .values import Given, Unknown, Value
from .verdict import Fate, Verdict

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["Reading", "reading_of", "with_batch"]

_LISTED = 5  # reasons in an error; `systoliq layers` has them all


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """The model in the file `path`: a verdict on each node, and the network where none is refused.

    `problems` are the reasons why there is no network. `unquantized` is the one reason where no node works on integers,
    and `dynamic` the one where all activations are quantized at run time.
    `lone` says that the whole model is one matrix product and the host's part around it.
    """

    path: Path
    verdicts: tuple[Verdict, ...]
    network: Network | None
    problems: tuple[str, ...]
    unquantized: str | None
    dynamic: str | None
    lone: bool

    @property
    def multiply_accumulates(self) -> int:
        """Multiply-accumulates of all nodes with known shapes."""
        return sum(verdict.multiply_accumulates or 0 for verdict in self.verdicts)

    def checked(self) -> Network:
        """The network; InputError with the reasons if there is none."""
        if self.unquantized is not None:
            raise InputError(f"{self.path}: {self.unquantized}")
        if self.network is None:
            more = len(self.problems) - _LISTED
            rest = [f"and {more} more: systoliq layers {self.path}"] if more > 0 else []
            text = "; ".join([*self.problems[:_LISTED], *rest])
            raise InputError(f"{self.path}: cannot be taken as a network: {' '.join(text.split())}")
        return self.network


def reading_of(path: Path, graph: Graph) -> Reading:
    """A verdict on each node of `graph`, of the file `path`, whose first dimensions are numbers: see `with_batch`."""
    reader = Reader(graph, {}, CATALOGUE)
    problems = []
    for info in graph.graph.input:
        if info.name in graph.initializers:
            continue
        value, problem = _input(graph, info.name)
        if isinstance(value, Tensor):
            reader.add_source(Source(name=info.name, shape=value.shape, movements=(), tensor=value))
        reader.values[info.name] = value
        problems += [problem] if problem else []
    verdicts = reader.walk()
    refused = [verdict for verdict in verdicts if verdict.fate is Fate.REFUSED]
    problems += [f"{verdict.operator} {verdict.name!r}: {verdict.text}" for verdict in refused if not verdict.derived]
    network = None
    if not problems and not refused:
        network = with_reorders(with_broadcasts(with_layout(reader.network(path.stem))))
        problems += [] if network.nodes else [_without_nodes(verdicts)]
    whole = unquantized(graph)
    at_run_time = dynamic(graph) if problems else None
    if at_run_time is not None:
        problems = [at_run_time]
    return Reading(
        path=path,
        verdicts=verdicts,
        network=None if problems else network,
        problems=tuple(problems if whole is None else [whole]),
        unquantized=whole,
        dynamic=at_run_time,
        lone=is_lone_product(graph),
    )


def _without_nodes(verdicts: tuple[Verdict, ...]) -> str:
    """Why a model whose nodes are all the host's is no network."""
    host = [each for each in verdicts if each.fate is Fate.HOST and each.operator not in QUANTIZERS]
    named = ", ".join(f"{each.operator} {each.name!r}" for each in host[:_LISTED]) or "no operators"
    more = f" and {len(host) - _LISTED} more" if len(host) > _LISTED else ""
    return (
        f"it must have an operator between integers that hardware takes (docs/networks.md lists them), and has only "
        f"{named}{more}, which the host computes"
    )


def with_batch(model: ModelProto) -> ModelProto:
    """`model`, or a copy with a batch of 1 where its inputs' first dimension has no number, and the shapes that follow.

    A first dimension without a number is the batch.
    """
    initializers = {tensor.name for tensor in model.graph.initializer}
    copy: ModelProto | None = None
    for place, info in enumerate(model.graph.input):
        dims = info.type.tensor_type.shape.dim
        if info.name not in initializers and dims and not dims[0].HasField("dim_value"):
            copy = copy or _copied(model)
            copy.graph.input[place].type.tensor_type.shape.dim[0].dim_value = 1
    if copy is None:
        return model
    del copy.graph.value_info[:]
    return inferred(copy)


def _copied(model: ModelProto) -> ModelProto:
    copy = type(model)()
    copy.CopyFrom(model)
    return copy


def _input(graph: Graph, name: str) -> tuple[Value, str | None]:
    """The value of the graph's input `name`, and its faults."""
    shape, kind = graph.shape(name), graph.type_of(name)
    unknown = Unknown(source=f"the graph's input {name!r}")
    if not shape:
        return (
            unknown,
            f"input {name!r} must have a shape with a batch first, not {'none' if shape is None else '[]'}",
        )
    sizes = [size for size in shape if isinstance(size, int) and size > 0]
    if len(sizes) < len(shape):
        given = f"not {dimensions(shape)}: export it with one size"
        return unknown, f"input {name!r} must have numbers for all dimensions but the first, {given}"
    if math.prod(sizes) > TENSOR_ELEMENTS:
        return (
            unknown,
            f"input {name!r} must have at most {TENSOR_ELEMENTS} elements, not the shape {dimensions(shape)}",
        )
    if kind is not None and kind.name in ("int8", "uint8") and not _becomes_real(graph, name):
        return _integers(graph, name, tuple(sizes), kind), None
    return Given(name=name, origin=tuple(sizes), shape=tuple(sizes)), None


def _becomes_real(graph: Graph, name: str) -> bool:
    """True if the integer tensor `name` is only used by Cast, possibly after moves: its integers are the host's."""
    todo, found = [name], False
    while todo:
        for user in graph.consumers(todo.pop()):
            if is_operator(user, *MOVES):
                todo.append(user.output[0])
            elif is_operator(user, "Cast"):
                found = True
            else:
                return False
    return found


def _integers(graph: Graph, name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> Tensor:
    """The graph's integer input `name`, counted as the first node does that says how; else in units of 1."""
    plain = Tensor(name=name, shape=shape, format=IntFormat.of(kind), scale=np.float32(1), zero_point=0)
    for user in graph.consumers(name):
        place = list(user.input).index(name)
        if is_operator(user, "DequantizeLinear") or user.op_type.startswith(("QLinear", "QGemm")):
            with contextlib.suppress(NotTakenError, ValueError):
                return counted(plain, *inputs_of(graph, user, place + 1, "its scale", "its zero point"))
    return plain
