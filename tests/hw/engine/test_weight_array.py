"""The weight-stationary array: partial sums of every row of A with the weights that came before it."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.golden import INT8
from systoliq.hw import ArrayConfig
from systoliq.hw.engine.weight_array import PARTIAL_BITS, WeightStationaryArray, WeightStationaryElement

from ..bench import corner, corner_of, trace, wrapped

SIZES = [(1, 1, 1), (1, 4, 2), (5, 1, 1), (3, 4, 1), (4, 3, 3)]  # rows, cols, depth


def numbers(rng, *shape):
    return np.array([corner(rng, INT8.min, INT8.max) for _ in range(int(np.prod(shape)))]).reshape(shape)


def skewed(given, none, cycles):
    """Lane i of the words i cycles late."""
    return [[[int(x) for x in (given.get(t - lane, none))[lane]] for lane in range(len(none))] for t in range(cycles)]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("reset", [False, True])
def test_partial_sums_of_chunk_after_chunk(size, reset):
    rows, cols, depth = size
    array = WeightStationaryArray(ArrayConfig(rows=rows, cols=cols, depth=depth))
    rng = random.Random(rows)
    a, b, load, swap, wanted = {}, {}, {}, {}, {}
    weights = np.zeros((rows, cols, depth), int)
    at, busy = 1, 0  # `busy`: cycle from which the next weights may be loaded
    for chunk in range(5):
        kept = range(rows) if chunk % 2 == 0 else sorted(rng.sample(range(rows), rng.randrange(1, rows + 1)))
        following = weights.copy()
        loading = max(busy, at - rows)
        for row in kept:
            loading += rng.random() < 0.3
            b[loading], load[loading] = numbers(rng, cols, depth), row
            b[loading][0] = 1
            following[row] = b[loading]
            loading += 1
        at = max(at, loading)
        swap[at], busy, weights = True, at + 1, following
        for _ in range(rng.randrange(1, 6)):
            if rng.random() < 0.7 or at in swap:
                a[at] = numbers(rng, rows, depth)
                wanted[at] = np.einsum(
                    "rd,rcd->c", a[at], np.concatenate([np.ones_like(weights[:, :1]), weights[:, 1:]], 1)
                )
            at += 1
    cycles = at + array.latency + cols
    none_a, none_b = np.zeros((rows, depth), int), np.ones((cols, depth), int)
    lines = [
        {"a": x, "b": y, "load": t in load, "load_row": load.get(t, 0), "swap": t in swap}
        for t, (x, y) in enumerate(zip(skewed(a, none_a, cycles), skewed(b, none_b, cycles), strict=True))
    ]
    before = [*lines[: cycles // 2], {**lines[0], "rst": 1}] if reset else []
    shown = trace(array, before + [line | {"rst": 0} for line in lines])[len(before) :]
    for t, sums in wanted.items():
        assert [shown[t + array.latency + col]["sums"][col] for col in range(cols)] == sums.tolist(), t


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("top", [False, True])
def test_element_adds_to_what_comes_from_above(depth, ones, top):
    config = ArrayConfig(depth=depth)
    rng = random.Random(depth)
    lines = []
    for _ in range(120):
        line = {
            "a": numbers(rng, depth).tolist(), "b": numbers(rng, depth).tolist(),
            "load": rng.random() < 0.3, "swap": rng.random() < 0.2,
        }  # fmt: skip
        lines.append(line | ({} if top else {"partial": corner_of(rng, PARTIAL_BITS)}))
    shown = trace(WeightStationaryElement(config, top=top, ones=ones), lines)
    latency = WeightStationaryElement.latency_of(config)
    coming = weights = [0] * depth
    for t, line in enumerate(lines):
        weights = coming if line["swap"] else weights
        coming = line["b"] if line["load"] else coming
        if t + latency < len(lines):
            above = 0 if top else lines[t + latency - 1]["partial"]
            product = sum(x * y for x, y in zip(line["a"], [1] * depth if ones else weights, strict=True))
            assert shown[t + latency]["partial_next"] == wrapped(above + product, PARTIAL_BITS), t
        if t:
            onward = shown[t]
            assert (list(onward["a_next"]), list(onward["b_next"])) == (lines[t - 1]["a"], lines[t - 1]["b"])
            assert (onward["load_next"], onward["swap_next"]) == (lines[t - 1]["load"], lines[t - 1]["swap"])
