"""Small designs as emitted, for proofs about whole designs: layers, networks by their last stage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from amaranth.hdl import Shape
from amaranth.lib import wiring

from systoliq.golden import E4M3FN, INT8
from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.golden.unscaled import Unscaled
from systoliq.hw.axi import AxiBareArray, AxiDense, AxiPipeline
from systoliq.hw.bare_array import BareArray
from systoliq.hw.config import ArrayConfig
from systoliq.hw.dense import Dense
from systoliq.hw.network.gather import Gather
from systoliq.hw.network.lookup import Lookup
from systoliq.hw.network.maximum import Maximum
from systoliq.hw.network.pipeline import Inlet, Joint, Outlet, Pipeline
from systoliq.hw.network.replay import Replay
from systoliq.hw.operand_shape import operand_shape

__all__ = ["STAGES", "bare_array", "float8_layer", "integer_layer", "network_of", "sums_layer"]

_WEIGHTS = np.ones((2, 2), np.int8)
_ELEMENT: Shape = operand_shape(INT8)


def integer_layer() -> wiring.Component:
    """A layer of int8, K = N = 2, on one element: a group of rows is repeated for its second column."""
    layer = MatMulLayer(
        b=_WEIGHTS, a_scale=1.0, a_zero_point=np.int8(0), b_scale=1.0, b_zero_point=np.int8(0), y_scale=2.0,
        y_zero_point=np.int8(0),
    )  # fmt: skip
    return AxiDense(Dense(layer, Requantization.from_scales(layer.scale, 0, INT8), ArrayConfig(rows=1, cols=1)))


def sums_layer() -> wiring.Component:
    """A layer of int8 that gives its sums, K = N = 2, on 2 x 2, whose zero points come with A."""
    layer = MatMulLayer(b=_WEIGHTS, b_zero_point=np.int8(0), a_format=INT8)
    return AxiDense(Dense(layer, Unscaled(), ArrayConfig(rows=2, cols=2)))


def float8_layer() -> wiring.Component:
    """A layer of float8, K = N = 2, on 1 x 2."""
    zero = np.zeros((), E4M3FN.dtype)
    layer = MatMulLayer(
        b=E4M3FN.encode(np.float32(_WEIGHTS)).view(E4M3FN.dtype), a_scale=1.0, a_zero_point=zero, b_scale=1.0,
        b_zero_point=zero, y_scale=2.0, y_zero_point=zero,
    )  # fmt: skip
    constants = Float8Requantization.from_scales(layer.scale, E4M3FN)
    return AxiDense(Dense(layer, constants, ArrayConfig(rows=1, cols=2, a=E4M3FN, b=E4M3FN, accumulator_bits=48)))


def bare_array() -> AxiBareArray:
    """An array of 2 x 2."""
    return AxiBareArray(BareArray(ArrayConfig(rows=2, cols=2)))


def _lookup() -> wiring.Component:
    return Lookup(list(range(-128, 128)), INT8, INT8, lanes=1, cells="portable", kind="lookup")


STAGES: dict[str, Callable[[], wiring.Component]] = {
    "table": _lookup,
    "maximum": lambda: Maximum(_ELEMENT, lanes=1, beats=2),
    "replay": lambda: Replay(_ELEMENT, lanes=1, beats=2, times=2, cells="portable"),
    "gather": lambda: Gather(_ELEMENT, lanes=1, block=2, indices=[1, 0], cells="portable", kind="gather"),
}
"""Last stages of networks that end in another block than a layer does."""


def network_of(stage: str) -> wiring.Component:
    """A network of one of `STAGES`, in beats of one element."""
    joint = Joint(name="y", component=STAGES[stage](), inputs=("x",))
    inlet = Inlet(name="x", shape=_ELEMENT, lanes=1)
    pipeline = Pipeline([joint], inputs=[inlet], outputs=[Outlet(name="y")], cells="portable")
    return AxiPipeline(pipeline, image_beats=[2])
