"""Serial multipliers of requantizers, evaluated cycle by cycle: their registers are a state, not a delay.

A module with the ports start, a, b and product. The operands come with `start`, and other ones in all other cycles; no
register has a known value before. How many cycles later the product shows is found by trying; whether it is taken in
that cycle is part of the order of results.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .evaluate import Scope, Value, as_signed
from .expression import UnreadableError
from .modules import Module
from .operators import sized

__all__ = ["is_serial", "with_products"]

_MOST_CYCLES = 64
_PROBES = 60  # random operands, beside the ends
_PORTS = frozenset({"start", "a", "b"})


def is_serial(requantizer: Scope) -> bool:
    """True if the product of `requantizer` takes several cycles."""
    return _multiplier_of(requantizer) is not None


def with_products(requantizers: Sequence[Scope]) -> list[Scope]:
    """Return `requantizers`, which are serial, with the products that their multipliers make of their operands.

    Those with the same multiplier are evaluated together.
    """
    names = [_multiplier_of(each) or "" for each in requantizers]
    kinds = [each.module.instances[name].kind for each, name in zip(requantizers, names, strict=True)]
    found = list(requantizers)
    for kind in dict.fromkeys(kinds):
        multiplier = _Serial(requantizers[0].modules, kind)
        at = [index for index, each in enumerate(kinds) if each == kind]
        operands = [multiplier.operands(requantizers[index], names[index]) for index in at]
        a, b = (np.concatenate(each) for each in zip(*operands, strict=True))
        product = np.broadcast_to(multiplier.shown(a, b, multiplier.cycles), a.shape)
        ends = np.cumsum([len(each) for each, _ in operands])
        for index, of_one in zip(at, np.split(product, ends[:-1]), strict=True):
            requantizer = found[index]
            given = {requantizer.connected(names[index], "product"): of_one}
            found[index] = requantizer.again(dict(requantizer.given) | given)
    return found


def _multiplier_of(requantizer: Scope) -> str | None:
    """The instance of a serial multiplier in `requantizer`."""
    placed = requantizer.module.instances.values()
    return next((each.name for each in placed if _is_multiplier(requantizer.modules.get(each.kind))), None)


def _is_multiplier(module: Module | None) -> bool:
    return module is not None and module.inputs >= _PORTS and "product" in module.outputs


class _Serial:
    """The module `name` of these."""

    def __init__(self, modules: Mapping[str, Module], name: str) -> None:
        self._modules, self._name = modules, name
        wires = modules[name].wires
        self._registers = {net: wire.width for net, wire in wires.items() if wire.register}
        self._bits = {port: wires[port].width for port in ("a", "b", "product")}

    @functools.cached_property
    def cycles(self) -> int:
        """Cycles from the operands to their product."""
        rng = np.random.default_rng(len(self._registers))
        ends = {
            "a": [
                0,
                1,
                -1,
                1 - (1 << self._bits["a"] - 1),
                -(1 << self._bits["a"] - 1),
                (1 << self._bits["a"] - 1) - 1,
            ],
            "b": [0, 1, 2, (1 << self._bits["b"]) - 1, 1 << self._bits["b"] - 1, (1 << self._bits["b"] - 1) - 1],
        }
        pairs = [(a, b) for a in ends["a"] for b in ends["b"]]
        pairs += [(int(a), int(b)) for a, b in rng.integers(0, 1 << 62, (_PROBES, 2))]
        masks = {port: (1 << self._bits[port]) - 1 for port in "ab"}
        a, b = (np.array([pair[i] for pair in pairs], dtype=object) & masks[port] for i, port in enumerate("ab"))
        wanted = as_signed(a, self._bits["a"]) * b & (1 << self._bits["product"]) - 1
        for cycles, product in self._run(a, b):
            if np.all(product == wanted):
                return cycles
        raise UnreadableError(f"module {self._name} shows no product of its operands within {_MOST_CYCLES} cycles")

    def operands(self, requantizer: Scope, name: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Both operands of the multiplier `name` of `requantizer`, in all cases."""
        values = (requantizer.port(name, port) for port in "ab")
        a, b = (
            sized(np.atleast_1d(np.asarray(value, dtype=object)), self._bits[port])
            for port, value in zip("ab", values, strict=True)
        )
        a, b = np.broadcast_arrays(a, b)
        return a, b

    def shown(self, a: Value, b: Value, cycles: int) -> Value:
        """The product that shows some `cycles` after the operands."""
        return next(product for at, product in self._run(a, b) if at == cycles)

    def _run(self, a: Value, b: Value) -> Iterator[tuple[int, Value]]:
        """Yield the cycles since the operands came, and the product that shows."""
        state: dict[str, Value] = {net: (1 << width) - 1 for net, width in self._registers.items()}
        for cycle in range(_MOST_CYCLES):
            given = {"start": 1, "a": a, "b": b} if cycle == 0 else {"start": 0, "a": ~a, "b": ~b}
            masked = {"a": given["a"] & (1 << self._bits["a"]) - 1, "b": given["b"] & (1 << self._bits["b"]) - 1}
            scope = Scope(self._modules, self._name, {**state, **given, **masked, "rst": 0})
            yield cycle, scope.value("product")
            state = {net: scope.next(net, 0, width) for net, width in self._registers.items()}
