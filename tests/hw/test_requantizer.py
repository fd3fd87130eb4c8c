"""Requantizer: the integer forms of golden in every output format; exactness is in test_requantizer_exact.py."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, IntFormat
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.hw.requantizer import Requantizer, RequantizerConfig

from .bench import simulate


@pytest.mark.parametrize("output", [INT8, IntFormat(4, signed=False), IntFormat(13, signed=True)], ids=str)
@pytest.mark.parametrize("rounding", Rounding)
def test_requantizer_equals_golden(rounding, output):
    scales = np.array([2.0**-3, 0.3, 1.7e-4, 1.0], np.float32)
    requantization = Requantization.from_scales(scales, 3, output, rounding=rounding)
    rng = np.random.default_rng(0)
    acc = (rng.standard_normal((40, 4)) * 2.0 ** rng.integers(0, 27, (40, 1))).astype(np.int32)
    acc[:8] = np.arange(-16, 16).reshape(8, 4)  # ties of the first scale
    block = Requantizer(RequantizerConfig.of(requantization, 32))
    got = []

    async def testbench(ctx):
        ctx.set(block.zero_point, requantization.zero_point)
        for cycle in range(acc.size + block.latency):
            if cycle >= block.latency:
                got.append(ctx.get(block.y))
            if cycle < acc.size:
                column = cycle % 4
                ctx.set(block.acc, int(acc.flat[cycle]))
                for name in ("multiplier", "shift", "offset"):
                    ctx.set(getattr(block, name), getattr(requantization, name)[column])
            await ctx.tick()

    simulate(block, testbench)
    np.testing.assert_array_equal(np.reshape(got, acc.shape), requantization.apply(acc))
