"""The preset `digits-vit`: a small vision transformer for scikit-learn's digits, trained and quantized beforehand.

Images [M, 1, 8, 8] of 0 to 16 in, as 16 tokens of 2 x 2 pixels; two layers of attention with two heads,
LayerNormalization and Gelu; ten scores out. The program `examples/train_digits_vit.py` made both models.
"""

from __future__ import annotations

from pathlib import Path

from systoliq.golden.network import Network

from ..onnx import read_network

__all__ = ["FLOAT_MODEL", "INT8_MODEL", "digits_vit"]

_MODELS = Path(__file__).with_name("models")
FLOAT_MODEL = _MODELS / "digits_vit_float.onnx"
INT8_MODEL = _MODELS / "digits_vit.onnx"


def digits_vit() -> tuple[Network, str]:
    """The network, and where it comes from."""
    return read_network(INT8_MODEL), f"the model {INT8_MODEL.name} of this package, trained on scikit-learn's digits"
