"""Data of a network: inputs with the classes or the outputs that are right, from the user's archive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.archive import read_arrays
from systoliq.golden.network import Network, Source

from ..errors import InputError
from ..samples import ONE_INPUT

__all__ = ["NetworkData", "digits_data", "network_inputs", "read_network_data"]

_REFERENCES = ("outputs", "y")


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkData:
    """Inputs by the names of the graph's inputs (real numbers) or of their integer tensors, M of each, and `classes`
    [M]: labels, or the places of the greatest reference outputs.
    """

    inputs: Mapping[str, npt.NDArray[Any]]
    classes: npt.NDArray[np.int64]
    origin: str

    def for_network(self, net: Network, wide: Network) -> dict[str, npt.NDArray[Any]]:
        """The inputs of `net`, which is `wide` at other widths."""
        taken = dict(self.inputs)
        for source, own in zip(net.sources, wide.sources, strict=True):
            name = own.tensor.name
            if name in taken and taken[name].dtype.kind != "f" and source.tensor.format != own.tensor.format:
                taken[name] = source.tensor.quantize(own.tensor.dequantize(own.tensor.check(taken[name])))
        return taken


def read_network_data(path: Path, net: Network) -> NetworkData:
    """The data of the archive `path`: an array for each input of `net`, under its name (or `inputs`, of the only one),
    and `labels` [M] or reference `outputs` [M, classes] of the network's output.

    Raises InputError, which names the array, if an array does not fit.
    """
    arrays = read_arrays(path)
    classes = outputs_of(net)
    labels = arrays.get("labels")
    inputs = network_inputs(path, arrays, net)
    count = len(next(iter(inputs.values())))
    reference = next((arrays[name] for name in _REFERENCES if name in arrays), None)
    if (labels is None) == (reference is None):
        raise InputError(f"{path}: must have 'labels' or reference 'outputs' (or 'y'), one of them")
    if labels is not None:
        right = _labels(path, labels, count, classes)
    else:
        assert reference is not None  # noqa: S101 - one of the two is there
        right = _reference(path, reference, count, classes)
    return NetworkData(inputs=inputs, classes=right, origin=f"{count} images of {path.name}")


def network_inputs(path: Path, arrays: Mapping[str, npt.NDArray[Any]], net: Network) -> dict[str, npt.NDArray[Any]]:
    """The `arrays` of the archive `path` that are inputs of `net`, as `Network.golden` takes them."""
    inputs = {}
    for source in net.sources:
        names = [source.tensor.name, source.name, *(ONE_INPUT if len(net.sources) == 1 else ())]
        key = next((name for name in names if name in arrays), None)
        if key is None:
            held = ", ".join(arrays) or "none"
            alone = " (or 'inputs')" if len(net.sources) == 1 else ""
            raise InputError(f"{path}: must have the key {source.name!r}{alone}, the network's input; it has {held}")
        name, array = _checked(path, key, arrays[key], source)
        inputs[name] = array
    counts = {len(array) for array in inputs.values()}
    if len(counts) > 1 or not min(counts):
        raise InputError(f"{path}: all inputs must have as many images, at least one, not {sorted(counts)}")
    return inputs


def outputs_of(net: Network) -> int:
    """Classes that the network can have: elements of its only output; InputError where it has several."""
    if len(net.outputs) != 1:
        raise InputError(f"a network with classes must have one output, not {len(net.outputs)}")
    return int(np.prod(net.outputs[0].shape[1:]))


def _checked(path: Path, key: str, array: npt.NDArray[Any], source: Source) -> tuple[str, npt.NDArray[Any]]:
    """Name and array as `Network.golden` takes them."""
    real = array.dtype.kind == "f" or (key != source.tensor.name and source.takes(array.dtype))
    shape, name = (source.shape, source.name) if real else (source.tensor.shape, source.tensor.name)
    if array.ndim == 2 and len(shape) > 2 and array.shape[1] == np.prod(shape[1:]):
        array = array.reshape(-1, *shape[1:])
    if array.ndim != len(shape) or array.shape[1:] != shape[1:]:
        wanted = ", ".join(["M", *map(str, shape[1:])])
        raise InputError(f"{path}: {key} must have the shape [{wanted}], not {list(array.shape)}")
    try:
        if real:
            if not np.isfinite(array).all():
                raise InputError(f"{path}: {key} must be finite")
            source.quantize(array[:1])
        else:
            source.tensor.check(array)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: {key}: {error}") from error
    return name, array


def _labels(path: Path, labels: npt.NDArray[Any], count: int, classes: int) -> npt.NDArray[np.int64]:
    if labels.shape != (count,) or labels.dtype.kind not in "iu":
        raise InputError(
            f"{path}: labels must be integers of shape [{count}], one for each image, not {labels.dtype} of shape "
            f"{list(labels.shape)}"
        )
    if labels.min() < 0 or labels.max() >= classes:
        wrong = int(labels.max() if labels.max() >= classes else labels.min())
        raise InputError(
            f"{path}: labels must be within 0 to {classes - 1}, the classes of the network's output, not {wrong}"
        )
    return labels.astype(np.int64)


def _reference(path: Path, outputs: npt.NDArray[Any], count: int, classes: int) -> npt.NDArray[np.int64]:
    if outputs.shape[:1] != (count,) or outputs.size != count * classes or outputs.dtype.kind not in "fiu":
        raise InputError(
            f"{path}: outputs must be numbers of shape [{count}, {classes}], not {outputs.dtype} of shape "
            f"{list(outputs.shape)}"
        )
    if not np.isfinite(outputs).all():
        raise InputError(f"{path}: outputs must be finite")
    right: npt.NDArray[np.int64] = outputs.reshape(count, classes).argmax(axis=1).astype(np.int64)
    return right


def digits_data(net: Network) -> NetworkData:
    """The test images of scikit-learn's digits, for the presets digits-cnn and digits-vit."""
    from ..design.digits import split_digits  # needs scikit-learn, which only the presets ask for

    _, images, _, labels = split_digits()
    shaped = images.reshape(-1, *net.sources[0].shape[1:]).astype(np.float32)
    return NetworkData(
        inputs={net.sources[0].name: shaped}, classes=labels.astype(np.int64), origin=f"{len(labels)} test digits"
    )
