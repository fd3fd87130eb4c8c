"""Dense layers: products of whole rows."""

from __future__ import annotations

from systoliq.golden import network

from ..convolution import Convolution
from ..layer_operator import ProductOperator
from ..recipe import Recipe

__all__ = ["DenseOperator"]


class DenseOperator(ProductOperator[network.Dense]):
    """Rows that are taken as pixels."""

    node_type = network.Dense

    @property
    def window(self) -> network.Window:
        return network.Window(kernel=(1, 1))

    @property
    def takes_order(self) -> bool:
        """True: the weights are put into the order of the elements."""
        return True

    def build(self, recipe: Recipe) -> Convolution:
        layer = self.node.layer
        if recipe.order is not None:
            if len(recipe.order) != layer.k:
                raise ValueError("its elements must come in raster order, channels last")
            layer = layer.replace(b=layer.b[recipe.order])
        return Convolution(self.windows, self.build_dense(layer, recipe), padding=0, kind=recipe.kind)
