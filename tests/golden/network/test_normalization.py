"""Layer normalization: its integers against real numbers of 60 digits, rounded once."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import LayerNormalization, Tensor

NEAR = Decimal(2) ** -14  # of a tie, next to which either side is right


def node(channels, scale, result, form, made, epsilon=1e-5):
    rng = np.random.default_rng(channels)
    x = Tensor(name="x", shape=(1, channels), format=form, scale=np.float32(scale), zero_point=form.min + 100)
    y = Tensor(name="y", shape=(1, channels), format=made, scale=np.float32(result), zero_point=made.max - 90)
    gain, shift = (rng.normal(mean, 1, channels).astype(np.float32) for mean in (1, 0))
    return LayerNormalization(name="n", inputs=(x,), output=y, gain=gain, shift=shift, epsilon=np.float32(epsilon))


@pytest.mark.parametrize("channels", [2, 7, 64])
@pytest.mark.parametrize(
    ("scale", "result", "epsilon"), [(0.05, 0.03, 1e-5), (0.001, 0.02, 1e-3), (1.5, 0.4, 1e-5), (1e-5, 0.01, 1e-5)]
)
def test_real_numbers_rounded_once(channels, scale, result, epsilon):
    """Rows of any integers, and such that hardly differ; only next to a tie may another integer come out."""
    made = node(channels, scale, result, INT8, UINT8, epsilon)
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.integers(-128, 128, (20, channels)), rng.integers(4, 6, (20, channels))]).astype(np.int8)
    x[0] = 17
    y = made.apply(x)
    assert y.dtype == np.uint8
    with localcontext(prec=60):
        for row, results in zip(x.tolist(), y.tolist(), strict=True):
            real = [Decimal(float(made.inputs[0].scale)) * (each - made.inputs[0].zero_point) for each in row]
            mean = sum(real) / channels
            deviation = (sum((each - mean) ** 2 for each in real) / channels + Decimal(float(made.epsilon))).sqrt()
            for each, gain, shift, found in zip(real, made.gain, made.shift, results, strict=True):
                exact = (each - mean) / deviation * Decimal(float(gain)) + Decimal(float(shift))
                exact = exact / Decimal(float(made.output.scale)) + made.output.zero_point
                wanted = min(max(int(exact.to_integral_value(ROUND_HALF_EVEN)), 0), 255)
                tie = abs(abs(exact - exact.to_integral_value(ROUND_HALF_EVEN)) - Decimal("0.5")) < NEAR
                assert found == wanted or (tie and abs(found - wanted) == 1)


def test_a_tie_goes_to_the_even_integer():
    """Elements at the mean give the shift alone."""
    x = Tensor(name="x", shape=(1, 4), format=INT8, scale=np.float32(1), zero_point=0)
    y = x.replace(name="y", scale=np.float32(0.5))
    shift = np.float32([0.25, 0.75, -0.25, -0.75])  # 0.5, 1.5, -0.5, -1.5 steps
    made = LayerNormalization(
        name="n", inputs=(x,), output=y, gain=np.ones(4, np.float32), shift=shift, epsilon=np.float32(1e-5)
    )
    assert made.apply(np.full((1, 4), 9, np.int8)).tolist() == [[0, 2, 0, -2]]


def test_the_smallest_scale_beside_epsilon():
    """Epsilon must be below 2^48 in units of a variance: 4 * 1 / scale^2 for two channels."""
    node(2, 2.0**-22, 0.03, INT8, UINT8, epsilon=1.0)
    with pytest.raises(ValueError, match="must not be so small beside epsilon, 1, that"):
        node(2, 2.0**-23, 0.03, INT8, UINT8, epsilon=1.0)
