"""Unusual scales in the layers of a network; activations have positive and finite scales."""

from __future__ import annotations

from systoliq.golden.network import Network
from systoliq.hw.network.operators import operator_of

from ..layer.scales import scale_notes

__all__ = ["network_scale_notes"]


def network_scale_notes(net: Network) -> list[str]:
    """The notes on each layer's scales, which begin with the name of its node."""
    layers = [(node.name, operator_of(node).layer) for node in net.nodes]
    return [f"node {name!r}: {note}" for name, layer in layers if layer is not None for note in scale_notes(layer)]
