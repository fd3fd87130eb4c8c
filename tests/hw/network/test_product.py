"""Products of two streams: every pair of bytes; matrices that come while others are in use; what waits for them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import MatrixProduct, Tensor
from systoliq.hw.network.dependency import Dependency
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.network.product import product_cycles

from . import stage_bench as bench


def tensor(name, shape, form, zero_point):
    return Tensor(name=name, shape=shape, format=form, scale=np.float32(0.02), zero_point=zero_point)


@pytest.mark.parametrize(("a_form", "b_form", "points"), [(INT8, INT8, (-128, 127)), (UINT8, INT8, (0, 3))])
def test_every_pair_of_bytes(a_form, b_form, points):
    """A column by a row: 65,536 products, each alone in its sum."""
    a = tensor("a", (1, 256, 1), a_form, points[0])
    b = tensor("b", (1, 1, 256), b_form, points[1])
    y = tensor("y", (1, 256, 256), INT8, 5).replace(scale=np.float32(0.2))
    node = MatrixProduct(name="p", inputs=(a, b), output=y)
    arrays = [each.codes.reshape(each.shape) for each in (a, b)]
    rows = slice(None, None, 16)  # of A: each 16th
    fewer = MatrixProduct(name="p", inputs=(a.replace(shape=(1, 16, 1)), b), output=y.replace(shape=(1, 16, 256)))
    built = bench.stage(fewer, Parallelism())
    given = {
        "i_0": bench.words_of(fewer.inputs[0], arrays[0][:, rows], 1),
        "i_1": bench.words_of(b, arrays[1], 1),
    }
    expected = bench.words_of(fewer.output, node.apply(*arrays)[:, rows], 1)
    assert bench.Bench(built).simulate({"given": given, "wanted": {"o": len(expected)}})["o"] == expected


@pytest.mark.parametrize("late", ["i_0", "i_1"])
def test_either_side_may_come_late(late):
    """Nothing is lost, and nothing leaves before both are there."""
    rng = random.Random(late)
    node = bench.product(rng)
    built = bench.stage(node, Parallelism())
    given, expected = bench.traffic(node, built, 3, rng)
    first = {"given": {name: words for name, words in given.items() if name != late}, "wanted": {"o": 0}, "cycles": 60}
    run = bench.Bench(built)
    assert run.simulate(first)["o"] == []
    assert bench.Bench(built).simulate({"given": given, "wanted": {"o": len(expected)}})["o"] == expected


def test_rows_wait_for_the_whole_matrix_of_their_block():
    """Of two blocks of 3 rows and 2 x 2 matrices; A and B are of the same image, B behind all of it."""
    a, b = tensor("a", (1, 6, 2), INT8, 0), tensor("b", (1, 4, 2), INT8, 0)
    node = MatrixProduct(name="p", inputs=(a, b), output=tensor("y", (1, 6, 2), INT8, 0), blocks=2)
    operator = operator_of(node)
    streams = [Dependency(np.arange(1, 7), 1), Dependency(np.array([1, 3, 4, 6]), 1)]
    assert operator.needed(streams).tolist() == [3, 3, 3, 6, 6, 6]
    waiting = operator.waiting(streams)
    assert waiting[0] >= 3  # rows of A that come before the first matrix is there
    assert product_cycles(node) == 5
    assert operator.image_cycles(Parallelism()) == 30


@pytest.mark.sampled(99)
@pytest.mark.parametrize(("depth", "products"), [(2, 12), (6, 12), (3, 3)])
def test_several_products_a_cycle(depth, products):
    """Results do not depend on the products a cycle; the plan counts them, and waits for elements one by one."""
    rng = random.Random(depth)
    a, b = tensor("a", (1, 10, products), INT8, 3), tensor("b", (1, 2 * products, 13), UINT8, 7)
    y = tensor("y", (1, 10, 13), UINT8, 40).replace(scale=np.float32(0.05))
    node = MatrixProduct(name="p", inputs=(a, b), output=y, blocks=2)
    operator = operator_of(node)
    how = Parallelism(depth=depth)
    assert how in set(operator.choices())
    assert operator.multipliers(how) == depth
    assert operator.image_cycles(how) == max(10 * (products // depth * 13 + 1), 26 * products)
    for comes, goes in ((1.0, 1.0), (0.6, 0.7)):
        bench.check_stage(node, how, rng, comes=comes, goes=goes)


def test_products_a_cycle_divide_those_of_a_sum():
    a, b = tensor("a", (1, 2, 6), INT8, 0), tensor("b", (1, 6, 2), INT8, 0)
    node = MatrixProduct(name="p", inputs=(a, b), output=tensor("y", (1, 2, 2), INT8, 0))
    assert [each.depth for each in operator_of(node).choices()] == [1, 2, 3]  # more do not wait less for elements
    for how in (Parallelism(depth=4), Parallelism(cols=2)):
        with pytest.raises(ValueError, match="products a cycle must divide the 6 of a sum"):
            bench.stage(node, how)
