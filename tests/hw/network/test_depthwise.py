"""Depthwise products and convolutions: golden's integers for random images, whatever stalls."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.golden import E4M3FN, E5M2, INT8, UINT8, MatMulLayer, Requantization
from systoliq.golden.formats import IntFormat
from systoliq.hw.network.depthwise import Depthwise

from ..bench import receive, send, simulate


def layer_of(k, n, *, a=INT8, b=INT8, y=INT8, b_zero_point=0, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    form = b
    weights = rng.integers(form.min, form.max + 1, (k, n)).astype(form.dtype) if weights is None else weights
    return MatMulLayer(
        b=weights, a_scale=0.02, b_scale=rng.uniform(0.005, 0.02, n).astype(np.float32),
        y_scale=np.float32(0.02 * np.sqrt(k)),
        a_zero_point=np.array(a.min + 100, a.dtype), b_zero_point=np.array(b_zero_point, b.dtype),
        y_zero_point=np.array(y.min + 120, y.dtype), bias=rng.integers(-500, 500, n).astype(np.int32),
    )  # fmt: skip


def golden(layer, a):
    """Each column of [images, k, n] by itself."""
    return np.stack([layer.golden(a[:, :, c])[:, c] for c in range(layer.n)], axis=1)


CASES = [
    (9, 6, 2, 1, {}),
    (1, 3, 3, 3, {}),
    (4, 8, 8, 2, {"a": UINT8, "y": UINT8}),
    (25, 2, 1, 1, {"b": UINT8, "b_zero_point": 3}),
    (5, 10, 5, 1, {"weights": np.ones((5, 10), np.int8)}),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("comes", "goes"), [(1.0, 1.0), (0.4, 1.0), (1.0, 0.2), (0.6, 0.7)])
@pytest.mark.parametrize(("k", "n", "lanes", "requantizers", "fields"), CASES)
def test_equals_golden(k, n, lanes, requantizers, fields, comes, goes):
    layer = layer_of(k, n, **fields)
    requantization = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    block = Depthwise(layer, requantization, lanes=lanes, cells="portable", kind="dw")
    rng = np.random.default_rng(k)
    form: IntFormat = layer.a_format
    a = rng.integers(form.min, form.max + 1, (12, k, n)).astype(form.dtype)
    groups = n // lanes
    beats = a.reshape(12, k, groups, lanes).transpose(0, 2, 1, 3).reshape(-1, lanes).tolist()
    marks = [(i + 1) % (3 * k * groups) == 0 for i in range(len(beats))]
    given = [{"data": beat, "last": mark} for beat, mark in zip(beats, marks, strict=True)]
    y = golden(layer, a).reshape(-1, requantizers)
    wanted = [
        sum((int(value) & 255) << 8 * lane for lane, value in enumerate(row))
        | (int((i + 1) % (3 * n // requantizers) == 0) << 8 * requantizers)
        for i, row in enumerate(y)
    ]
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, given, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(wanted), random.Random(2), goes))

    simulate(block, sender, receiver)
    assert taken == wanted


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"k": 3, "n": 4, "lanes": 3}, "lanes must divide the 4 channels, not 3"),
        (
            {"k": 140_000, "n": 1, "lanes": 1, "weights": np.full((140_000, 1), -128, np.int8)},
            r"sums must fit 32 bits, not 33: -\d+ to \d+",
        ),
    ],
)
def test_what_there_is_no_hardware_for(fields, message):
    lanes = fields.pop("lanes")
    layer = layer_of(**fields)
    constants = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    with pytest.raises(ValueError, match=message):
        Depthwise(layer, constants, lanes=lanes, cells="portable", kind="depthwise")


def test_float8_is_refused():
    layer = MatMulLayer(
        b=np.ones((2, 1), np.uint8), a_format=E5M2, b_format=E4M3FN, y_format=INT8, a_zero_point=0, b_zero_point=0,
        y_zero_point=0, a_scale=1.0, b_scale=1.0, y_scale=1.0,
    )  # fmt: skip
    with pytest.raises(ValueError, match="a and b must be integers, not float8_e5m2 and float8_e4m3fn"):
        Depthwise(layer, Requantization.from_scales(1.0, 0, INT8), lanes=1, cells="portable", kind="depthwise")
