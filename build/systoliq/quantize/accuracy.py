"""Accuracy of a float model and of the quantized one, by onnxruntime, on the same samples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..onnx.runtime import Session
from ..samples import hit_share
from .calibration import Samples, batches
from .float_model import FloatModel

__all__ = ["Accuracy", "compare_accuracy", "model_outputs"]

_BATCH = 64  # samples of a run, where the model leaves that open


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """Top-1 accuracy on `samples` samples: shares of right labels of the float and the quantized model (None without
    labels), and the share of samples to which both give the same class.
    """

    samples: int
    float_: float | None
    quantized: float | None
    agreement: float

    def as_json(self) -> dict[str, Any]:
        """Return the figures, ready for JSON."""
        return {
            "samples": self.samples, "float": self.float_, "quantized": self.quantized, "agreement": self.agreement
        }  # fmt: skip

    def lines(self) -> list[tuple[str, str]]:
        """Return the figures as pairs of a label and a text."""
        rows = []
        if self.float_ is not None and self.quantized is not None:
            rows.append(
                ("accuracy", f"float {self.float_:.2%}, quantized {self.quantized:.2%}, of {self.samples} samples")
            )
        return [
            *rows,
            (
                "agreement",
                f"the quantized model gives the same class for {self.agreement:.2%} of {self.samples} samples",
            ),
        ]


def compare_accuracy(model: FloatModel, quantized: Path, samples: Samples) -> Accuracy | None:
    """Return the accuracy of both models on all `samples`; None if the output has no classes and there are no labels.

    Raises InputError if there are labels and the model has several outputs, or a label is no class.
    """
    outputs = len(model.graph.graph.output)
    if outputs > 1:
        if samples.labels is None:
            return None
        raise InputError(f"{samples.path}: labels need a model with one output, not {outputs}")
    exact, ours = (model_outputs(path, model, samples) for path in (model.path, quantized))
    if samples.labels is not None and samples.path is not None:
        hits = [hit_share(samples.path, samples.labels, y) for y in (exact, ours)]
        return Accuracy(samples=samples.count, float_=hits[0], quantized=hits[1], agreement=_agreement(exact, ours))
    if exact.ndim != 2 or exact.shape[1] < 2:
        return None
    return Accuracy(samples=samples.count, float_=None, quantized=None, agreement=_agreement(exact, ours))


def model_outputs(path: Path, model: FloatModel, samples: Samples) -> npt.NDArray[Any]:
    """Return the first output of the model in the file `path`, float or quantized, for all `samples`."""
    session = Session(str(path), str(path))
    return np.concatenate([session.run([model.output], feed)[model.output] for feed in batches(model, samples, _BATCH)])


def _agreement(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float:
    classes = (y.reshape(len(y), -1).argmax(axis=1) for y in (first, second))
    return float(np.mean(np.equal(*classes)))
