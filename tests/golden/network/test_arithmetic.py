"""Convolutions, products and sums of tensors: by loops over integers, and by float32 step for step."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8, MatMulLayer
from systoliq.golden.network import (
    Addition,
    Concatenation,
    Convolution,
    Dense,
    Move,
    Multiplication,
    Reshape,
    Source,
    Tensor,
    Window,
)
from systoliq.golden.network.convolution import columns_of_kernels

F32 = np.float32


def tensor(name, *shape, form=INT8, scale=0.5, zero_point=3):
    return Tensor(name=name, shape=shape, format=form, scale=F32(scale), zero_point=zero_point)


def integers(of, batch=2, seed=0):
    form = of.format
    return np.random.default_rng(seed).integers(form.min, form.max + 1, (batch, *of.shape[1:])).astype(form.dtype)


def layer(k, n, *, bias=True):
    rng = np.random.default_rng(k * n)
    return MatMulLayer(
        b=rng.integers(-128, 128, (k, n)).astype(np.int8), b_scale=F32(0.01) * np.arange(1, n + 1, dtype=F32),
        b_zero_point=np.int8(2), a_scale=0.5, a_zero_point=3, a_format=INT8, y_scale=F32(6), y_zero_point=np.int8(9),
        bias=rng.integers(-3000, 3000, n).astype(np.int32) if bias else None,
    )  # fmt: skip


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("bias", [True, False])
def test_convolution(groups, bias):
    x, y = tensor("x", 1, 4, 5, 4), tensor("y", 1, 8, 3, 5, zero_point=9)
    window = Window(kernel=(3, 2), strides=(2, 1), pads=(1, 1, 1, 1))
    node = Convolution(
        name="c", inputs=(x,), output=y, window=window, groups=groups, layer=layer(24 // groups, 8, bias=bias)
    )
    words = {1: "convolution 3 x 2 / 2 x 1, 4 -> 8", 2: "convolution 3 x 2 / 2 x 1, 4 -> 8 in 2 groups"}
    assert node.kind == words.get(groups, "depthwise convolution 3 x 2 / 2 x 1, 4 -> 8")
    assert node.depthwise is (groups == 4)
    assert node.multiply_accumulates == 8 * 3 * 5 * 24 // groups
    values = integers(x)
    sums, results = node.sums(values), node.apply(values)
    each = 4 // groups
    for n, m, row, column in np.ndindex(2, 8, 3, 5):
        total = int(node.layer.bias[m]) if bias else 0
        for i, j, c in np.ndindex(3, 2, each):
            r, s = 2 * row + i - 1, column + j - 1
            if 0 <= r < 5 and 0 <= s < 4:
                pixel = int(values[n, m * groups // 8 * each + c, r, s]) - 3
                total += pixel * (int(node.layer.b[(i * 2 + j) * each + c, m]) - 2)
        assert sums[n, row, column, m] == total
        scaled = np.rint(F32(total) * node.layer.scale[m])
        assert results[n, m, row, column] == min(max(int(scaled) + 9, -128), 127)
    group = node.group(groups - 1)
    assert group.n == 8 // groups
    np.testing.assert_array_equal(group.b, node.layer.b[:, -group.n :])


def test_kernels_become_columns():
    w = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    b = columns_of_kernels(w)
    assert b.shape == (60, 2)
    for m, c, i, j in np.ndindex(2, 3, 4, 5):
        assert b[(i * 5 + j) * 3 + c, m] == w[m, c, i, j]


@pytest.mark.parametrize("shape", [(1, 6), (1, 3, 6)])
def test_dense(shape):
    x, y = tensor("x", *shape), tensor("y", *shape[:-1], 4, zero_point=9)
    node = Dense(name="d", inputs=(x,), output=y, layer=layer(6, 4))
    assert node.multiply_accumulates == int(np.prod(shape[1:])) * 4
    values = integers(x)
    found = node.apply(values)
    assert found.shape == (2, *shape[1:-1], 4)
    for at in np.ndindex(2, *shape[1:-1]):
        np.testing.assert_array_equal(found[at], node.layer.golden(values[at][None])[0])


@pytest.mark.parametrize("shapes", [((1, 2, 3), (1, 2, 3)), ((1, 2, 3), (1, 2, 1)), ((1, 1, 3), (1, 2, 3))])
@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
def test_multiplication(shapes, form):
    """float32's product of integers and scale, with the zero point, to the nearest integer."""
    a, b = (
        tensor("a", *shapes[0], form=form, scale=0.3, zero_point=5),
        tensor("b", *shapes[1], form=form, zero_point=90),
    )
    y = tensor("y", 1, 2, 3, form=form, scale=7.7, zero_point=11)
    node = Multiplication(name="m", inputs=(a, b), output=y)
    scale = F32(F32(F32(0.3) * F32(0.5)) / F32(7.7))
    assert node.scale == scale
    values = integers(a), integers(b, seed=1)
    found = node.apply(*values)
    full = [np.broadcast_to(each, (2, 2, 3)) for each in values]
    for at in np.ndindex(2, 2, 3):
        product = (int(full[0][at]) - 5) * (int(full[1][at]) - 90)
        wanted = int(np.rint(F32(F32(F32(product) * scale) + F32(11))))
        assert found[at] == min(max(wanted, form.min), form.max)
    ends = [(p - 5) * (q - 90) for p in (form.min, form.max) for q in (form.min, form.max)]
    assert node.products == (min(ends), max(ends))


@pytest.mark.parametrize("exchanged", [None, False, True])
def test_addition(exchanged):
    """Two fused multiply-adds, the inner one of the second operand: exact, then rounded to float32."""
    a, b = tensor("a", 1, 40, scale=0.3, zero_point=5), tensor("b", 1, 40, scale=0.7, zero_point=-90)
    y = tensor("y", 1, 40, scale=0.9, zero_point=11)
    more = {} if exchanged is None else {"exchanged": exchanged}
    node = Addition(name="s", inputs=(a, b), output=y, **more)
    assert node.exchanged is bool(exchanged)
    ratios = F32(0.3) / F32(0.9), F32(0.7) / F32(0.9)
    assert node.ratios == ratios
    values = integers(a), integers(b, seed=1)
    first, second = (0, 1) if not exchanged else (1, 0)
    points = (5, -90)

    def fused(x, ratio, more):
        return F32(float(Fraction(float(ratio)) * int(x) + Fraction(float(more))))

    shifted = fused(points[first], ratios[first], F32(ratios[second] * F32(points[second])))
    offset = F32(F32(11) - shifted)
    assert node.offset == offset
    found = node.apply(*values)
    for at in np.ndindex(2, 40):
        inner = fused(values[second][at], ratios[second], offset)
        wanted = int(np.rint(fused(values[first][at], ratios[first], inner)))
        assert found[at] == min(max(wanted, -128), 127)


def test_concatenation():
    """Parts that count as the output does stay as they are, the others become their nearest integers."""
    a, b, c = tensor("a", 1, 2, 3), tensor("b", 1, 1, 3, scale=0.25), tensor("c", 1, 4, 3)
    y = tensor("y", 1, 7, 3)
    node = Concatenation(name="j", inputs=(a, b, c), output=y, axis=1)
    assert [table is None for table in node.tables] == [True, False, True]
    values = integers(a), integers(b), integers(c, batch=1)
    found = node.apply(*values)
    np.testing.assert_array_equal(found[:, :2], values[0])
    np.testing.assert_array_equal(found[:, 2:3], y.quantize(b.dequantize(values[1])))
    np.testing.assert_array_equal(found[:, 3:], np.broadcast_to(values[2], (2, 4, 3)))


MOST = 2**31 - 2**9  # the greatest float32 below 2^31 is 2^31 - 2^7; sums are rounded on their way


@pytest.mark.parametrize(("steps", "fits"), [(MOST - 1, True), (MOST, False), (2.0**31, False), (float("nan"), False)])
def test_results_fit_int32(steps, fits):
    node = Move(name="m", inputs=(tensor("x", 1, 4),), output=tensor("y", 1, 4), movement=Reshape((4,)))
    assert node.multiply_accumulates == 0
    if fits:
        node.expect_int32(steps)
        return
    with pytest.raises(ValueError, match=r"^the results of 'm' must stay below 2\^31 in units of the output's scale"):
        node.expect_int32(steps)


A, IMAGE = tensor("a", 1, 4), tensor("i", 1, 4, 5, 5)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Multiplication(name="m", inputs=(A, tensor("b", 1, 4, form=UINT8)), output=A),
            "must be all of int8 or all of uint8",
        ),
        (lambda: Multiplication(name="m", inputs=(A, A), output=tensor("y", 4)), r"must have the shape \[1, 4\], not"),
        (
            lambda: Convolution(
                name="c",
                inputs=(IMAGE,),
                output=tensor("y", 1, 3, 5, 5),
                window=Window(kernel=(1, 1)),
                layer=layer(4, 2),
            ),
            r"the output of 'c' must have the shape \[1, 2, 5, 5\], not \[1, 3, 5, 5\]",
        ),
        (
            lambda: Convolution(
                name="c", inputs=(IMAGE,), output=IMAGE, window=Window(kernel=(1, 1)), groups=0, layer=layer(4, 4)
            ),
            "4 input channels must be a multiple of 0 groups",
        ),
        (lambda: Dense(name="d", inputs=(tensor("x", 6),), output=A, layer=layer(6, 4)), r"not \[6\]"),
        (
            lambda: Concatenation(name="j", inputs=(A, A), output=tensor("y", 1, 7), axis=1),
            r"must have the shape \[1, 8\]",
        ),
        (
            lambda: Concatenation(name="j", inputs=(A, A), output=tensor("y", 2, 4), axis=0),
            "axis must be 1 to 1, not 0",
        ),
        (lambda: Concatenation(name="j", inputs=(A, A), output=A, axis=2), "axis must be 1 to 1, not 2"),
    ],
)
def test_what_does_not_fit(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_a_source_behind_more_than_moves():
    source = Source(name="s", shape=(1, 4), movements=None, tensor=A)
    with pytest.raises(ValueError, match="^a must be given: more than moves and a QuantizeLinear follow s$"):
        source.quantize(np.zeros((1, 4), F32))
    plain = Source(name="s", shape=(1, 4), movements=(), tensor=A)
    assert plain.quantize(F32([[0, 1, -1, 100]])).tolist() == [[3, 5, 1, 127]]
    assert plain != Source(name="s", shape=(1, 4), movements=(), tensor=A)
