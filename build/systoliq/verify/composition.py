"""Composition of a network from blocks: how they are reset, and which of them `systoliq prove` proves at small sizes.

modules of a network  ->  compose: instances that another signal than `rst` resets, and the blocks that carry streams
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .expression import Name
from .modules import Instance, Module
from .streams import BETWEEN

__all__ = ["Composition", "compose"]

_RESET = "rst"
_BLOCKS = BETWEEN | {"replay buffer": r"replay\w*", "window buffer": r"window"}
"""Blocks that carry streams and have proofs (docs/proofs.md), by the ends of their modules' names."""


@dataclass(frozen=True, kw_only=True)
class Composition:
    """`faults`: instances that `rst` does not reset. `instances` is the number of instances that it does reset.

    `proven` counts the instances that carry streams and have proofs at small sizes, by block. `others` counts the other
    instances that carry streams: stages, made of the former and of logic of their own.
    """

    faults: tuple[str, ...]
    instances: int
    proven: Mapping[str, int]
    others: int


def compose(modules: Mapping[str, Module], name: str) -> Composition:
    """Read the instances below the top `name`, each as often as it is placed."""
    faults: dict[str, None] = {}
    proven = Counter[str]()
    instances = others = 0
    for module, instance in _placed(modules, name):
        placed = modules[instance.kind]
        if _RESET in placed.inputs:
            instances += 1
            if not (_RESET in modules[module].inputs and _is_reset(instance)):
                faults[f"module {module}: {instance.name} must be reset by {_RESET} alone"] = None
        if instance.kind != f"{name}_pipeline" and _carries(placed):
            block = _block(instance.kind, name)
            proven.update([block] if block else [])
            others += block is None
    return Composition(faults=tuple(faults), instances=instances, proven=proven, others=others)


def _carries(module: Module) -> bool:
    """True if a stream enters and leaves a module."""
    ports = module.inputs | module.outputs
    return all(any(re.fullmatch(rf"{end}(_\d+)?__valid", port) for port in ports) for end in "io")


def _placed(modules: Mapping[str, Module], name: str) -> Iterator[tuple[str, Instance]]:
    """All instances below the module `name`, each with the module that it is in."""
    for instance in modules[name].instances.values():
        if instance.kind in modules:
            yield name, instance
            yield from _placed(modules, instance.kind)


def _is_reset(instance: Instance) -> bool:
    """True if the reset of an instance is the whole reset of the module around it."""
    given = instance.ports.get(_RESET)
    return isinstance(given, Name) and given.name == _RESET and given.low is None


def _block(kind: str, name: str) -> str | None:
    """The block that a module is; None if `systoliq prove` proves no such blocks."""
    for block, end in _BLOCKS.items():
        if re.fullmatch(rf"{re.escape(name)}_(\w+_)?{end}", kind):
            return block
    return None
