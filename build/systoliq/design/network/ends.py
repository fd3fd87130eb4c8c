"""Ends of a network in hardware, for any plan: one input stream, one output stream, and a stage between them."""

from __future__ import annotations

from collections.abc import Sequence

from systoliq.golden.network import Network

from ...errors import InputError
from .plan import stages_of

__all__ = ["check_ends"]


def check_ends(net: Network) -> None:
    """An InputError for a network of several inputs or outputs, and for one whose operators are moves at most."""
    _expect_one("input", [each.name for each in net.sources])
    _expect_one("output", [each.name for each in net.outputs])
    if not stages_of(net):
        raise InputError("a network must have an operator other than moves")


def _expect_one(kind: str, names: Sequence[str]) -> None:
    if len(names) != 1:
        listed = ", ".join(names) or "none"
        raise InputError(f"a network in hardware must have one {kind}, not {len(names)}: {listed}")
