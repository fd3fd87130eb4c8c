"""Functions of one real number in float32, as onnxruntime computes them: the content of a table between DQ and Q.

Sigmoid and Tanh are the rational polynomials of its library MLAS, with fused multiply-adds. Their last bit differs from
the true function's, which matters next to a rounding step of the following QuantizeLinear.

Elu, Erf, Exp, Gelu, Mish, Selu and Softplus are the true function, rounded once. onnxruntime's last bits can differ: of
1,024,000 entries of tables at random scales, 0 differed for Elu, Erf, Exp and Softplus, and 1 to 3 for the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from .fma import fma32

__all__ = [
    "add",
    "affine",
    "batch_normalization",
    "clip",
    "divide",
    "elu",
    "erf",
    "exp",
    "gelu",
    "hard_sigmoid",
    "hard_swish",
    "leaky_relu",
    "mish",
    "multiply",
    "power",
    "quick_gelu",
    "reciprocal",
    "relu",
    "selu",
    "sigmoid",
    "softplus",
    "softsign",
    "sqrt",
    "subtract",
    "tanh",
    "thresholded_relu",
]

Reals = npt.NDArray[np.float32]

# onnxruntime/core/mlas/lib/logistic.cpp and tanh.cpp: greatest |x|; coefficients of p(x^2) * x / q(x^2), highest first
_LOGISTIC_RANGE = 18
_LOGISTIC_P = (
    4.37031012579801e-11, 1.15627324459942e-07, 6.08574864600143e-05, 8.51377133304701e-03, 2.48287947061529e-01
)  # fmt: skip
_LOGISTIC_Q = (
    6.10247389755681e-13, 5.76102136993427e-09, 6.29106785017040e-06, 1.70198817374094e-03, 1.16817656904453e-01,
    9.93151921023180e-01,
)  # fmt: skip
_TANH_RANGE = 9
_TANH_P = (
    -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08, 1.48572235717979e-05,
    6.37261928875436e-04, 4.89352455891786e-03,
)  # fmt: skip
_TANH_Q = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)


def affine(x: Reals, gain: Reals, shift: Reals) -> Reals:
    """BatchNormalization, once `batch_normalization` made gain and shift of its constants."""
    return add(multiply(x, gain), shift)


def batch_normalization(scale: Reals, bias: Reals, mean: Reals, variance: Reals, epsilon: float) -> tuple[Reals, Reals]:
    """Gain and shift of each channel of a BatchNormalization."""
    with np.errstate(all="ignore"):
        gain = scale * (np.float32(1) / np.sqrt(variance + np.float32(epsilon)))
        return gain, bias - mean * gain


def relu(x: Reals) -> Reals:
    """Relu."""
    return np.asarray(np.maximum(x, np.float32(0)))


def clip(x: Reals, least: float, most: float) -> Reals:
    """Clip to `least` and `most`, which may be infinite."""
    return np.asarray(np.minimum(np.maximum(x, np.float32(least)), np.float32(most)))


def leaky_relu(x: Reals, alpha: float | Reals) -> Reals:
    """LeakyRelu; PRelu, whose `alpha` may have a slope for each channel."""
    return np.where(x >= 0, x, x * np.asarray(alpha, np.float32))


def thresholded_relu(x: Reals, alpha: float) -> Reals:
    """ThresholdedRelu: 0 up to `alpha`."""
    return np.where(x > np.float32(alpha), x, np.float32(0))


def softsign(x: Reals) -> Reals:
    """Softsign: x / (1 + |x|)."""
    return np.asarray(x / (np.float32(1) + np.abs(x)))


def elu(x: Reals, alpha: float) -> Reals:
    """Elu: alpha * (exp(x) - 1) below 0."""
    return _rounded(lambda real: np.where(real >= 0, real, np.float32(alpha) * np.expm1(np.minimum(real, 0))), x)


def selu(x: Reals, alpha: float, gamma: float) -> Reals:
    """Selu: gamma * x above 0, gamma * alpha * (exp(x) - 1) below."""
    scaled = np.float64(np.float32(gamma))
    return _rounded(
        lambda real: scaled * np.where(real > 0, real, np.float32(alpha) * np.expm1(np.minimum(real, 0))), x
    )


def exp(x: Reals) -> Reals:
    """Exp."""
    return _rounded(np.exp, x)


def erf(x: Reals) -> Reals:
    """Erf."""
    return _rounded(_erf, x)


def softplus(x: Reals) -> Reals:
    """Softplus: log(1 + exp(x))."""
    return _rounded(lambda real: np.logaddexp(0, real), x)


def mish(x: Reals) -> Reals:
    """Mish: x * tanh(log(1 + exp(x)))."""
    return _rounded(lambda real: real * np.tanh(np.logaddexp(0, real)), x)


def gelu(x: Reals, approximate: str) -> Reals:
    """Gelu: x / 2 * (1 + erf(x / sqrt(2))), or its approximation by tanh if `approximate` is "tanh"."""
    if approximate == "tanh":
        factor = np.sqrt(2 / np.pi)
        return _rounded(lambda real: real / 2 * (1 + np.tanh(factor * (real + 0.044715 * real**3))), x)
    return _rounded(lambda real: real / 2 * (1 + _erf(real / np.sqrt(2))), x)


def quick_gelu(x: Reals, alpha: float) -> Reals:
    """QuickGelu of com.microsoft: x * Sigmoid(alpha x), each rounded to float32."""
    return np.asarray(x * sigmoid(np.asarray(np.float32(alpha) * x, np.float32)), np.float32)


def power(x: Reals, exponent: float) -> Reals:
    """Pow: x * x and x * x * x in float32; other powers rounded once, NaN where they are not real."""
    with np.errstate(over="ignore"):
        if exponent in (2, 3):
            return np.asarray(x * x if exponent == 2 else x * x * x)
    return _rounded(lambda real: real ** np.float64(np.float32(exponent)), x)


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _rounded(function: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]], x: Reals) -> Reals:
    with np.errstate(all="ignore"):
        return np.asarray(function(np.asarray(x, np.float64))).astype(np.float32)


def hard_sigmoid(x: Reals, alpha: float, beta: float) -> Reals:
    """HardSigmoid."""
    return clip(x * np.float32(alpha) + np.float32(beta), 0, 1)


def hard_swish(x: Reals) -> Reals:
    """HardSwish: x times its HardSigmoid of 1/6 and 1/2."""
    return x * hard_sigmoid(x, 1 / 6, 0.5)


def sqrt(x: Reals) -> Reals:
    """Sqrt; NaN of negative numbers."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(x))


def reciprocal(x: Reals) -> Reals:
    """Reciprocal; infinity of 0."""
    return divide(np.float32(1), x)


def add(a: Reals | np.float32, b: Reals | np.float32) -> Reals:
    """Add."""
    with np.errstate(over="ignore"):
        return np.asarray(a + b)


def subtract(a: Reals | np.float32, b: Reals | np.float32) -> Reals:
    """Sub."""
    with np.errstate(over="ignore"):
        return np.asarray(a - b)


def multiply(a: Reals | np.float32, b: Reals | np.float32) -> Reals:
    """Mul."""
    with np.errstate(over="ignore"):
        return np.asarray(a * b)


def divide(a: Reals | np.float32, b: Reals | np.float32) -> Reals:
    """Div; infinities and NaN by 0."""
    with np.errstate(all="ignore"):
        return np.asarray(a / b)


def sigmoid(x: Reals) -> Reals:
    """Sigmoid, MLAS's logistic."""
    return clip(_rational(x, _LOGISTIC_RANGE, _LOGISTIC_P, _LOGISTIC_Q) + np.float32(0.5), 0, 1)


def tanh(x: Reals) -> Reals:
    """Tanh, MLAS's."""
    return _rational(x, _TANH_RANGE, _TANH_P, _TANH_Q)


def _rational(x: Reals, limit: float, p: Sequence[float], q: Sequence[float]) -> Reals:
    """p(x^2) * x / q(x^2), `x` clipped to +-`limit`."""
    bounded = clip(x, -limit, limit)
    square = bounded * bounded
    return _horner(square, p) * bounded / _horner(square, q)


def _horner(x: Reals, coefficients: Sequence[float]) -> Reals:
    total: Reals = np.full(x.shape, coefficients[0], np.float32)
    for coefficient in coefficients[1:]:
        total = fma32(total, x, np.float32(coefficient))
    return total
