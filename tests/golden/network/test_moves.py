"""Moves: which of them keep each element once, and the order in which a stream of them leaves."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import UINT8
from systoliq.golden.network import Chain, Gather, Move, Nearest, Reshape, Tensor, Transpose

MOVEMENTS = {
    "reshape": (Reshape((3, 4, 2)), (1, 3, 4, 2), True),
    "transpose": (Transpose((0, 1, 3, 2)), (1, 2, 4, 3), True),
    "every pixel once": (Nearest((2, 0, 1), (0, 1, 2, 3)), (1, 2, 3, 4), True),
    "a row twice": (Nearest((0, 0, 1, 2), (0, 1, 2, 3)), (1, 2, 4, 4), False),
    "a row twice, another left out": (Nearest((0, 0, 2), (0, 1, 2, 3)), (1, 2, 3, 4), False),
    "channels swapped": (Gather(1, (1, 0)), (1, 2, 3, 4), True),
    "a channel": (Gather(1, (1,)), (1, 1, 3, 4), False),
    "rows, one twice": (Gather(2, (1, 1, 2)), (1, 2, 3, 4), False),
    "a chain": (Chain((Reshape((2, 12)), Transpose((0, 2, 1)), Reshape((3, 4, 2)))), (1, 3, 4, 2), None),
    "a chain that picks": (Chain((Transpose((0, 1, 3, 2)), Gather(2, (3, 1)))), (1, 2, 2, 3), False),
    "a column left out": (Nearest((0, 1, 2), (0, 1, 3)), (1, 2, 3, 3), False),
}


def move(movement, shape) -> Move:
    x, y = (
        Tensor(name=name, shape=dimensions, format=UINT8, scale=np.float32(0.5), zero_point=3)
        for name, dimensions in (("x", (1, 2, 3, 4)), ("y", shape))
    )
    return Move(name="m", inputs=(x,), output=y, movement=movement)


@pytest.mark.parametrize("name", MOVEMENTS)
def test_each_element_once(name):
    movement, shape, once = MOVEMENTS[name]
    node = move(movement, shape)
    assert node.permutes is bool(once)  # a chain needs a memory, even where it keeps each element
    assert (sorted(node.order.ravel().tolist()) == list(range(24))) is (once is not False)


@pytest.mark.parametrize("name", MOVEMENTS)
def test_the_order_is_that_of_the_moved_elements(name):
    movement, shape, _ = MOVEMENTS[name]
    node = move(movement, shape)
    x = np.random.default_rng(1).integers(0, 256, (1, 2, 3, 4)).astype(np.uint8)
    streamed = node.inputs[0].raster(x)[0].ravel()
    np.testing.assert_array_equal(streamed[node.order], node.output.raster(node.apply(x))[0])


@pytest.mark.parametrize(("axis", "indices"), [(0, (0,)), (1, (2,)), (1, ()), (1, (-1,)), (4, (0,))])
def test_a_gather_must_pick_slices_that_are_there(axis, indices):
    with pytest.raises(ValueError, match="axis|indices|slices"):
        move(Gather(axis, indices), (1, max(len(indices), 1), 3, 4))


def test_another_shape_is_refused():
    with pytest.raises(ValueError, match="shape"):
        move(Nearest((0, 1), (0, 1)), (1, 2, 2, 3))
