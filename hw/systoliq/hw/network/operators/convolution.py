"""Convolutions with products of all channels, or of a group's."""

from __future__ import annotations

from systoliq.golden import network

from ..convolution import Convolution
from ..layer_operator import GroupedOperator
from ..recipe import Recipe

__all__ = ["ConvolutionOperator"]


class ConvolutionOperator(GroupedOperator[network.Convolution]):
    """A product of all channels of a window, or of a group's."""

    node_type = network.Convolution

    @classmethod
    def takes(cls, node: network.Node) -> bool:
        """True if each output is a product of several channels, or one of several outputs of its channel."""
        return isinstance(node, network.Convolution) and not (node.depthwise and node.layer.n == node.groups)

    def build(self, recipe: Recipe) -> Convolution:
        dense = self.build_dense(self.node.layer, recipe)
        return Convolution(self.windows, dense, padding=self.node.inputs[0].zero_point, kind=recipe.kind)
