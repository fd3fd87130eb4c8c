"""Modules with many instances in a design: mapped once each, they save synthesis most of its work.

All instances of a processing element are equal. In a design that is flattened first, each instance is optimized
separately.
"""

from __future__ import annotations

from collections import Counter

from .modules import instances_in, modules_of

__all__ = ["repeated_modules"]

_MANY = 16


def repeated_modules(verilog: str, top: str) -> list[str]:
    """The modules of an emitted design with many instances below `top`, except modules within one of them."""
    inside = {name: instances_in(text) for name, text in modules_of(verilog).items()}
    found: dict[str, None] = {}

    def descend(name: str, copies: int) -> Counter[str]:
        """Number of instances of each module in `copies` of `name`, without instances inside modules in `found`."""
        total = Counter({kind: count * copies for kind, count in inside[name].items() if kind in inside})
        for kind, count in list(total.items()):
            if kind not in found:
                total.update(descend(kind, count))
        return total

    while new := [kind for kind, count in descend(top, 1).items() if count >= _MANY and kind not in found]:
        found[new[0]] = None
    return list(found)
