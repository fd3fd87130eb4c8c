"""Arrays of multipliers, read from the Verilog: whether they consist of products and sums alone, and all products.

modules, Flow  ->  Products

A multiplier is a module NAME_multiplier_AxB with the ports a, b and product. It is evaluated for all pairs of operands.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .cell_steps import ADDERS
from .dataflow import Flow
from .evaluate import Scope, as_signed
from .expression import Binary, UnreadableError, walk
from .modules import Module

__all__ = ["Products", "find_products"]

_ARRAY = re.compile(r"array(_\d+)?")
_MULTIPLIER = re.compile(r"\w+_multiplier_\d+x\d+")
_MOST_BITS = 18  # of both operands


@dataclass(frozen=True, kw_only=True)
class Products:
    """Findings about arrays: `multipliers` give all products; `unread` are not evaluated; `logic` are modules of arrays
    in which data takes part in more than products and sums; `wrong` are multipliers with other results.
    """

    multipliers: list[str]
    unread: list[str]
    logic: list[str]
    wrong: list[str]


def find_products(modules: Mapping[str, Module], flow: Flow) -> Products:
    """Read the arrays in `modules`, whose data goes as `flow` says."""
    within = set(_within(modules))
    found: dict[str, list[str]] = {"multipliers": [], "unread": [], "logic": [], "wrong": []}
    for name in sorted(within):
        module = modules[name]
        cells = {each.kind for each in module.instances.values()} - modules.keys()
        if _MULTIPLIER.fullmatch(name):
            found[_checked(modules, name)].append(name)
        elif cells:
            found["logic" if cells <= ADDERS.keys() else "unread"].append(name)
        elif _multiplies(module):
            found["unread"].append(name)
    found["logic"] = sorted({*found["logic"], *within & (flow.decisions | flow.logic)})
    return Products(**found)


def _within(modules: Mapping[str, Module]) -> Iterator[str]:
    """The modules of arrays and of all that they consist of."""
    instances = [each for module in modules.values() for each in module.instances.values()]
    waiting = [each.kind for each in instances if _ARRAY.fullmatch(each.name) and each.kind in modules]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        yield name
        waiting += [each.kind for each in modules[name].instances.values() if each.kind in modules]


def _multiplies(module: Module) -> bool:
    """True if an expression of a module is a product."""
    return any(
        isinstance(each, Binary) and each.operator == "*"
        for assignment in (*module.assignments, *module.clocked)
        for each in walk(assignment.value)
    )


def _checked(modules: Mapping[str, Module], name: str) -> str:
    """True if the product is right for all operands, each either signed or not."""
    wires = modules[name].wires
    if not {"a", "b", "product"} <= wires.keys() or wires["a"].width + wires["b"].width > _MOST_BITS:
        return "unread"
    bits = {port: wires[port].width for port in ("a", "b", "product")}
    a, b = (each.reshape(-1) for each in np.meshgrid(np.arange(1 << bits["a"]), np.arange(1 << bits["b"])))
    try:
        product = np.asarray(Scope(modules, name, {"a": a, "b": b}).value("product"), np.int64)
    except UnreadableError:
        return "unread"
    mask = (1 << bits["product"]) - 1
    for a_signed, b_signed in itertools.product((True, False), repeat=2):
        x, y = as_signed(a, bits["a"]) if a_signed else a, as_signed(b, bits["b"]) if b_signed else b
        if ((x * y & mask) == product).all():
            return "multipliers"
    return "wrong"
