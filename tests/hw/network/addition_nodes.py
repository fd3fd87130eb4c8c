"""Nodes of additions."""

from __future__ import annotations

import numpy as np

from systoliq.golden.network import Addition, Tensor


def node(scales, form):
    """A golden addition of [1, 256, 256], and its operands: all pairs."""
    points = [form.min, form.min + 100, form.min + 131]
    tensors = [
        Tensor(name=name, shape=(1, 256, 256), format=form, scale=np.float32(scale), zero_point=point)
        for name, scale, point in zip("aby", scales, points, strict=True)
    ]
    codes = tensors[0].codes
    pairs = np.broadcast_arrays(codes[None, :, None], codes[None, None, :])
    return Addition(name="sum", inputs=tuple(tensors[:2]), output=tensors[2]), pairs
