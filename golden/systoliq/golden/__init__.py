"""The golden model: what the answer is, to the bit. numpy only; imports nothing else of systoliq."""

from .formats import INT8, INT32, UINT8, IntFormat
from .rescale import combined_scale, requantize_float32

__all__ = ["INT8", "INT32", "UINT8", "IntFormat", "combined_scale", "requantize_float32"]
