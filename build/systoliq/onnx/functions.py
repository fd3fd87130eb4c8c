"""Functions of a model, counted before they are expanded: each may call others, so that few nodes can become many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from onnx import FunctionProto, ModelProto, NodeProto

__all__ = ["FUNCTION_DEPTH", "all_nodes", "expanded_size", "tensors_taken"]

FUNCTION_DEPTH = 64
"""Functions that call one another, one inside the other."""

_Key = tuple[str, str, str]


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """`nodes`, and those in the bodies of If, Loop and Scan among them."""
    todo = [iter(nodes)]
    while todo:
        node = next(todo[-1], None)
        if node is None:
            todo.pop()
            continue
        yield node
        for given in node.attribute:
            todo += [iter(body.node) for body in (*([given.g] if given.HasField("g") else []), *given.graphs)]


def tensors_taken(node: NodeProto) -> Iterator[str]:
    """Return the names of the tensors that `node` takes, including those that the bodies of If, Loop and Scan take."""
    for each in all_nodes([node]):
        yield from (name for name in each.input if name)


def expanded_size(model: ModelProto) -> int:
    """Number of nodes of `model` with all functions inlined.

    An InputError where a function calls itself, by way of others too, or calls go deeper than `FUNCTION_DEPTH`.
    """
    functions = {_key(function): function for function in model.functions}
    sizes: dict[_Key, int] = {}
    for key in functions:
        _measure(key, functions, sizes)
    return _size(model.graph.node, functions, sizes)


def _measure(key: _Key, functions: dict[_Key, FunctionProto], sizes: dict[_Key, int]) -> None:
    """Put the expanded size of a function, and of those that it calls, into `sizes`."""
    path = [key]
    while path:
        function = functions[path[-1]]
        called = {_call(node) for node in all_nodes(function.node)}
        missing = next((each for each in sorted(called) if each in functions and each not in sizes), None)
        if missing is None:
            sizes[path.pop()] = _size(function.node, functions, sizes)
        elif missing in path:
            raise InputError(f"the function {missing[1]!r} must not call itself")
        elif len(path) == FUNCTION_DEPTH:
            raise InputError(f"functions must call one another at most {FUNCTION_DEPTH} deep")
        else:
            path.append(missing)


def _size(nodes: Iterable[NodeProto], functions: dict[_Key, FunctionProto], sizes: dict[_Key, int]) -> int:
    return sum(sizes.get(_call(node), 1) for node in all_nodes(nodes))


def _key(function: FunctionProto) -> _Key:
    return function.domain, function.name, function.overload


def _call(node: NodeProto) -> _Key:
    return node.domain, node.op_type, node.overload
