"""Reader of a model as a network: walks its nodes once, from values to values, with a verdict on each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from systoliq.golden.network import Move, Network, Node, Source, Tensor
from systoliq.golden.network.moves import Cast, Movement

from ..graph import Graph
from ..node import NotTakenError, attribute, check_elements, domain, is_operator, label
from ..operator import Operator, Operators
from ..quantization import integral
from .flat import check_flat, state_shape
from .late import QUANTIZERS, late_outputs
from .padding import merged
from .values import ByChannel, Constant, Given, Pending, Real, Result, Unknown, Value
from .verdict import Fate, Verdict

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["Handler", "Reader", "UnknownInputError"]

Handler = Callable[["Reader", "NodeProto"], Value]


class UnknownInputError(NotTakenError):
    """A node is not taken because another one beside it is not, or an input has no shape."""


class Reader:
    """The nodes of `graph`, read by the handlers of `operators`.

    `inputs` are the values of the graph's inputs. `walk` gives the verdicts on all nodes; after it, where all are good,
    `network` gives the result. A handler gives the value of its node's first output, and raises NotTakenError,
    ValueError or TypeError.
    """

    def __init__(self, graph: Graph, inputs: dict[str, Value], operators: Operators) -> None:
        self.graph = graph
        self.values = dict(inputs)
        self.operators = operators
        self._nodes: list[Node] = []
        self._sources: list[Source] = []
        self._outputs: dict[str, Tensor] = {}
        self._multiplied: set[str] = set()  # outputs that a product of the host takes
        self._stages: dict[str, list[Node]] = {}  # by the first output of the model's node
        self._folded: dict[str, str] = {}
        self._late = late_outputs(graph, operators)

    def walk(self) -> tuple[Verdict, ...]:
        """The verdicts on all nodes, in the model's order."""
        nodes = list(self.graph.graph.node)
        fates = [self._read(node) for node in nodes]
        for info in self.graph.graph.output:
            self._leaves(info.name)
        self._leave_inputs()
        self._merge_pads()
        if self._outputs and not any(fate is Fate.REFUSED for fate, _, _ in fates):
            self._drop_unused()
        host = {node.output[0] for node, (fate, _, _) in zip(nodes, fates, strict=True) if fate is Fate.HOST}
        return tuple(self._verdict(node, *fate, host) for node, fate in zip(nodes, fates, strict=True))

    def network(self, name: str) -> Network:
        """The network, if all verdicts are good."""
        return Network(
            name=name, sources=tuple(self._sources), nodes=tuple(self._nodes), outputs=tuple(self._outputs.values())
        )

    # what handlers ask for

    def value(self, name: str) -> Value:
        """The value of the tensor `name`; UnknownInputError if it has none."""
        if self.graph.is_constant(name):
            return Constant(name=name)
        value = self.values.get(name, Unknown(source=self.graph.source(name)))
        if isinstance(value, Unknown):
            raise UnknownInputError(f"its input {name!r} comes from {value.source}, which is not taken")
        return value

    def tensor(self, name: str) -> Tensor:
        """The integers of the real tensor `name`, made by a separate stage if they do not exist yet."""
        value = self.value(name)
        if isinstance(value, Pending) and value.counts is not None:
            made = value.counts.replace(name=name, shape=value.shape, value=None)
            self.emit(value.node, value.make(made))
            value = self.values[name] = Real(tensor=made)
        if isinstance(value, Real | ByChannel):
            return value.tensor
        if isinstance(value, Constant):
            raise NotTakenError(f"its input {name!r} must be computed, not be a constant of {self.graph.source(name)}")
        text = f"its input {name!r} must come from a DequantizeLinear, not from {self.graph.source(name)}"
        if isinstance(value, Pending):
            text += (
                ", whose result onnxruntime then leaves in float: quantize it, too, with a QuantizeLinear and a "
                "DequantizeLinear behind it"
            )
        raise NotTakenError(text)

    def integers(self, name: str) -> Tensor:
        """The integer tensor `name`."""
        value = self.value(name)
        if isinstance(value, Tensor):
            return value
        raise NotTakenError(f"its input {name!r} must be of integers, not from {self.graph.source(name)}")

    def integers_behind(self, name: str) -> Tensor:
        """The integers of the tensor `name`, also if it is real and represents integers."""
        value = self.value(name)
        return value if isinstance(value, Tensor) else self.tensor(name)

    def expect_one_use(self, name: str) -> None:
        """Raise NotTakenError if the real tensor `name`, which is not quantized, is used twice or is an output, too."""
        if not self.graph.has_one_use(name):
            raise NotTakenError(f"its input {name!r} must have this one use, as it is not yet quantized")

    def emit(self, node: NodeProto, made: tuple[Node, ...]) -> None:
        """Add operators that the model's `node` becomes."""
        self._nodes += made
        self._stages.setdefault(node.output[0], []).extend(made)

    def makes(self, name: str) -> bool:
        """True if an operator so far makes the integer tensor `name`."""
        return any(node.output.name == name for node in self._nodes)

    def add_source(self, source: Source) -> None:
        """Add an input of the network."""
        self._sources.append(source)

    def fold(self, node: NodeProto, into: NodeProto) -> None:
        """Say that `node` is part of what `into` becomes."""
        self._folded[node.output[0]] = f"in {label(into)}"

    # the walk

    def _merge_pads(self) -> None:
        """Merge paddings into the stages after them, where possible."""
        changed = merged(self._nodes, self._outputs)
        self._nodes = [now for node in self._nodes if (now := changed.get(node, node)) is not None]
        for name, stages in self._stages.items():
            kept = [now for node in stages if (now := changed.get(node, node)) is not None]
            if len(kept) < len(stages):
                self._folded[name] = "in the padding of what takes it"
                kept = [node for node in kept if not isinstance(node, Move)]
            self._stages[name] = kept

    def _leave_inputs(self) -> None:
        """Leave to the host those outputs that are inputs, moved at most, where there are others and it does not
        multiply them: it has them already, as for the residual behind the last integers of a denoiser.
        """
        given = {source.tensor.name for source in self._sources}
        for node in self._nodes:
            if isinstance(node, Move) and node.inputs[0].name in given:
                given.add(node.output.name)
        if not given.issuperset(self._outputs):
            self._outputs = {
                name: tensor for name, tensor in self._outputs.items() if name not in given - self._multiplied
            }

    def _drop_unused(self) -> None:
        """Remove stages whose results lead to no output, as onnxruntime does."""
        needed = set(self._outputs)
        kept: list[Node] = []
        for node in reversed(self._nodes):
            if node.output.name in needed:
                kept.append(node)
                needed |= {x.name for x in node.inputs}
        self._nodes, left = kept[::-1], set(kept)
        for name, stages in self._stages.items():
            self._stages[name] = [node for node in stages if node in left]
            if stages and not self._stages[name]:
                self._folded[name] = "nothing, as no output needs it"

    def _read(self, node: NodeProto) -> tuple[Fate, str, bool]:
        """The fate of a node, what to say of it, and whether that follows from another node's; sets its value."""
        output = node.output[0]
        if self._is_constant(node):
            self.values[output] = Constant(name=output)
            users = self.graph.consumers(output)
            return Fate.FOLDED, f"a constant of {label(users[0])}" if users else "a constant that nothing takes", False
        operator = self.operators.of(node)
        handler: Handler | None = operator.network if callable(operator.network) else None
        if self._is_late(node, handler):
            before = set(self._outputs)
            for name in node.input:
                self._leaves(name)
            self.values[output] = Result()
            sums = self.operators.of(node).multiply_accumulates(self.graph, node) != 0
            self._multiplied |= set(self._outputs) - before if sums else set()
            return Fate.HOST, "its result stays real numbers" if sums else "behind the last integers", False
        if handler is None and (given := self._given(node)) is not None:
            self.values[output] = given
            return Fate.HOST, "before the first integers", False
        try:
            if handler is None:
                raise NotTakenError(_unread(node, operator))
            operator.check_inputs(node)
            for name in node.input:
                check_flat(self.graph, operator, name, self.values.get(name))
            value = handler(self, node)
            if isinstance(value, Tensor | Pending | Given):
                check_elements("its result", value.shape)
            self.values[output] = value
            state_shape(self.graph, node, self.values)
        except (NotTakenError, TypeError, ValueError) as error:
            self.values[output] = Unknown(source=label(node))
            return Fate.REFUSED, str(error), isinstance(error, UnknownInputError)
        if isinstance(self.values[output], Given) or any(source.tensor.name == output for source in self._sources):
            return Fate.HOST, "before the first integers", False
        return Fate.STAGE, "", False

    def _given(self, node: NodeProto) -> Given | None:
        """The result of a node on the graph's input alone, for the host; its shape as the model states it.

        A Cast to float32 is a movement; behind any other node the integers must be given.
        """
        values = [self.values.get(name) for name in node.input if name and not self.graph.is_constant(name)]
        shape = self.graph.shape(node.output[0]) or [None]
        sizes = tuple(size for size in shape if isinstance(size, int))
        first = values[0] if values else None
        if integral(node) or self.operators.of(node).multiply_accumulates(self.graph, node) != 0:
            return None
        if not isinstance(first, Given) or any(value is not first for value in values) or len(sizes) < len(shape):
            return None
        movements = None if first.movements is None else self._cast(node, first.movements)
        return Given(name=first.name, origin=first.origin, shape=sizes, movements=movements)

    def _cast(self, node: NodeProto, before: tuple[Movement | Cast, ...]) -> tuple[Movement | Cast, ...] | None:
        """`before`, and a Cast to float32 after it; None if `node` is another operator."""
        from onnx import TensorProto

        kind = self.graph.type_of(node.input[0])
        if not is_operator(node, "Cast") or kind is None or attribute(node, "to") != TensorProto.FLOAT:
            return None
        return before if kind.kind == "f" else (*before, Cast(kind.name))

    def _is_constant(self, node: NodeProto) -> bool:
        given = [name for name in node.input if name]
        if is_operator(node, "DequantizeLinear"):
            return self.graph.is_constant(given[0])
        return self.graph.is_constant(node.output[0])

    def _is_late(self, node: NodeProto, handler: Handler | None) -> bool:
        """True if the host computes `node`: no integers come after it, and it does not itself move integers."""
        if any(isinstance(self.values.get(name), Result) for name in node.input):
            return True
        if node.output[0] not in self._late or is_operator(node, *QUANTIZERS):
            return False
        integers = any(isinstance(self.values.get(name), Tensor) for name in node.input)
        return not (integers and handler is not None)

    def _leaves(self, name: str) -> None:
        """Note that the host takes the tensor `name`, where it is one of the network's."""
        value = self.values.get(name)
        if isinstance(value, Pending) and value.counts is not None:
            value = Real(tensor=self.tensor(name))
        if isinstance(value, Real | Tensor):
            tensor = value.tensor if isinstance(value, Real) else value
            self._outputs.setdefault(tensor.name, tensor)

    def _verdict(self, node: NodeProto, fate: Fate, text: str, derived: bool, host: set[str]) -> Verdict:
        stages = tuple(self._stages.get(node.output[0], ()))
        if fate is Fate.STAGE and not stages:
            fate, text = Fate.FOLDED, self._folded.get(node.output[0], "")
            users = self.graph.consumers(node.output[0])
            if not text and is_operator(node, "DequantizeLinear"):
                inside = [user for user in users if user.output[0] not in host]
                fate, text = (Fate.FOLDED, f"in {label(inside[0])}") if inside else (Fate.HOST, "the last integers")
            elif not text:
                fate, text, derived = Fate.REFUSED, "what takes its result is not taken", True
        shape = stages[-1].output.shape if stages else self.graph.shape(node.output[0])
        count = sum(stage.multiply_accumulates for stage in stages)
        return Verdict(
            name=node.name or node.output[0],
            operator=node.op_type,
            fate=fate,
            text=text,
            shape=None if shape is None else tuple(shape),
            multiply_accumulates=count if stages else self.operators.of(node).multiply_accumulates(self.graph, node),
            stages=stages,
            derived=derived,
        )


def _unread(node: NodeProto, known: Operator) -> str:
    """Why `node` is not taken, whose operator has no handler."""
    if isinstance(known.network, str):
        return known.network
    operator = f"the operator {node.op_type}{f' of {node.domain}' if domain(node) else ''}"
    if integral(node):
        return f"{operator} is not supported in a network; docs/networks.md lists those that are"
    return (
        f"{operator} is not supported between integers, only behind the last QuantizeLinear, where the host computes "
        "it; docs/networks.md lists the operators that are"
    )
