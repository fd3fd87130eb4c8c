from __future__ import annotations

import numpy as np
import pytest

from systoliq.errors import InputError
from systoliq.explore.requantize_layer import narrowed, quantize_inputs, quantize_weights
from systoliq.golden.formats import IntFormat


def real_outputs(layer, x):
    y = layer.golden(quantize_inputs(x, layer))
    return (y.astype(float) - layer.y_zero_point) * float(layer.y_scale)


def test_its_own_widths_leave_a_layer_unchanged(layer):
    assert narrowed(layer, 8, 8) is layer


@pytest.mark.parametrize("a_bits", [4, 6, 8])
@pytest.mark.parametrize("b_bits", [2, 4, 8])
def test_narrower_layers_stay_close_to_the_real_numbers(layer, a_bits, b_bits):
    narrow = narrowed(layer, a_bits, b_bits)
    assert (narrow.a_format.name, narrow.b_format.name) == (f"int{a_bits}", f"int{b_bits}")
    assert narrow.b_format.contains(narrow.b)
    x = np.random.default_rng(0).uniform(-5, 5, (200, layer.k))
    error = real_outputs(narrow, x) - real_outputs(layer, x)
    step_a, step_b = float(narrow.a_scale), float(narrow.b_scale.max())
    bound = step_a * np.abs(layer.centered_b * layer.b_scale).sum(axis=0) + layer.k * 6.5 * step_b + 2 * layer.y_scale
    assert np.all(np.abs(error) <= bound)


def test_each_bit_less_costs_accuracy(layer):
    x = np.random.default_rng(0).uniform(-5, 5, (400, layer.k))
    wanted = real_outputs(layer, x)
    errors = [np.square(real_outputs(narrowed(layer, 8, bits), x) - wanted).mean() for bits in (8, 6, 4, 2)]
    assert errors == sorted(errors)
    errors = [np.square(real_outputs(narrowed(layer, bits, 8), x) - wanted).mean() for bits in (8, 6, 4, 2)]
    assert errors == sorted(errors)


def test_an_operand_that_keeps_its_width_keeps_its_values(layer):
    assert np.array_equal(narrowed(layer, 5, 8).b, layer.b)
    narrow = narrowed(layer, 8, 4)
    assert (narrow.a_scale, narrow.a_zero_point) == (layer.a_scale, layer.a_zero_point)


def test_wider_is_refused(layer):
    with pytest.raises(InputError, match="a_bits must be at most 8, the layer's own, not 9"):
        narrowed(layer, 9, 8)


@pytest.mark.parametrize("signed", [True, False])
def test_weights_are_clipped_where_that_is_better(signed):
    weights = np.append(np.random.default_rng(0).normal(size=400), 30.0)[:, np.newaxis]
    fmt = IntFormat(4, signed)
    integers, scale = quantize_weights(weights, fmt)
    assert fmt.contains(integers)
    zero_point = 0 if signed else 8
    error = np.square((integers.astype(float) - zero_point) * scale - weights).sum()
    plain = 30 / 7
    assert error <= np.square(np.rint(weights / plain) * plain - weights).sum()


def test_columns_of_zeros_have_a_scale():
    integers, scale = quantize_weights(np.zeros((3, 2)), IntFormat(4, True))
    assert not integers.any()
    assert np.all(scale > 0)
