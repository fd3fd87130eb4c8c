"""Constants of products as onnxruntime's quantizer needs them: a bias for each product, and no alpha or beta.

The quantizer gives a bias the scale of one product, also where several share it, and beta times that scale where Gemm
has a beta. onnxruntime's kernels ignore both, and compute with another bias. Hardware takes no alpha.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import need

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

__all__ = ["give_own_constants"]

_BIASED = ("Conv", "ConvTranspose", "Gemm")


def give_own_constants(path: Path) -> None:
    """Rewrite the float model in the file `path`: constant biases that several nodes share are copied, and alpha and
    beta of a Gemm are multiplied into its constants.
    """
    onnx = need("onnx", "onnx", "quantizing a model", extra="demo")
    model: ModelProto = onnx.load(path)
    held = {tensor.name: tensor for tensor in model.graph.initializer}
    readers = [name for node in model.graph.node for name in node.input if name]
    taken = {*held, *readers, *(name for node in model.graph.node for name in node.output)}

    def own(node: NodeProto, place: int, factor: float) -> None:
        """Give `node` its own copy of a constant, times `factor`."""
        array = onnx.numpy_helper.to_array(held[node.input[place]])
        name = f"{node.input[place]} of {node.output[0]}"
        while name in taken:
            name += "_"
        taken.add(name)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array * array.dtype.type(factor), name))
        node.input[place] = name

    for node in model.graph.node:
        if node.op_type not in _BIASED or node.domain not in ("", "ai.onnx"):
            continue
        factors = {each.name: each for each in node.attribute if each.name in ("alpha", "beta")}
        for key, place in (("alpha", 1), ("beta", 2)):
            if len(node.input) <= place or node.input[place] not in held:
                continue
            factor = float(np.float32(factors[key].f)) if key in factors else 1.0
            if factor != 1 or (key == "beta" and readers.count(node.input[place]) > 1):
                own(node, place, factor)
                if key in factors:
                    factors[key].f = 1.0
    read = {name for node in model.graph.node for name in node.input}
    for tensor in [tensor for name, tensor in held.items() if name in readers and name not in read]:
        model.graph.initializer.remove(tensor)
    onnx.save(model, path)
