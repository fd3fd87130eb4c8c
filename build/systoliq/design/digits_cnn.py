"""The preset `digits-cnn`: a small convolutional network for scikit-learn's digits, trained and quantized beforehand.

Conv 3 x 3, Relu, Conv 3 x 3 with stride 2, Relu, Gemm; images [M, 1, 8, 8] of 0 to 16 in, ten scores out. The program
`examples/train_digits_cnn.py` made both models.
"""

from __future__ import annotations

from pathlib import Path

from systoliq.golden.network import Network

from ..onnx import read_network

__all__ = ["FLOAT_MODEL", "INT8_MODEL", "digits_cnn"]

_MODELS = Path(__file__).with_name("models")
FLOAT_MODEL = _MODELS / "digits_cnn_float.onnx"
INT8_MODEL = _MODELS / "digits_cnn.onnx"


def digits_cnn() -> tuple[Network, str]:
    """The network, and where it comes from."""
    return read_network(INT8_MODEL), f"the model {INT8_MODEL.name} of this package, trained on scikit-learn's digits"
