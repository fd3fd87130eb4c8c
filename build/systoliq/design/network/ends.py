"""Ends of a network in hardware, for any plan: streams in and out, and a stage between them."""

from __future__ import annotations

from systoliq.golden.network import Network
from systoliq.hw.network.operators import operator_of

from ...errors import InputError
from .plan import stages_of

__all__ = ["check_ends", "check_one_stream"]


def check_ends(net: Network) -> None:
    """An InputError for a network without inputs or outputs, for one whose operators are moves at most, and for an
    output that is an input, moved at most.
    """
    for kind, ends in (("input", net.sources), ("output", net.outputs)):
        if not ends:
            raise InputError(f"a network in hardware must have at least one {kind}, and has none")
    if not stages_of(net):
        raise InputError("a network must have an operator other than moves")
    moved = {tensor.name for tensor in net.inputs}
    for node in net.nodes:
        if not operator_of(node).is_stage and node.inputs[0].name in moved:
            moved.add(node.output.name)
    for output in net.outputs:
        if output.name in moved:
            raise InputError(
                f"an output in hardware must be made by an operator other than moves, and {output.name!r} is an input: "
                "take it from the host's tensors"
            )


def check_one_stream(net: Network) -> None:
    """An InputError for a network with several inputs or outputs where a link carries one stream each way."""
    for kind, names in (("input", [each.name for each in net.sources]), ("output", [x.name for x in net.outputs])):
        if len(names) != 1:
            raise InputError(
                f"the network must have one {kind} to be reached over a board's link, not {len(names)}: "
                f"{', '.join(names)}; build it into a system of your own (emit), or cut it into networks with one "
                "input and output"
            )
