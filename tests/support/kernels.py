"""What onnxruntime's kernels do on the processor that the tests run on."""

from __future__ import annotations

from functools import cache

import numpy as np
import onnxruntime
from onnx import parser

__all__ = ["saturates"]

_MODEL = """<ir_version: 8, opset_import: ["": 13]> g (uint8[1, 32] a, int8[32, 16] b) => (int32[1, 16] y) {
    y = MatMulInteger(a, b) }"""


@cache
def saturates() -> bool:
    """True if sums of products of uint8 by int8 saturate, as on x86 without VNNI: docs/onnx.md."""
    session = onnxruntime.InferenceSession(parser.parse_model(_MODEL).SerializeToString())
    (y,) = session.run(None, {"a": np.full((1, 32), 255, np.uint8), "b": np.full((32, 16), 127, np.int8)})
    return bool((y != 32 * 255 * 127).any())
