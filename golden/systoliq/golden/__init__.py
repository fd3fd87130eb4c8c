"""The golden model, which defines every result bit for bit. Needs only numpy; imports nothing else of systoliq."""

from .dynamic import Quantized, dynamic_quantize_linear
from .exact import SmallestExact, certificate, smallest_exact
from .float8 import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, FLOAT8, Float8Format
from .float8_matmul import sum_bits
from .formats import INT8, INT32, UINT8, IntFormat, signed_bits
from .layer import MatMulLayer
from .operators import matmul_integer, qlinear_matmul
from .requantization import Requantization, Rounding
from .rescale import combined_scale, requantize_float32
from .thresholds import Steps, count_differences, float32_steps, integer_steps
from .unscaled import Unscaled

__all__ = [
    "E4M3FN",
    "E4M3FNUZ",
    "E5M2",
    "E5M2FNUZ",
    "FLOAT8",
    "INT8",
    "INT32",
    "UINT8",
    "Float8Format",
    "IntFormat",
    "MatMulLayer",
    "Quantized",
    "Requantization",
    "Rounding",
    "SmallestExact",
    "Steps",
    "Unscaled",
    "certificate",
    "combined_scale",
    "count_differences",
    "dynamic_quantize_linear",
    "float32_steps",
    "integer_steps",
    "matmul_integer",
    "qlinear_matmul",
    "requantize_float32",
    "signed_bits",
    "smallest_exact",
    "sum_bits",
]
