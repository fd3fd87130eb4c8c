"""Calibration data: samples of a model's inputs from an archive, or random numbers for a first try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.archive import read_arrays

from ..errors import InputError
from ..samples import ONE_INPUT, check_labels
from .float_model import FloatInput, FloatModel

__all__ = ["Samples", "batches", "random_samples", "read_samples", "samples_for"]

_RANDOM = 64  # samples
_SEED = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Samples of a model: float32 `inputs` [M, ...] by name, `labels` [M] if there are any, and the `path` of their
    archive, which is None for random numbers.
    """

    inputs: Mapping[str, npt.NDArray[np.float32]]
    labels: npt.NDArray[Any] | None
    path: Path | None

    @property
    def count(self) -> int:
        """Number of samples."""
        return len(next(iter(self.inputs.values())))

    @property
    def random(self) -> bool:
        """True if the samples are random numbers."""
        return self.path is None

    def first(self, count: int) -> Samples:
        """Return the first `count` samples."""
        inputs = {name: array[:count] for name, array in self.inputs.items()}
        labels = None if self.labels is None else self.labels[:count]
        return Samples(inputs=inputs, labels=labels, path=self.path)


def samples_for(model: FloatModel, path: Path | None) -> Samples:
    """Return the samples in the archive `path`, or random numbers if `path` is None."""
    return random_samples(model) if path is None else read_samples(path, model)


def random_samples(model: FloatModel) -> Samples:
    """Return normally distributed numbers with a fixed seed, which show no real ranges: for a first try only."""
    generator = np.random.default_rng(_SEED)
    count = _RANDOM // (size := max(each.run_batch for each in model.inputs)) * size or size
    inputs = {
        each.name: generator.standard_normal((count, *each.sizes), dtype=np.float32) for each in model.inputs
    }  # fmt: skip
    return Samples(inputs=inputs, labels=None, path=None)


def read_samples(path: Path, model: FloatModel) -> Samples:
    """Return the samples in the archive `path`: an array for each input of `model` under its name (`inputs`, `a` or `x`
    if there is one), and optionally `labels` [M].

    Raises InputError, which names the array, for one that is missing or has another shape or type.
    """
    arrays = read_arrays(path)
    inputs = {}
    for each in model.inputs:
        names = [each.name, *(ONE_INPUT if len(model.inputs) == 1 else ())]
        key = next((name for name in names if name in arrays), None)
        if key is None:
            alone = " (or 'inputs')" if len(model.inputs) == 1 else ""
            held = ", ".join(arrays) or "nothing"
            raise InputError(f"{path}: must hold {each.name!r}{alone}, the input of {model.path.name}, not {held}")
        inputs[each.name] = _checked(path, key, arrays[key], each)
    counts = {name: len(array) for name, array in inputs.items()}
    if len(set(counts.values())) > 1:
        each_count = ", ".join(f"{count} of {name}" for name, count in counts.items())
        raise InputError(f"{path}: all inputs must have the same number of samples, not {each_count}")
    labels = arrays.get("labels")
    check_labels(path, labels, inputs.values())
    return Samples(inputs=inputs, labels=labels, path=path)


def batches(model: FloatModel, samples: Samples, size: int = 1) -> Iterator[dict[str, npt.NDArray[np.float32]]]:
    """Yield all samples, `size` at a time, or as many as the model's batch if it is fixed."""
    fixed = next((each.batch for each in model.inputs if each.batch is not None), None)
    step = fixed or size
    for start in range(0, samples.count, step):
        yield {name: array[start : start + step] for name, array in samples.inputs.items()}


def _checked(path: Path, key: str, array: npt.NDArray[Any], wanted: FloatInput) -> npt.NDArray[np.float32]:
    if array.dtype.kind != "f":
        raise InputError(
            f"{path}: {key} must hold real numbers (float32), as {wanted.name!r} of the model takes them, not "
            f"{array.dtype}: scale them as for training"
        )
    if array.ndim == 2 and len(wanted.sizes) > 1 and array.shape[1] == np.prod(wanted.sizes):
        array = array.reshape(-1, *wanted.sizes)
    if array.shape[1:] != wanted.sizes or array.ndim != len(wanted.sizes) + 1:
        raise InputError(f"{path}: {key} must have the shape {wanted.shape}, not {list(array.shape)}")
    if not len(array) or len(array) % wanted.run_batch:
        raise InputError(
            f"{path}: {key} must hold a positive multiple of {wanted.run_batch} samples, the batch of the model, not "
            f"{len(array)}"
        )
    if not np.isfinite(array).all():
        raise InputError(f"{path}: {key} must be finite")
    return array.astype(np.float32)
