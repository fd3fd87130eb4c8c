"""The constants of a sum that is added to before it is rounded."""

from __future__ import annotations

import random

import numpy as np

from systoliq.golden.network import ResidualSum, Window

from ...hw.network import stage_bench as bench


def test_the_constants_are_its_own():
    """A change of the caller's arrays afterwards is not seen, and the node's own cannot be written to."""
    rng = random.Random(2)
    window = Window(kernel=(1, 1))
    x, addend, y = (bench.tensor(name, (1, 2, 3, 3), rng) for name in "xay")
    fields = bench.residual_fields(x, addend, y, window.kernel, 1, rng)
    node = ResidualSum(name="sum", inputs=(x, addend), output=y, window=window, groups=1, **fields)
    for name in ("factors", "constants"):
        before = fields[name].copy()
        fields[name] += 1
        np.testing.assert_array_equal(getattr(node, name), before)
        assert not getattr(node, name).flags.writeable
