"""Steps of results with float8: what every sum gives by Python integers, over ranges small enough to try them all."""

from __future__ import annotations

import float8_oracle as oracle
import numpy as np
import pytest

from systoliq.golden import E4M3FN, E5M2, FLOAT8, INT8, UINT8, MatMulLayer
from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.float8_thresholds import float8_steps, reachable_sums


@pytest.mark.parametrize(("output", "zero_point"), [*((form, 0) for form in FLOAT8), (INT8, -5), (UINT8, 200)], ids=str)
def test_steps_are_where_results_change(output, zero_point):
    rng = np.random.default_rng(3)
    scales = np.float32([*np.ldexp(np.float32(1), [-9, 0, 6, 20]), *rng.uniform(0.01, 100, 4), 2.0**-40])
    lo, hi = [-700, -5, -700, -700, 0, -300, 3, -700, -700], [700, 5, 700, 700, 700, -200, 900, 700, 700]
    unit = -8
    found = float8_steps(Float8Requantization.from_scales(scales, output, zero_point), unit, lo, hi)
    rounding = oracle.Output(output.name, zero_point)
    for scale, low, high, steps in zip(scales, lo, hi, found, strict=True):
        codes = [rounding.round(oracle.times(at, -unit, scale.item())) for at in range(low, high + 1)]
        changes = [(at, code) for at, code in enumerate(codes, low) if at == low or code != codes[at - low - 1]]
        assert steps == changes


def test_reachable_sums_are_those_of_the_greatest_operands():
    w = np.random.default_rng(2).integers(0, 0x7C, (20, 3)).astype(np.uint8)
    w[3:, 2], w[:3, 2] = 0, (0xFB, 0x7B, 0x7D)  # the last one is NaN
    fields = {f"{name}_zero_point": 0 for name in "aby"} | {f"{name}_scale": 1.0 for name in "aby"}
    layer = MatMulLayer(b=w, **fields, a_format=E4M3FN, b_format=E5M2, y_format=E5M2)
    values = np.abs(oracle.values("float8_e5m2"))[w]
    expected = np.where(np.isfinite(values), values, 0).sum(axis=0) * 448 * 2.0**25
    assert reachable_sums(layer) == ((-expected).tolist(), expected.tolist())
    integers = {f"{name}_scale": 1.0 for name in "aby"} | {f"{name}_zero_point": np.int8(0) for name in "aby"}
    with pytest.raises(TypeError, match="a, b or y must be float8, not int8, int8 and int8"):
        reachable_sums(MatMulLayer(b=w.view(np.int8), **integers))


@pytest.mark.parametrize(("a", "b"), [(UINT8, E5M2), (E5M2, INT8), (INT8, UINT8)], ids=str)
def test_reachable_sums_of_integers_are_those_of_their_ends(a, b):
    """By the sums of the rows that reach them."""
    rng = np.random.default_rng(5)
    w = rng.integers(0, 100, (6, 4)).astype(np.uint8)
    points = {"a_zero_point": 0 if a is E5M2 else 30, "b_zero_point": 0 if b is E5M2 else 70, "y_zero_point": 0}
    scales = {f"{name}_scale": 1.0 for name in "aby"}
    layer = MatMulLayer(b=w.view(b.dtype), **points, **scales, a_format=a, b_format=b, y_format=E4M3FN)
    least, most = (0xFB, 0x7B) if a is E5M2 else (a.min % 256, a.max)
    for sums, ends in zip(reachable_sums(layer), ((least, most), (most, least)), strict=True):
        for n, found in enumerate(sums):
            weights = units(w[:, n], b, points["b_zero_point"])
            row = units(np.where(weights > 0, *ends).astype(np.uint8), a, points["a_zero_point"])
            assert found == sum(x * y for x, y in zip(row.tolist(), weights.tolist(), strict=True))


def units(codes, form, zero_point):
    """What uint8 `codes` stand for in units of E5M2's least value, or as integers less their zero point."""
    if form is E5M2:
        return (oracle.values("float8_e5m2")[codes] * 2.0**16).astype(np.int64)
    return codes.view(form.dtype).astype(np.int64) - zero_point


@pytest.mark.parametrize(("output", "zero_point"), [(E4M3FN, 1), (INT8, 128), (UINT8, -1)])
def test_a_zero_point_that_the_output_has_not_is_refused(output, zero_point):
    with pytest.raises(ValueError, match=f"zero_point must be 0 or an integer of .*, not {zero_point}"):
        Float8Requantization(multiplier=(1 << 23,), exponent=(0,), output=output, zero_point=zero_point)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"output": "int8"}, TypeError, "output must be a Float8Format or an IntFormat, not 'int8'"),
        ({"exponent": ()}, ValueError, "one entry per column each, not 1 and 0"),
        ({"multiplier": (), "exponent": ()}, ValueError, "one entry per column each, not 0 and 0"),
        ({"multiplier": (1 << 24,)}, ValueError, "multiplier must have 24 bits, not 16777216"),
        ({"multiplier": ((1 << 23) - 1,)}, ValueError, "multiplier must have 24 bits, not 8388607"),
    ],
)
def test_invalid_constants_are_refused(changes, error, text):
    right = Float8Requantization(multiplier=(1 << 23,), exponent=(0,), output=INT8)
    with pytest.raises(error, match=text):
        right.replace(**changes)
