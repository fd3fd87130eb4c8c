"""The network that a package is of, as NAME_network.npz describes it: nodes, tensors and movements of elements.

arrays of NAME_network.npz  ->  Model; `picks` derives which element of its input each element of a move is.

An error in the description is an error of the package: nothing here comes from the code that wrote it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .package import RefusedError

__all__ = ["Model", "channels", "elements_of", "moved", "numbered", "picks", "raster"]

_MOST_ELEMENTS = 1 << 26  # of a tensor
_DEEPEST = 8  # chains within one another


@dataclass(frozen=True)
class Model:
    """The `nodes` by name, each as described; `arrays` are those that the description refers to.

    `sources` and `outputs` are the tensors at the network's ends.
    """

    nodes: Mapping[str, Mapping[str, Any]]
    arrays: Mapping[str, Any]
    sources: Sequence[Mapping[str, Any]]
    outputs: Sequence[Mapping[str, Any]]

    @staticmethod
    def of(arrays: Mapping[str, Any], source: str) -> Model:
        """The network in the archive `source` with these `arrays`."""
        try:
            description = json.loads(bytes(arrays["description"].item()))
            nodes = {str(node["name"]): node for node in description["nodes"]}
            if len(nodes) != len(description["nodes"]):
                raise ValueError("two nodes have one name")
            sources = [source["tensor"] for source in description["sources"]]
            outputs = list(description["outputs"])
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise RefusedError(f"{source}: cannot be read as a network ({type(error).__name__}: {error})") from error
        return Model(nodes, arrays, sources, outputs)

    def node(self, name: str, operator: str) -> Mapping[str, Any]:
        """The node `name`, which must be of the class `operator`."""
        node = self.nodes.get(name)
        if node is None or node["is"] != operator:
            raise RefusedError(f"the network has no node {name!r} of the operator {operator}")
        return node


def raster(tensor: Mapping[str, Any], array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The elements of one image of `tensor` as they are streamed: pixels in raster order, each with its channels."""
    return (np.moveaxis(array, 1, -1) if _channels_second(tensor) else array).reshape(-1)


def channels(tensor: Mapping[str, Any]) -> int:
    """Elements of a pixel of `tensor`: a row of what works on rows."""
    found = int(tensor["shape"][1 if _channels_second(tensor) else -1])
    if found < 1:
        raise RefusedError(f"a row must have an element or more, not {found}")
    return found


def _channels_second(tensor: Mapping[str, Any]) -> bool:
    return bool(tensor.get("channels_second") or (len(tensor["shape"]) == 4 and not tensor.get("channels_last")))


def elements_of(tensor: Mapping[str, Any]) -> int:
    """The number of elements of one image of `tensor`."""
    return int(np.prod([1, *tensor["shape"][1:]]))


def numbered(tensor: Mapping[str, Any]) -> npt.NDArray[np.int64]:
    """One image of `tensor` whose elements are their places in its stream."""
    count = elements_of(tensor)
    plain = np.arange(count).reshape(1, *(int(size) for size in tensor["shape"][1:]))
    places = np.empty(count, np.int64)
    places[raster(tensor, plain)] = np.arange(count)
    return np.asarray(places[plain])


def picks(node: Mapping[str, Any]) -> npt.NDArray[np.int64]:
    """Return which element of the input's stream each element of the output's stream of a Move is."""
    (x,), y = node["inputs"], node["output"]
    count = elements_of(x)
    if not 0 < count <= _MOST_ELEMENTS:
        raise RefusedError(f"a tensor must have 1 to {_MOST_ELEMENTS} elements, not {count}")
    found = moved(node["movement"], numbered(x))
    if list(found.shape[1:]) != [int(size) for size in y["shape"][1:]]:
        raise RefusedError(f"the movement of {node['name']!r} does not give the shape of its output")
    return raster(y, found)


def moved(movement: Mapping[str, Any], array: npt.NDArray[Any], depth: int = 0) -> npt.NDArray[Any]:
    """The result of the `movement` for an `array` of one image."""
    kind = movement["is"]
    if kind == "Chain" and depth < _DEEPEST:
        for each in movement["movements"]:
            array = moved(each, array, depth + 1)
    elif kind == "Reshape":
        array = array.reshape(1, *movement["shape"])
    elif kind == "Transpose":
        array = np.transpose(array, movement["perm"])
    elif kind == "Gather":
        array = np.take(array, movement["indices"], axis=movement["axis"])
    elif kind == "Nearest":
        array = np.take(np.take(array, movement["rows"], axis=2), movement["columns"], axis=3)
    else:
        raise RefusedError(f"there is no movement {kind!r}")
    if array.size > _MOST_ELEMENTS:
        raise RefusedError(f"a tensor must have at most {_MOST_ELEMENTS} elements, not {array.size}")
    return array
