"""A layer whose weights are too many to stand in the Verilog."""

from __future__ import annotations

import numpy as np

from systoliq.design import LayerDesign, LayerOptions
from systoliq.golden import MatMulLayer

__all__ = ["FILES", "K", "N", "big_design", "big_layer"]

K, N = 48, 44
FILES = ["big_weights_0_rom.mem", "big_weights_1_rom.mem"]


def big_layer(**changes):
    """48 x 44: two columns of the array have 1056 words each at depth 1."""
    rng = np.random.default_rng(7)
    arrays = {
        "b": rng.integers(-128, 128, (K, N)).astype(np.int8),
        "b_scale": np.float32(0.01),
        "b_zero_point": np.int8(0),
        "a_scale": np.float32(0.1),
        "a_zero_point": np.uint8(128),
        "y_scale": np.float32(1.5),
        "y_zero_point": np.int8(-3),
    }
    return MatMulLayer(name="big", **(arrays | changes))


def big_design(**changes):
    return LayerDesign(big_layer(**changes), LayerOptions(rows=1, cols=2, depth=1), name="big", origin="")
