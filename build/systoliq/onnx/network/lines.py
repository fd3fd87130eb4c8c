"""Lines of sums: a sum of products times a real number and plus another one, by channel, before it is quantized.

    y = QuantizeLinear(gain * (sum + bias) + shift)

onnxruntime computes all of it in float32. Here the weights are multiplied by a power of two, so that their unit is a
fraction of a_scale * b_scale, and the constants become an integer bias in that unit. A negative gain negates weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Tensor

from ..node import NotTakenError, label, layer_name
from ..quantized import Parameters
from .quantizers import named
from .ties import refuse_ties

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["Layers", "layer_of_line"]

Layers = Callable[[Tensor], MatMulLayer]
"""Returns the layer of a sum, once its output is known."""

_INT16, _INT32 = np.iinfo(np.int16).max, np.iinfo(np.int32).max
_MOST_BITS = 8  # of a fraction: weights of 8 bits then have 16
_NEAR = 2.0**-10  # of a unit, by which constants may miss whole multiples: less than float32 does
_MOST_ERROR = 2.0**-10  # of a step of the result, by which a constant may be wrong


def layer_of_line(
    node: NodeProto,
    x: Tensor,
    b: npt.NDArray[Any],
    found: Parameters,
    gain: npt.NDArray[np.float64],
    shift: npt.NDArray[np.float64],
) -> Layers:
    """Return the layer of gain * (x @ b) + shift; `gain` and `shift` are real numbers [N], `b` integers [K, N]."""
    weights = b.astype(np.int64) - found.zero_point.astype(np.int64)
    weights = weights * np.sign(gain).astype(np.int64)
    scales = np.broadcast_to(found.scale.astype(np.float64), gain.shape) * np.where(gain == 0, 1, np.abs(gain))
    units = float(x.scale) * scales
    if not (np.isfinite(shift) & np.isfinite(units) & (units > 0)).all():
        raise NotTakenError("the gain and the shift of each channel must be finite, and scales positive")
    offsets = shift / units
    bits = _fraction_bits(x, weights, offsets)
    wide = (weights << bits).astype(np.int8 if np.abs(weights << bits).max() < 1 << 7 else np.int16)

    def layer(y: Tensor) -> MatMulLayer:
        wrong = np.abs(offsets * 2**bits - np.rint(offsets * 2**bits)) / 2**bits * units / float(y.scale)
        if wrong.max() > _MOST_ERROR:
            raise NotTakenError(
                f"the constants that act on {label(node)} before it is quantized must be wrong by at most "
                f"{_MOST_ERROR:.3g} of y_scale as integers with {bits} fraction bits, not by {wrong.max():.3g}"
            )
        made = MatMulLayer(
            name=layer_name(named(node)),
            b=wide,
            b_scale=(scales / 2**bits).astype(np.float32),
            b_zero_point=wide.dtype.type(0),
            a_scale=x.scale,
            a_zero_point=x.zero_point,
            y_scale=y.scale,
            y_zero_point=y.zero_point,
            bias=np.rint(offsets * 2**bits).astype(np.int32),
            a_format=x.format,
            y_format=y.format,
        )
        _ = made.canonical
        refuse_ties(node, made)
        return made

    return layer


def _fraction_bits(x: Tensor, weights: npt.NDArray[np.int64], offsets: npt.NDArray[np.float64]) -> int:
    """The fewest bits with which all `offsets` are whole, else as many as weights of 16 bits and sums of 32 have."""
    steps = max(x.format.max - x.zero_point, x.zero_point - x.format.min)
    most_sum = float((np.abs(weights).sum(axis=0) * steps + np.abs(offsets)).max()) + 1
    most_weight = max(int(weights.max()), ~int(weights.min()))
    fitting = [n for n in range(_MOST_BITS + 1) if most_weight << n <= _INT16 and most_sum * 2**n <= _INT32]
    if not fitting:
        raise NotTakenError(f"its sums must fit 32 bits with the constants behind it, not reach {most_sum:.6g}")
    whole = (n for n in fitting if (np.abs(offsets * 2**n - np.rint(offsets * 2**n)) < _NEAR).all())
    return next(whole, fitting[-1])
