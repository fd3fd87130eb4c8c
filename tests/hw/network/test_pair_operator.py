"""Joins: constants in the order in which the other inputs come, and what shapes are refused."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from systoliq.golden import INT8
from systoliq.golden.network import Addition, Concatenation, Multiplication, Tensor
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.parallelism import Parallelism

from . import small_networks as small
from . import stage_bench as bench


def tensor(name, shape, value=None):
    return Tensor(name=name, shape=shape, format=INT8, scale=np.float32(0.1), zero_point=3, value=value)


def held(shape):
    return np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)


CASES = {
    "of an addition, one for all": (Addition, (1, 4, 2, 3), (), {}),
    "of a multiplication, by channels": (Multiplication, (1, 4, 2, 3), (4, 1, 1), {}),
    "of a multiplication, by columns": (Multiplication, (1, 4, 2, 3), (3,), {}),
    "beside others": (Concatenation, (1, 6, 2, 3), (1, 2, 2, 3), {"axis": 1}),
}


@pytest.mark.parametrize("case", CASES)
def test_constants(case):
    kind, out, shape, fields = CASES[case]
    value = held(shape)
    x = tensor("x", (1, 4, 2, 3))
    node = kind(name="n", inputs=(x, tensor("c", shape, value)), output=tensor("y", out), **fields)
    block = operator_of(node).constants(1, Parallelism(cols=2), cells="portable", kind="constants")
    whole = np.broadcast_to(value, shape if kind is Concatenation else x.shape)
    beats = np.moveaxis(whole, 1, -1).reshape(-1, 2).tolist()
    taken = bench.Bench(block).simulate({"given": {}, "wanted": {"o": 2 * len(beats)}, "cycles": 100, "goes": 0.7})
    found = [word & 0xFFFF for word in taken["o"]]
    expected = [(a & 255) | (b & 255) << 8 for a, b in beats] * 20
    assert len(found) > len(beats)
    assert found == expected[: len(found)]


def test_networks_with_constants():
    """A constant part, and a constant factor by channels."""
    net = small.Builder((2, 3, 4))
    constant = tensor("c", (1, 4, 3, 4), held((1, 4, 3, 4)))
    both = net.concat(net.table(), constant)
    net.multiply(both, both.replace(name="d", shape=(6, 1, 1), value=held((6, 1, 1)).astype(both.format.dtype)))
    whole = net.network()
    assembly = small.assembled(whole, {"multiplication2": Parallelism(cols=3)})
    given, expected = small.traffic(assembly, whole, 2, 0)
    wanted = {port: len(words) for port, words in expected.items()}
    assert bench.Bench(assembly.pipeline).simulate({"given": given, "wanted": wanted}) == expected


@pytest.mark.parametrize("case", ["a factor, first", "a part, last"])
def test_an_image_ends_once_whatever_a_constant_repeats(case):
    """The constant is stored once, so it begins again within the image."""
    net = small.Builder((2, 3, 4))
    x = net.table()
    if case == "a part, last":
        net.concat(x, x.replace(name="c", shape=(1, 4, 3, 4), value=np.full((1, 4, 3, 4), 7, x.format.dtype)))
    else:
        net.multiply(x.replace(name="c", shape=(1,), value=np.full(1, 7, x.format.dtype)), x)
    whole = net.network()
    assembly = small.assembled(whole)
    given, expected = small.traffic(assembly, whole, 2, 0)
    wanted = {port: len(words) for port, words in expected.items()}
    assert bench.Bench(assembly.pipeline).simulate({"given": given, "wanted": wanted}) == expected


def test_single_pixel():
    shapes = (1, 4, 2, 3), (1, 4, 1, 1)
    for a, b in (shapes, shapes[::-1], (shapes[0],) * 2, (shapes[1],) * 2):
        y = tensor("y", np.broadcast_shapes(a, b))
        node = Addition(name="n", inputs=(tensor("a", a), tensor("b", b)), output=y)
        assert operator_of(node).single_pixel == (None if a == b else [a, b].index(shapes[1]))


REFUSED = {
    "one number": ((1, 4, 2, 3), (1, 1, 1, 1)),
    "a row": ((1, 4, 2, 3), (1, 4, 1, 3)),
    "both repeated": ((1, 4, 2, 1), (1, 4, 1, 3)),
    "fewer dimensions": ((1, 4, 2, 3), (1, 3)),
}


@pytest.mark.parametrize("kind", [Addition, Multiplication])
@pytest.mark.parametrize("shapes", REFUSED.values(), ids=REFUSED)
def test_refused_shapes(shapes, kind):
    a, b = (tensor(name, shape) for name, shape in zip("ab", shapes, strict=True))
    node = kind(name="n", inputs=(a, b), output=tensor("y", np.broadcast_shapes(*shapes)))
    text = (
        f"node 'n': both operands must be of one shape, or one of them a pixel [1, 4, 1, 1], not {list(shapes[0])} and "
        f"{list(shapes[1])}"
    )
    with pytest.raises(ValueError, match=re.escape(text)):
        bench.stage(node, Parallelism())


def test_lanes_that_no_part_has():
    node = bench.concatenation(random.Random(0))
    with pytest.raises(ValueError, match=r"'concat': lanes must divide the \d+ channels, not 99"):
        bench.stage(node, Parallelism(cols=99))
