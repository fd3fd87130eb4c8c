"""Samples in an archive: inputs by name, with the right class of each, and the share that a result's maxima hit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InputError

__all__ = ["ONE_INPUT", "check_labels", "hit_share"]

ONE_INPUT = ("inputs", "a", "x")
"""Names in an archive for the input of a model with one input."""


def check_labels(path: Path, labels: npt.NDArray[Any] | None, operands: Iterable[npt.ArrayLike]) -> None:
    """Raise InputError unless `labels` [M] of the archive `path` are classes, one for each of the M inputs of
    `operands`; None is accepted.
    """
    if labels is None:
        return
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or not labels.size or int(labels.min()) < 0:
        raise InputError(
            f"{path}: labels must be integers of at least 0 of shape [M], not {labels.dtype} of the shape "
            f"{list(labels.shape)}"
        )
    shapes = [np.shape(each) for each in operands]
    if not any(shape and len(labels) in (shape[0], math.prod(shape[:-1])) for shape in shapes):
        inputs = next((shape[0] for shape in shapes if shape), 0)
        raise InputError(f"{path}: labels must be one for each of {inputs} inputs, not {len(labels)}")


def hit_share(path: Path, labels: npt.NDArray[Any], y: npt.NDArray[Any]) -> float:
    """Return the share of `labels` [M] of the archive `path` that the positions of the maxima of `y` [M, ...] equal.

    Raises InputError if `y` does not have M results, or a label is not one of their classes.
    """
    if y.size % len(labels):
        raise InputError(f"{path}: labels must be one for each result of the shape {list(y.shape)}, not {len(labels)}")
    scores = y.reshape(len(labels), -1)
    classes = scores.shape[1]
    if int(labels.max()) >= classes:
        raise InputError(f"{path}: labels must be 0 to {classes - 1}, the output's classes, not {int(labels.max())}")
    return float(np.mean(np.argmax(scores, axis=1) == labels))
