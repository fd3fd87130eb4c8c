"""Settings of onnxruntime's static quantizer: those whose models the hardware takes whole."""

from __future__ import annotations

from typing import Any

from ..errors import need

__all__ = ["CALIBRATIONS", "WEIGHT_BITS", "quantizer_settings"]

CALIBRATIONS = {"minmax": "MinMax", "entropy": "Entropy", "percentile": "Percentile"}
"""Methods that choose the range of activations, and their names in onnxruntime."""

WEIGHT_BITS = {8: "QInt8", 4: "QInt4"}
"""Widths of weights, and their types in onnxruntime."""


def quantizer_settings(calibration: str = "minmax", weight_bits: int = 8) -> dict[str, Any]:
    """Return the arguments of ``onnxruntime.quantization.quantize_static``: QuantizeLinear and DequantizeLinear, int8
    activations, and signed weights of `weight_bits` bits with zero point 0 and a scale for each output channel.
    """
    ort = need("onnxruntime.quantization", "onnxruntime", "quantizing a model")
    return {
        "quant_format": ort.QuantFormat.QDQ,
        "activation_type": ort.QuantType.QInt8,
        "weight_type": ort.QuantType[WEIGHT_BITS[weight_bits]],
        "per_channel": True,
        "calibrate_method": ort.CalibrationMethod[CALIBRATIONS[calibration]],
        "extra_options": {"WeightSymmetric": True},
    }
