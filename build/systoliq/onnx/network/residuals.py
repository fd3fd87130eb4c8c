"""Residual sums that are not quantized before they are added: a Conv, plus the result of a DequantizeLinear.

    QuantizeLinear(Relu(Conv(x, w, bias) + DequantizeLinear(a)))

as TensorRT's and PyTorch's (PT2E) quantizers write it. onnxruntime computes it in float32. Here the sum of products,
the addend and the bias are integers of one unit, a fraction of x_scale * w_scale, and rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Node, ResidualSum, Tensor, Window
from systoliq.golden.network.residual import MOST_FRACTION_BITS

from ..node import NotTakenError, label
from .quantizers import named
from .ties import refuse_ties

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["residual_sum"]

_INT32 = 2**31
_ENOUGH = 2.0**-15  # of a step of the result, by which the addend may be wrong: no more bits are needed then
_MOST_ERROR = 2.0**-9


def residual_sum(
    node: NodeProto,
    image: Tensor,
    addend: Tensor,
    y: Tensor,
    *,
    window: Window,
    groups: int,
    layer: MatMulLayer,
    bias: npt.NDArray[np.float64],
) -> tuple[Node, ...]:
    """Return the sum of the convolution `layer` of `image`, of real numbers `bias` [M], and of `addend`, as `y`.

    Raises NotTakenError if float32 decides too many results, or if the integers are too coarse.
    """
    units = float(layer.a_scale) * layer.b_scale.astype(np.float64)
    steps = max(addend.format.max - addend.zero_point, addend.zero_point - addend.format.min)
    bits = _fraction_bits(layer, float(addend.scale) / units, bias / units, steps)
    errors = [_error(each, bits) for each in (float(addend.scale) / units, bias / units)]
    error = float(((errors[0] * steps + errors[1]) * units / float(y.scale)).max())
    if error > _MOST_ERROR:
        raise NotTakenError(
            f"its addend and bias must be wrong by at most {_MOST_ERROR:.3g} of y_scale as integers with {bits} "
            f"fraction bits, in sums of 32 bits, not by {error:.3g}: quantize the result of {label(node)}"
        )
    refuse_ties(node, layer)
    return (
        ResidualSum(
            name=named(node),
            inputs=(image, addend),
            output=y,
            window=window,
            groups=groups,
            layer=layer,
            fraction_bits=bits,
            factors=np.rint(float(addend.scale) / units * 2**bits).astype(np.int32),
            constants=np.rint(bias / units * 2**bits).astype(np.int32),
        ),
    )


def _error(numbers: npt.NDArray[np.float64], bits: int) -> npt.NDArray[Any]:
    """By how much each of `numbers` is wrong as an integer with `bits` fraction bits."""
    return np.asarray(np.abs(numbers - np.rint(numbers * 2.0**bits) / 2.0**bits))


def _fraction_bits(
    layer: MatMulLayer, factors: npt.NDArray[np.float64], constants: npt.NDArray[np.float64], steps: int
) -> int:
    """The fewest bits that are enough, or as many as totals of 32 bits have room for."""
    lows, highs = layer.accumulator_range()
    most = float((np.maximum(-lows, highs) + factors * steps + np.abs(constants)).max()) + steps + 1
    fitting = [bits for bits in range(MOST_FRACTION_BITS + 1) if most * 2.0**bits < _INT32]
    if not fitting:
        raise NotTakenError(f"its sums must fit 32 bits, not reach {most:.6g}")
    scale = layer.scale.astype(np.float64)
    enough = (bits for bits in fitting if (steps * _error(factors, bits) * scale).max() <= _ENOUGH)
    return next(enough, fitting[-1])
