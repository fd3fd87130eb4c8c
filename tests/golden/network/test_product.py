"""Products of two tensors: each sum in integers, requantized; what does not fit them."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import MatrixProduct, Tensor
from systoliq.golden.rescale import requantize_float32


def tensor(name, *shape, form=INT8, zero_point=3, scale=0.05):
    return Tensor(name=name, shape=shape, format=form, scale=np.float32(scale), zero_point=zero_point)


def test_each_sum():
    a, b = tensor("a", 1, 6, 4, form=UINT8), tensor("b", 1, 8, 5, zero_point=-7)
    node = MatrixProduct(name="p", inputs=(a, b), output=tensor("y", 1, 6, 5), blocks=2)
    rng = np.random.default_rng(0)
    x, w = (rng.integers(t.format.min, t.format.max + 1, (3, *t.shape[1:])).astype(t.format.dtype) for t in (a, b))
    y = node.apply(x, w)
    for image, row, column in np.ndindex(3, 6, 5):
        block = row // 3
        total = sum((int(x[image, row, k]) - 3) * (int(w[image, 4 * block + k, column]) + 7) for k in range(4))
        assert y[image, row, column] == requantize_float32(np.int32(total), node.scale, 3, INT8)
    assert (node.kind, node.multiply_accumulates) == ("2 products 3 x 4 x 5", 120)


@pytest.mark.parametrize(
    ("a", "b", "y", "blocks", "text"),
    [
        ((1, 6, 4), (1, 4, 5), (1, 6, 5), 2, r"'b' must have 4 rows in each of 2 blocks, not 4"),
        (
            (1, 5, 4),
            (1, 8, 5),
            (1, 5, 5),
            2,
            r"'a' must have the shape \[batch, rows, columns\], with rows for 2 blocks",
        ),
        ((1, 4), (1, 4, 5), (1, 5), 1, r"'a' must have the shape \[batch, rows, columns\]"),
        ((1, 6, 4), (1, 4, 5), (1, 6, 4), 1, r"must have the shape \[1, 6, 5\], not \[1, 6, 4\]"),
        ((1, 1, 1 << 18), (1, 1 << 18, 1), (1, 1, 1), 1, "the sums of 'p' must fit 32 bits"),
    ],
)
def test_shapes_that_do_not_fit(a, b, y, blocks, text):
    with pytest.raises(ValueError, match=text):
        MatrixProduct(name="p", inputs=(tensor("a", *a), tensor("b", *b)), output=tensor("y", *y), blocks=blocks)
