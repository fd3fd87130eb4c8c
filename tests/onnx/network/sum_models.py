"""Models of sums and their constants."""

from __future__ import annotations

from typing import Any

import numpy as np

TYPES = [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8")]
QDQ = """fa = DequantizeLinear(a, as, az) fw = DequantizeLinear<axis = 0>(w, ws, wz)
    fb = DequantizeLinear<axis = 0>(b, bs, bz) f = Conv<ATTRIBUTES>(fa, fw, fb) y = QuantizeLinear(f, ys, yz)"""
FLOAT_BIAS = """fa = DequantizeLinear(a, as, az) fw = DequantizeLinear<axis = 0>(w, ws, wz)
    f = Conv<ATTRIBUTES>(fa, fw, c) y = QuantizeLinear(f, ys, yz)"""
QLINEAR = "y = QLinearConv<ATTRIBUTES>(a, as, az, w, ws, wz, ys, yz, b)"


def constants_for(rng, kinds: tuple[str, str], shape: tuple[int, ...], *, per_channel: bool) -> dict[str, Any]:
    """Weights, of 7 bits where processors without VNNI would go wrong; bias, scales and zero points."""
    activation, weight = kinds
    low = {"uint8": 0, "int8": -128}
    w = rng.integers(-64, 65, shape) if kinds == ("uint8", "int8") else rng.integers(0, 256, shape) + low[weight]
    count = shape[0] if per_channel else 1
    ws = (2.0 ** rng.uniform(-9, -6, count)).astype(np.float32)
    wz = np.full(count, rng.integers(0, 256) if weight == "uint8" else 0).astype(weight)
    a_scale = np.float32(2.0 ** rng.uniform(-7, -4))
    depth = np.prod(shape[1:])
    return {
        "w": w.astype(weight), "ws": ws if per_channel else ws[0], "wz": wz if per_channel else wz[0],
        "as": a_scale, "az": np.asarray(rng.integers(0, 256) + low[activation]).astype(activation),
        "ys": np.float32(a_scale * ws.mean() * 60 * np.sqrt(depth)),
        "yz": np.asarray(rng.integers(0, 256) + low[activation]).astype(activation),
        "b": rng.integers(-3000, 3000, shape[0]).astype(np.int32),
        "c": (a_scale * ws * rng.uniform(-3000, 3000, shape[0])).astype(np.float32),
        "bs": (a_scale * ws).astype(np.float32) if per_channel else np.float32(a_scale * ws[0]),
        "bz": np.zeros(count, np.int32) if per_channel else np.int32(0),
    }  # fmt: skip
