"""The host's part of an inference: pieces of a lowered graph as models of their own, run by onnxruntime as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import need
from ..onnx.functions import all_nodes
from ..onnx.runtime import Session
from .operations import Array
from .steps import HostStep

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["HostPiece", "constants_of", "watched"]


class HostPiece:
    """A step of the host's; its session is opened at the first run, when the types of its inputs are known."""

    def __init__(self, model: ModelProto, step: HostStep) -> None:
        self._model = model
        self._step = step
        self._session: Session | None = None

    def run(self, tensors: Mapping[str, Array]) -> dict[str, Array]:
        """The tensors that the step makes, from those that it takes."""
        inputs = {name: tensors[name] for name in self._step.inputs}
        if not self._step.outputs:
            return {}
        if self._session is None:
            self._session = Session(self.model(inputs), "the host's part of the model", as_it_is=True)
        return self._session.run(self._step.outputs, inputs)

    def model(self, inputs: Mapping[str, Array]) -> bytes:
        """The step as a separate ONNX model, for `inputs` of these types."""
        helper = need("onnx.helper", "onnx", "reading ONNX models", extra="onnx")
        step, model = self._step, self._model
        names = {name for node in all_nodes(step.nodes) for name in node.input}
        graph = helper.make_graph(
            step.nodes,
            "piece",
            [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim)
                for name, array in inputs.items()
            ],
            [helper.make_empty_tensor_value_info(name) for name in step.outputs],
            [tensor for tensor in model.graph.initializer if tensor.name in names and tensor.name not in inputs],
        )
        part = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
        data: bytes = part.SerializeToString()
        return data


def watched(model: ModelProto, names: Sequence[str]) -> bytes:
    """The lowered `model` with its tensors `names` as outputs, too."""
    helper = need("onnx.helper", "onnx", "reading ONNX models", extra="onnx")
    copy = type(model).FromString(model.SerializeToString())
    have = {info.name for info in copy.graph.output}
    copy.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names if name not in have)
    data: bytes = copy.SerializeToString()
    return data


def constants_of(model: ModelProto, names: Collection[str]) -> dict[str, Array]:
    """The constants among the tensors `names`, from the lowered `model`."""
    to_array = need("onnx.numpy_helper", "onnx", "reading ONNX models", extra="onnx").to_array
    return {tensor.name: to_array(tensor) for tensor in model.graph.initializer if tensor.name in names}
