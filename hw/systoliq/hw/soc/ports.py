"""Bus ports of a system: the ports of slaves, and connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

__all__ = ["join", "slave"]


def slave(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members of the slave's end, derived from the master's members."""
    return {name: member.flip() for name, member in members.items()}


def join(
    m: Module, block: wiring.Component, prefix: str, other: Any, other_prefix: str, channels: Sequence[str] = ("",)
) -> None:
    """Connect the ports of ``block`` called ``prefix``_..., or only some ``channels``, to the ports of ``other``.

    ``other`` is another block with the opposite end of the bus, or the enclosing component with the same port.
    """
    heads = tuple(f"{prefix}_{channel}" for channel in channels)
    for name, member in block.signature.members.items():
        if name.startswith(heads):
            one, two = getattr(block, name), getattr(other, other_prefix + name.removeprefix(prefix))
            m.d.comb += two.eq(one) if member.flow == Out else one.eq(two)
