"""Depthwise convolutions: one output for each channel, a product of that channel alone."""

from __future__ import annotations

from systoliq.golden import network

from ..layer_operator import LaneOperator
from ..operator import Arrays
from ..recipe import Recipe
from ..sliding import Sliding

__all__ = ["DepthwiseOperator"]


class DepthwiseOperator(LaneOperator[network.Convolution]):
    """Channels in parallel, as many as there are lanes."""

    node_type = network.Convolution

    @classmethod
    def takes(cls, node: network.Node) -> bool:
        """True if each channel has one output."""
        return isinstance(node, network.Convolution) and node.depthwise and node.layer.n == node.groups

    def build(self, recipe: Recipe) -> Sliding:
        return self.build_sliding(self.node.layer, recipe)

    def arrays(self, stage: Sliding) -> Arrays:
        return self.node.layer.arrays()
