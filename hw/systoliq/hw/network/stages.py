"""Stages: the hardware of each integer operator of a network, from the operator itself."""

from __future__ import annotations

from amaranth.lib import wiring

from systoliq.golden import network

from .operators import operator_of
from .parallelism import Parallelism
from .recipe import Order, Recipe, Requantize

__all__ = ["stage_of"]


def stage_of(
    node: network.Node,
    parallelism: Parallelism,
    *,
    cells: str,
    kind: str,
    requantize: Requantize,
    lane_cells: str | None = None,
    order: Order | None = None,
) -> wiring.Component:
    """The hardware of ``node``: streams ``i``, or ``i_0`` and on, and ``o``; ``kind`` begins its modules' names.

    ``order``: the order of elements; None means `Tensor.raster`'s. Only a product of whole images takes another.

    ``lane_cells`` are the cells of its requantizers, by default ``cells``. A stage whose parallelism names other cells
    is a namespace of its own (`systoliq.hw.hierarchy`): its modules differ from the others'.

    Raises ValueError if there is no hardware, or none for this order or parallelism.
    """
    operator = operator_of(node)
    if order is not None and not operator.takes_order:
        raise ValueError(f"node {node.name!r}: its elements must come in raster order, channels last")
    usual = cells, lane_cells or cells
    own = parallelism.cells or usual[0], parallelism.lane_cells or usual[1]
    try:
        made = operator.build(Recipe(parallelism, *own, kind, requantize, order))
    except ValueError as error:
        raise ValueError(f"node {node.name!r}: {error}") from error
    if own != usual:
        made.namespace = True
    return made
