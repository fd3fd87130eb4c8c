"""onnx's reference evaluator."""

from __future__ import annotations

import ctypes

import numpy as np


def f32(value):
    """`value`, a Python float, rounded once to float32."""
    return ctypes.c_float(value).value


def reference_parameter(parameter, shape, batch, index, axis):
    """The one of `parameter` that the specification applies at row or column `index` of `batch` of an operand."""
    if parameter.size == 1:
        return parameter.ravel()[0].item()
    if parameter.ndim == 1:
        return parameter[index].item()
    own = tuple(0 if n == 1 else i for i, n in zip(batch[len(batch) - len(shape) + 2 :], shape[:-2], strict=True))
    return parameter[(*own, index, 0) if axis == "row" else (*own, 0, index)].item()


def reference(a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point):
    """The accumulators and y by the definition: integers and floats of Python, one output at a time."""
    shape = np.matmul(np.zeros(a.shape), np.zeros(b.shape)).shape
    a2, b2 = a.reshape((1, -1) if a.ndim == 1 else a.shape), b.reshape((-1, 1) if b.ndim == 1 else b.shape)
    batches = np.broadcast_shapes(a2.shape[:-2], b2.shape[:-2])
    full = (*batches, a2.shape[-2], b2.shape[-1])
    a_all, b_all = np.broadcast_to(a2, batches + a2.shape[-2:]), np.broadcast_to(b2, batches + b2.shape[-2:])
    acc, y = np.zeros(full, np.int64), np.zeros(full, np.int64)
    limits = np.iinfo(y_zero_point.dtype)
    for *batch, m, n in np.ndindex(full):
        row, column = (a2.shape, batch, m, "row"), (b2.shape, batch, n, "column")
        a_zp, b_zp = reference_parameter(a_zero_point, *row), reference_parameter(b_zero_point, *column)
        pairs = zip(a_all[(*batch, m)].tolist(), b_all[(*batch, slice(None), n)].tolist(), strict=True)
        total = sum((x - a_zp) * (w - b_zp) for x, w in pairs)
        # products and quotients of float32 in double, rounded to float32, are rounded as if once
        product = f32(reference_parameter(a_scale, *row) * reference_parameter(b_scale, *column))
        scaled = f32(f32(total) * f32(product / y_scale.item()))
        acc[(*batch, m, n)] = total
        y[(*batch, m, n)] = min(max(round(scaled) + y_zero_point.item(), limits.min), limits.max)
    return acc.reshape(shape).astype(np.int32), y.reshape(shape).astype(y_zero_point.dtype)
