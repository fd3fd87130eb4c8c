"""Narrower networks: their integers against onnxruntime's kernels, their scales and zero points, their refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from systoliq.design.digits_cnn import digits_cnn
from systoliq.explore.precision.narrowing import (
    Widths,
    activations_of,
    narrow_tensor,
    narrowed,
    products_of,
)
from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Tensor

from ...hw.network import small_networks as small
from .onnx_of import onnxruntime_tensors
from .random_networks import random_network, random_widths


@pytest.mark.parametrize("seed", range(12))
def test_every_integer_is_that_of_onnxruntime(seed):
    net, rng = random_network(seed)
    narrow = narrowed(net, random_widths(net, rng))
    (source,) = narrow.sources
    tensor = source.tensor
    made = np.random.default_rng(seed)
    q = made.integers(tensor.format.min, tensor.format.max, (5, *tensor.shape[1:]), endpoint=True)
    x = tensor.dequantize(q.astype(tensor.format.dtype)) + np.float32(0.2) * tensor.scale
    expected = onnxruntime_tensors(narrow, x)
    found = narrow.golden({tensor.name: tensor.quantize(x)})
    assert set(found) == set(expected)
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


def test_digits_cnn_is_that_of_onnxruntime():
    net, _ = digits_cnn()
    names = [name for group in activations_of(net) for name in group]
    assert len(names) == 4
    widths = Widths(weights={"conv1": 3, "conv2": 4, "fc": 5}, activations=dict.fromkeys(names, 4))
    narrow = narrowed(net, widths)
    x = np.random.default_rng(1).uniform(-1, 17, (40, 1, 8, 8)).astype(np.float32)
    expected = onnxruntime_tensors(narrow, x)
    for name, array in narrow.golden({"image": x}).items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


def test_powers_of_two_stay_powers_of_two():
    net, _ = digits_cnn()
    widths = Widths(
        weights={node.name: 4 for node in products_of(net)},
        activations={name: 5 for group in activations_of(net) for name in group},
    )
    for node in products_of(narrowed(net, widths)):
        for scale in (node.layer.a_scale, *node.layer.b_scale, node.layer.y_scale):
            assert np.frexp(scale)[0] == 0.5


def test_a_bias_is_the_nearest_of_its_new_scale():
    """By exact fractions."""
    net, rng = random_network(3)
    narrow = narrowed(net, random_widths(net, rng))
    for old, new in zip(products_of(net), products_of(narrow), strict=True):
        if old.layer.bias is None:
            continue
        for index, bias in enumerate(old.layer.bias.tolist()):
            real = bias * Fraction(float(old.layer.a_scale)) * Fraction(float(old.layer.b_scale[index]))
            step = Fraction(float(new.layer.a_scale)) * Fraction(float(new.layer.b_scale[index]))
            assert abs(new.layer.bias[index] - real / step) <= Fraction(1, 2) + Fraction(abs(bias), 1 << 50)


@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("bits", range(2, 9))
def test_a_zero_point_at_an_end_stays_there(form, bits):
    for end in ("min", "max"):
        tensor = Tensor(name="t", shape=(1, 4), format=form, scale=np.float32(0.3), zero_point=getattr(form, end))
        narrow = narrow_tensor(tensor, bits)
        assert narrow.format.bits == bits
        assert narrow.zero_point == getattr(narrow.format, end)
        assert narrow.scale == np.float32(0.3) * 2 ** (8 - bits)


def test_wide_as_before_is_the_same():
    net, _ = random_network(1)
    same = narrowed(net, Widths())
    assert all(new is old for new, old in zip(same.nodes, net.nodes, strict=True))


def test_tables_of_bytes_keep_their_bytes():
    net = small.Builder((4, 6, 6), seed=5)
    first = net.convolution(4)
    net.table()
    second = net.convolution(4)
    third = net.convolution(6)
    net.add(net.convolution(4, of=third), second)
    assert activations_of(net.network()) == [("x",), (third.name,)]
    assert first.name not in {name for group in activations_of(net.network()) for name in group}


@pytest.mark.parametrize(
    ("widths", "message"),
    [
        (Widths(weights={"nowhere": 4}), "tensors that can be narrowed, not of 'nowhere'"),
        (Widths(weights={"conv1": 9}), "weights must have at most 8 bits, the layer's own, not 9"),
        (Widths(activations={"output": 4}), "not of 'output'"),
    ],
)  # fmt: skip
def test_refused(widths, message):
    net, _ = digits_cnn()
    with pytest.raises(ValueError, match=message):
        narrowed(net, widths)
