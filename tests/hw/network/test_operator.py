"""Operators: one for each node; cycles from image to image as simulation shows them; every choice can be built."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from systoliq.golden.limits import ARRAY_MULTIPLIERS, ARRAY_SIDE
from systoliq.golden.network import Dense, Gather, Node, Window
from systoliq.hw.hierarchy import mark_used
from systoliq.hw.network.operators import OPERATORS, operator_of
from systoliq.hw.network.parallelism import Parallelism

from . import stage_bench as bench

IMAGES = 7


def subclasses(kind):
    return {kind, *(below for each in kind.__subclasses__() for below in subclasses(each))}


def test_every_node_has_one_operator():
    """Each class of nodes has an operator, and each random node just one; a file holds one operator."""
    assert {each.node_type for each in OPERATORS} == subclasses(Node) - {Node}
    assert len({each.__module__ for each in OPERATORS}) == len(OPERATORS)
    for make in bench.NODES:
        for seed in range(5):
            node = make(random.Random(seed))
            takers = [each for each in OPERATORS if isinstance(node, each.node_type) and each.takes(node)]
            assert takers == [type(operator_of(node))]


def test_a_node_without_an_operator_is_named():
    class Unknown:
        name = "x"

    with pytest.raises(ValueError, match="node 'x': there is no hardware for Unknown"):
        operator_of(Unknown())


def gaps(node, parallelism):
    """Cycles between the last beats of images, where neither side waits; all beats come when the cycle model says."""
    rng = random.Random(0)
    built = bench.stage(node, parallelism)
    given, expected = bench.traffic(node, built, IMAGES, rng)
    run = bench.Bench(built)
    assert run.simulate({"given": given, "wanted": {"o": len(expected)}})["o"] == expected
    assert run.times["o"] == bench.modelled(built, given)
    ends = run.times["o"][len(expected) // IMAGES - 1 :: len(expected) // IMAGES]
    return [after - before for before, after in itertools.pairwise(ends)]


def drawn(make, seed, *, most=400):
    """A random node and parallelism, small enough to be simulated at once."""
    rng = random.Random(f"rate {make.__name__} {seed}")
    while True:
        node = make(rng)
        parallelism = bench.random_choice(node, rng)
        if not operator_of(node).windows.leaves_image and operator_of(node).image_cycles(parallelism) <= most:
            return node, parallelism


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 25))])
@pytest.mark.parametrize("make", bench.NODES, ids=lambda make: make.__name__)
def test_images_leave_at_the_rate(make, seed):
    node, parallelism = drawn(make, seed)
    assert gaps(node, parallelism)[-3:] == [operator_of(node).image_cycles(parallelism)] * 3


def test_a_gather_of_few_elements_takes_the_cycles_of_its_input():
    """Its memory has room for two blocks, and one is read long before the next is whole."""
    node = bench.gathering_of((1, 6, 3, 4), Gather(2, (2,)), random.Random(1))
    parallelism = Parallelism(cols=1, depth=1)
    assert operator_of(node).image_cycles(parallelism) == 72
    assert gaps(node, parallelism)[-3:] == [72] * 3


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("image", "window"),
    [
        ((4, 4), Window(kernel=(2, 2), strides=(2, 2))),
        ((5, 1), Window(kernel=(1, 1), strides=(2, 1))),
        ((4, 2), Window(kernel=(1, 1))),
        ((3, 4), Window(kernel=(1, 2), pads=(0, 1, 0, 0))),
        ((6, 6), Window(kernel=(3, 3), strides=(2, 2), pads=(0, 0, 1, 1))),
        ((1, 1), Window(kernel=(1, 1))),
    ],
    ids=str,
)
def test_rate_of_windows_that_leave_as_quickly_as_lines_come(image, window):
    node = bench.convolution(random.Random(1), depthwise=True, image=image, window=window, channels=2)
    for parallelism in operator_of(node).choices():
        assert gaps(node, parallelism)[-3:] == [operator_of(node).image_cycles(parallelism)] * 3


@pytest.mark.sampled(99)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [bench.convolution, bench.grouped], ids=lambda make: make.__name__)
def test_rate_of_several_pixels_of_a_window_at_a_time(make, seed):
    """All of it at once among them."""
    rng = random.Random(f"wide {make.__name__} {seed}")
    wide = []
    while not wide:
        node = make(rng)
        operator = operator_of(node)
        wide = [each for each in operator.choices() if operator.is_wide(each) and not operator.windows.leaves_image]
    for parallelism in {rng.choice(wide), wide[-1]}:
        assert gaps(node, parallelism)[-3:] == [operator_of(node).image_cycles(parallelism)] * 3


@pytest.mark.parametrize(("k", "n"), [(1280, 1000), (8192, 20)])
def test_choices_of_a_large_layer_stay_within_the_limits_of_an_array(k, n):
    """The last layer of a classifier of 1000 classes, and one of more elements than an array is deep."""
    rng = random.Random(0)
    x, y = bench.tensor("x", (1, k), rng), bench.tensor("y", (1, n), rng)
    node = Dense(name="fc", inputs=(x,), output=y, layer=bench.layer_of(x, y, k, n, rng))
    found = list(operator_of(node).choices())
    assert {each.cols for each in found} >= {1, 10, n}
    assert max(each.depth for each in found) == min(k, ARRAY_SIDE)
    assert max(each.cols * each.depth for each in found) <= ARRAY_MULTIPLIERS
    assert all(operator_of(node).image_cycles(each) >= k * n // (each.cols * each.depth) for each in found)


@pytest.mark.parametrize("make", bench.NODES, ids=lambda make: make.__name__)
def test_all_choices_build(make):
    rng = random.Random(f"choices {make.__name__}")
    for _ in range(2):
        node = make(rng)
        operator = operator_of(node)
        found = list(operator.choices())
        assert len(set(found)) == len(found)
        for parallelism in found:
            built = bench.stage(node, parallelism)
            mark_used(built)
            inputs = [built.i] if len(node.inputs) == 1 else [getattr(built, f"i_{i}") for i in range(len(node.inputs))]
            taken = operator.windows.word(parallelism.depth) if operator.is_product else parallelism.cols
            added = operator.lanes(parallelism)
            assert [bench.lanes_of(port) for port in inputs] == [taken, *[added] * (len(inputs) - 1)]
            assert bench.lanes_of(built.o) == operator.lanes(parallelism)
            assert operator_of(node).windows.channels % bench.lanes_of(inputs[0]) == 0


def test_multipliers_and_sums():
    rng = random.Random(5)
    full, own = (bench.convolution(rng, depthwise=each, channels=4) for each in (False, True))
    mean, add, look = bench.average(rng), bench.addition(rng), bench.table(rng)
    wide = Parallelism(cols=2, depth=4)
    assert operator_of(full).multipliers(wide) == 8
    assert [operator_of(node).multipliers(Parallelism(cols=2)) for node in (own, mean, add, look)] == [2, 2, 0, 0]
    assert operator_of(add).requantizer_factors is operator_of(look).requantizer_factors is None
    lows, highs = full.layer.accumulator_range()
    bits, mantissas = operator_of(full).requantizer_factors
    assert mantissas == max(scale.as_integer_ratio()[0].bit_length() for scale in full.layer.scale.tolist())
    assert -(1 << bits - 1) <= lows.min()
    assert highs.max() < 1 << bits - 1


def test_constants_of_columns_take_the_bits_that_differ():
    node = bench.convolution(random.Random(5), channels=4)
    layer = node.layer
    first = {
        name: np.repeat(np.broadcast_to(value, (*np.shape(value)[:-1], layer.n))[..., :1], layer.n, axis=-1)
        for name in ("b", "b_scale", "b_zero_point", "bias")
        if (value := getattr(layer, name)) is not None
    }
    equal = replace(node, layer=replace(layer, **first))
    bits = [[*operator_of(each).lane_memories(1, 4, 2)][-1].bits for each in (node, equal)]
    assert bits[0] > 0
    assert bits[1] == 0
