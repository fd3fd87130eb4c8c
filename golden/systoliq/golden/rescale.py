"""The normative rescale: from an int32 accumulator to the output format by the float32 formula.

`requantize_float32` is the reference for every other rescale in systoliq, in software and in hardware. The formula of
onnxruntime's QLinearMatMul and QGemm:

    s = f32(f32(a_scale * b_scale) / y_scale)
    y = rint(clip(f32(acc) * s, min - zero_point, max - zero_point)) + zero_point

Every operation rounds once to float32; rint rounds half to even; a product that is NaN gives the smallest output.
"""

from __future__ import annotations

import numpy as np

from .formats import IntFormat


def combined_scale(a_scale: np.ndarray | float, b_scale: np.ndarray | float, y_scale: np.ndarray | float) -> np.ndarray:
    """The scale s = f32(f32(a_scale * b_scale) / y_scale), broadcast; the scales are widened to float32 first.

    The order of the operations matters: `a * (b / y)` differs in the last bit.
    """
    a, b, y = (np.asarray(scale, dtype=np.float32) for scale in (a_scale, b_scale, y_scale))
    with np.errstate(all="ignore"):
        return np.asarray(a * b / y)


def requantize_float32(
    acc: np.ndarray | int, scale: np.ndarray | float, zero_point: int, output: IntFormat
) -> np.ndarray:
    """The normative output for the accumulators `acc` (integers) at `scale` (float32, broadcast against `acc`).

    Defined for every int32 accumulator and every float32 scale, NaN and infinities included. `zero_point` must lie in
    `output`, which has at most 16 bits. Returns an array of `output.dtype`.
    """
    acc = np.asarray(acc)
    if acc.dtype.kind not in "iu":
        raise TypeError(f"acc must hold integers, not {acc.dtype.name}")
    if output.bits > 16:
        raise ValueError(f"output must have at most 16 bits, not {output.bits!r}")
    zero_point = int(zero_point)
    if not output.contains(zero_point):
        raise ValueError(f"zero_point must be in {output.name}, {output.min} to {output.max}, not {zero_point!r}")
    with np.errstate(all="ignore"):
        scaled = acc.astype(np.float32) * np.asarray(scale, dtype=np.float32)
    least = np.float32(output.min - zero_point)
    scaled = np.where(np.isnan(scaled), least, np.clip(scaled, least, np.float32(output.max - zero_point)))
    rounded: np.ndarray = np.rint(scaled).astype(np.int32) + np.int32(zero_point)
    return rounded.astype(output.dtype)
