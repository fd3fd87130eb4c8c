"""The exchange with a design behind a link, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy.typing as npt

from ..design.design import Design
from ..design.layer.design import LayerDesign
from ..design.layer.operands import rows_of
from ..design.network.design import NetworkDesign
from ..design.network.ends import check_one_stream
from ..errors import InputError
from .exchange import Exchange
from .layer_exchange import layer_exchange
from .network_exchange import network_exchange

__all__ = ["exchange_of"]


@singledispatch
def exchange_of(design: Design, **operands: Any) -> Exchange:
    """Return the bytes to send over a link for the operands of `design.simulate`, and the expected answer.

    Raises InputError if a design of this kind cannot be on a board.
    """
    raise InputError(f"SOURCE must be a layer or a network where a board is meant, not {design.kind}")


@exchange_of.register
def _of_layer(
    design: LayerDesign, a: npt.NDArray[Any] | None = None, *, a_zero_point: npt.ArrayLike | None = None
) -> Exchange:
    rows = rows_of(design.layer, design.host, a, a_zero_point)
    return layer_exchange(design.dense, rows, design.host, design.model)


@exchange_of.register
def _of_network(design: NetworkDesign, inputs: Mapping[str, npt.NDArray[Any]]) -> Exchange:
    check_one_stream(design.network)
    (output,) = design.network.outputs
    return network_exchange(design.assembly, design.network.golden(inputs), output)
