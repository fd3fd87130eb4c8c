"""Network files: a whole `Network` in an .npz archive, from which it can be rebuilt.

| description              | JSON: each object's class under "is", and its fields; {"array": PLACE} is an array |
| PLACE, "nodes/0/layer/b" | an array of a layer, a table or a constant, by the fields that lead to it          |
"""

from __future__ import annotations

import dataclasses
import functools
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..archive import read_arrays
from ..discovery import modules_of
from ..formats import IntFormat
from ..layer import MatMulLayer
from ..limits import NETWORK_DESCRIPTION
from .linear import Blend
from .moves import Cast, Chain, Gather, Nearest, Reshape, Transpose
from .network import Network, Source
from .node import Node
from .tensor import Tensor
from .window import Window

__all__ = ["is_network_file", "load_network", "network_arrays"]

Arrays = Mapping[str, npt.NDArray[Any]]

_DESCRIPTION = "description"
_OMITTED = ("channels_last", "channels_second")  # where they are False
_CLASSES = {
    each.__name__: each
    for each in (
        Network, Source, Tensor, IntFormat, MatMulLayer, Window, Reshape, Transpose, Nearest, Gather, Chain, Cast,
        Blend,
    )
}  # fmt: skip
"""Classes that a description may contain, besides nodes."""
_BROKEN = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError, RecursionError)


def network_arrays(network: Network) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of the file of `network`; equal networks with equal names have equal arrays."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    text = json.dumps(_described(network, (), arrays), separators=(",", ":"))
    return {_DESCRIPTION: np.array(text.encode()), **arrays}


def load_network(path: str | Path) -> Network:
    """Return the network in the file `path`; raise ValueError that names the file if it has none."""
    arrays = read_arrays(path)
    try:
        network = _made(json.loads(_text(arrays)), arrays)
    except _BROKEN as error:
        raise ValueError(f"{path}: must describe a network ({type(error).__name__}: {error})") from error
    if not isinstance(network, Network):
        raise ValueError(f"{path}: must describe a network, not {type(network).__name__}")
    return network


def is_network_file(path: str | Path) -> bool:
    """True if the archive `path` describes a network; False if it is not an archive, or not a regular file."""
    if not Path(path).is_file():
        return False  # a pipe would keep us waiting
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{_DESCRIPTION}.npy" in archive.namelist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return False


def _text(arrays: Arrays) -> bytes:
    description = arrays[_DESCRIPTION]
    if description.dtype.kind != "S" or description.nbytes > NETWORK_DESCRIPTION:
        raise ValueError(f"{_DESCRIPTION} must have at most {NETWORK_DESCRIPTION} bytes, not {description.nbytes}")
    return bytes(description.item())


def _described(value: Any, place: tuple[str, ...], arrays: dict[str, npt.NDArray[Any]]) -> Any:
    """`value` for JSON, and each array in it among `arrays`."""
    if isinstance(value, np.ndarray):
        arrays["/".join(place)] = value
        return {"array": "/".join(place)}
    if isinstance(value, np.float32):
        return {"float32": float(value).hex()}
    if isinstance(value, tuple):
        return [_described(each, (*place, str(index)), arrays) for index, each in enumerate(value)]
    if not dataclasses.is_dataclass(value):
        return value
    names = [field.name for field in dataclasses.fields(value)]
    fields = [name for name in names if name not in _OMITTED or getattr(value, name)]
    return {"is": type(value).__name__} | {
        name: _described(getattr(value, name), (*place, name), arrays) for name in fields
    }


def _made(said: Any, arrays: Arrays) -> Any:
    """The inverse of `_described`."""
    if isinstance(said, list):
        return tuple(_made(each, arrays) for each in said)
    if not isinstance(said, dict):
        return said
    if "array" in said:
        return arrays[said["array"]]
    if "float32" in said:
        return np.float32(float.fromhex(said["float32"]))
    fields = {name: _made(each, arrays) for name, each in said.items() if name != "is"}
    return (_CLASSES | _nodes())[said["is"]](**fields)


@functools.cache
def _nodes() -> dict[str, type[Node]]:
    """The classes of nodes in the files of this folder by name, also those that the package does not export."""
    modules_of(__package__)
    return {each.__name__: each for each in Node.__subclasses__()}
