"""Rounding to float32: what numpy makes of the same integer."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.hw.float32 import FLOAT32_BITS, RoundToFloat32

from .bench import corner_of, trace


def numbers(bits, rng):
    """Of every size; on, at and next to ties between neighbouring float32."""
    yield from (0, 1, -1, (1 << bits - 1) - 1, -(1 << bits - 1))
    for leading in range(bits - 1):
        for _ in range(4):
            value = 1 << leading | rng.getrandbits(leading) if leading else 1
            lost = leading + 1 - FLOAT32_BITS
            if lost > 0 and rng.random() < 0.7:
                value = value >> lost << lost | 1 << lost - 1
                value += rng.choice([-1, 0, 0, 1])
            yield rng.choice([1, -1]) * min(value, (1 << bits - 1) - 1)
        yield (2 << leading) - 1  # rounds up to a power of two where it is long
        yield -(1 << leading)
    yield from (corner_of(rng, bits) for _ in range(100))


@pytest.mark.parametrize("bits", [26, 27, 32, 33, 48])
@pytest.mark.parametrize("registered", [True, False])
def test_equals_numpy(bits, registered):
    block = RoundToFloat32(bits, registered=registered)
    given = list(numbers(bits, random.Random(bits)))
    shown = trace(block, [{"number": number} for number in given] + [{}] * block.latency)[block.latency :]
    assert [line["rounded"] for line in shown] == [int(np.float32(number)) for number in given]
