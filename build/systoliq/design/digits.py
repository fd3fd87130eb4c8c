"""The preset `digits`: scikit-learn's handwritten digits, a linear classifier trained on them, and its int8 layer."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.formats import INT8
from systoliq.golden.layer import MatMulLayer

from ..errors import need

__all__ = ["Digits", "split_digits", "train_digits"]

_PURPOSE = "the source digits and the demo"
_SEED = 0
_TEST_SHARE = 0.25
_LARGEST_PIXEL = 16.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Digits:
    """A trained classifier, 64 -> 10, with the images that it has not seen.

    `images` [M, 8, 8] hold 0 to 16; `a` [M, 64] are the same in int8, and `labels` [M] what they show. `weights` [64,
    10] and `bias` [10] are the float classifier's.
    """

    layer: MatMulLayer
    origin: str
    images: npt.NDArray[np.float64]
    a: npt.NDArray[np.int8]
    labels: npt.NDArray[np.int64]
    float_accuracy: float
    weights: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]

    def accuracy(self, logits: npt.NDArray[Any]) -> float:
        """Share of the images for which the greatest of `logits` [M, 10] is the label's; the first of equals counts."""
        return float(np.mean(logits.argmax(axis=1) == self.labels))


def split_digits() -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Images to learn from, images to test with, [M, 64] of 0 to 16 each, and the labels [M] of both."""
    datasets = need("sklearn.datasets", "scikit-learn", _PURPOSE)
    model_selection = need("sklearn.model_selection", "scikit-learn", _PURPOSE)
    loaded = datasets.load_digits()
    train_x, test_x, train_labels, test_labels = model_selection.train_test_split(
        loaded.data, loaded.target, test_size=_TEST_SHARE, random_state=_SEED, stratify=loaded.target
    )
    return train_x, test_x, train_labels, test_labels


@functools.cache
def train_digits() -> Digits:
    """Train a logistic regression on three quarters of the images, and quantize it with one scale per class.

    Activations are int8 with zero point -128 (pixels are never negative); weights int8, symmetric, per column; the bias
    int32 at scale a_scale * b_scale; logits int8, over the range of the training images.
    """
    linear_model = need("sklearn.linear_model", "scikit-learn", _PURPOSE)
    train_x, test_x, train_labels, test_labels = split_digits()
    classifier = linear_model.LogisticRegression(C=0.5, max_iter=2000)
    classifier.fit(train_x / _LARGEST_PIXEL, train_labels)
    weights = classifier.coef_.T / _LARGEST_PIXEL  # [64, 10], for pixels of 0 to 16
    bias = classifier.intercept_
    train_logits = train_x @ weights + bias
    layer = _quantized(weights, bias, train_logits.min(), train_logits.max())
    return Digits(
        layer=layer,
        origin=f"logistic regression on {len(train_x)} of scikit-learn's digits (split seed {_SEED}), quantized to "
        "int8 with one weight scale per class",
        images=test_x.reshape(-1, 8, 8),
        a=_quantize(test_x, layer),
        labels=test_labels,
        float_accuracy=float(np.mean((test_x @ weights + bias).argmax(axis=1) == test_labels)),
        weights=weights,
        bias=bias,
    )


def _quantized(weights: npt.NDArray[Any], bias: npt.NDArray[Any], least: float, most: float) -> MatMulLayer:
    a_scale = np.float32(_LARGEST_PIXEL / (INT8.max - INT8.min))
    b_scale = (np.abs(weights).max(axis=0) / INT8.max).astype(np.float32)
    y_scale = np.float32((most - least) / (INT8.max - INT8.min))
    return MatMulLayer(
        name="digits",
        b=INT8.saturate(np.rint(weights / b_scale)),
        a_scale=a_scale,
        a_zero_point=np.int8(INT8.min),
        b_scale=b_scale,
        b_zero_point=np.int8(0),
        y_scale=y_scale,
        y_zero_point=np.int8(np.clip(np.rint(INT8.min - least / y_scale), INT8.min, INT8.max)),
        bias=np.rint(bias / (a_scale * b_scale)).astype(np.int32),
    )


def _quantize(pixels: npt.NDArray[Any], layer: MatMulLayer) -> npt.NDArray[np.int8]:
    quantized: npt.NDArray[np.int8] = INT8.saturate(np.rint(pixels / layer.a_scale) + layer.a_zero_point)
    return quantized
