"""Convolutions with products of all channels, or of a group's."""

from __future__ import annotations

from functools import cached_property

from systoliq.golden import network

from ..convolution import Convolution
from ..image import ImageWindow
from ..layer_operator import ProductOperator
from ..recipe import Recipe

__all__ = ["ConvolutionOperator"]


class ConvolutionOperator(ProductOperator[network.Convolution]):
    """A product for each group, one after the other."""

    node_type = network.Convolution

    @classmethod
    def takes(cls, node: network.Node) -> bool:
        """True if each output is a product of several channels, or one of several outputs of its channel."""
        return isinstance(node, network.Convolution) and not (node.depthwise and node.layer.n == node.groups)

    @property
    def groups(self) -> int:
        return self.node.groups

    @cached_property
    def windows(self) -> ImageWindow:
        """The windows, group by group."""
        return ImageWindow.over(self.node.inputs[0], self.window, self.groups)

    def build(self, recipe: Recipe) -> Convolution:
        dense = self.build_dense(self.node.layer, recipe)
        return Convolution(self.windows, dense, padding=self.node.inputs[0].zero_point, kind=recipe.kind)
