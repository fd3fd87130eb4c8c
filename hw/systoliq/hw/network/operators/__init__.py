"""Operators of networks in hardware, a file for each kind of node."""

from __future__ import annotations

import functools
from abc import ABCMeta

from systoliq.golden import network
from systoliq.golden.discovery import modules_of

from ..operator import Operator

__all__ = ["OPERATORS", "operator_of"]


def _discovered() -> tuple[type[Operator[network.Node]], ...]:
    """The operators in the files of this folder."""
    return tuple(
        value
        for module in modules_of(__name__)
        for value in vars(module).values()
        if isinstance(value, ABCMeta)  # as Operator is; in Python 3.10, list[int] is an instance of type
        if issubclass(value, Operator) and "node_type" in vars(value)
    )


OPERATORS = _discovered()
"""All operators: the classes with a ``node_type`` in the files of this folder."""


@functools.cache
def operator_of(node: network.Node) -> Operator[network.Node]:
    """Return the operator of ``node``. Raises ValueError if there is no hardware for nodes of its class."""
    for each in OPERATORS:
        if isinstance(node, each.node_type) and each.takes(node):
            return each(node)
    raise ValueError(f"node {node.name!r}: there is no hardware for {type(node).__name__}")
