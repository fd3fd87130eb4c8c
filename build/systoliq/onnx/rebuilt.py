"""A model of other nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

__all__ = ["rebuilt"]


def rebuilt(model: ModelProto, nodes: Iterable[NodeProto], constants: Mapping[str, Any]) -> ModelProto:
    """Return a copy of `model` with `nodes` in place of its own, and more `constants` by name."""
    from onnx import numpy_helper

    copy: ModelProto = type(model).FromString(model.SerializeToString())
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    copy.graph.initializer.extend(numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items())
    return copy
