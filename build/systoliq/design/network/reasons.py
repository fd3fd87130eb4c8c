"""Reasons against the hardware of a network that was read: the refusals of `systoliq emit`, in advance."""

from __future__ import annotations

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network, Node
from systoliq.golden.requantization import Requantization
from systoliq.hw.hierarchy import mark_used
from systoliq.hw.network.assembly import assemble
from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.network.stages import stage_of

from ...errors import InputError
from ..choose import choose_requantization
from .design import NetworkDesign
from .ends import check_ends
from .options import NetworkOptions
from .plan import stages_of

__all__ = ["check_stages", "reasons_against", "refused_stages"]


def reasons_against(net: Network) -> tuple[str, ...]:
    """Reasons why `emit` with its default options refuses `net`: its first error, then errors of other stages; none if
    there is a plan and hardware for every stage.
    """
    try:
        check_ends(net)
    except InputError as error:
        return (str(error),)
    try:
        NetworkDesign(net, origin=net.name)
    except (TypeError, ValueError) as error:
        return tuple(dict.fromkeys((str(error).removeprefix(f"{net.name}: "), *refused_stages(net).values())))
    return ()


def check_stages(net: Network) -> None:
    """Raise InputError if no plan has hardware for `net`: for one of its stages, or for the order of its elements."""
    try:
        assemble(net, {}, requantize=_requantized)
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from error


def refused_stages(net: Network) -> dict[str, str]:
    """Return the reason against each stage of `net` that has no hardware in its smallest form, by its output."""
    return {node.output.name: reason for node in stages_of(net) if (reason := _reason(node)) is not None}


def _reason(node: Node) -> str | None:
    try:
        mark_used(stage_of(node, Parallelism(), cells="portable", kind="stage", requantize=_requantized))
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def _requantized(layer: MatMulLayer) -> Requantization:
    return choose_requantization(layer, NetworkOptions().requantizer).requantization
