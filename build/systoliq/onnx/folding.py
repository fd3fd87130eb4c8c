"""Folding: operators on constants alone, computed by onnx's reference evaluator.

Only operators whose result is defined to the last bit are folded: those that move, choose or compare elements, those
that round once, and others on integers. An Exp or a MatMul of float32 constants depends on the kernel that computes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .library import library
from .node import NotTakenError, attribute, check_elements, domain, label

if TYPE_CHECKING:
    from onnx import NodeProto, OperatorSetIdProto, TypeProto

__all__ = ["computed", "is_foldable"]

_Arrays = Mapping[str, npt.NDArray[Any]]

_MOVING = (
    "Concat", "Slice", "Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "Split", "Expand",
    "Tile", "Pad", "Where", "Shape", "Size", "ConstantOfShape", "DepthToSpace", "SpaceToDepth", "Trilu", "EyeLike",
    "OneHot", "NonZero", "Compress", "Cast", "CastLike",
)  # fmt: skip
_ROUNDING_ONCE = (
    "Add", "Sub", "Mul", "Div", "Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Sqrt", "Reciprocal", "Relu", "Clip",
    "Min", "Max", "ReduceMin", "ReduceMax", "ArgMin", "ArgMax", "Equal", "Greater", "GreaterOrEqual", "Less",
    "LessOrEqual", "And", "Or", "Xor", "Not", "IsNaN", "IsInf",
)  # fmt: skip
_ON_INTEGERS = ("Range", "Mod", "Pow", "ReduceSum", "ReduceProd", "CumSum", "BitShift")

_DATA_ELEMENTS = 1024  # of an input whose numbers may decide the shape of the result


def is_foldable(node: NodeProto) -> bool:
    """True if the operator of `node` is folded when all of its inputs are constant."""
    return domain(node) == "" and node.op_type in (*_MOVING, *_ROUNDING_ONCE, *_ON_INTEGERS)


def computed(
    node: NodeProto, given: _Arrays, role: str, opsets: Sequence[OperatorSetIdProto]
) -> dict[str, npt.NDArray[Any]]:
    """The outputs of `node` by their names, for its constant inputs `given` by theirs.

    `role` describes the result in errors. Raises NotTakenError if the results are not defined to the last bit, have an
    unknown shape or too many elements.
    """
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    _check_defined(node, given, role)
    what = f"{role}: {label(node)} cannot be computed"
    try:
        with library(what), np.errstate(all="ignore"):
            inputs, outputs = _types(node, given, opsets)
            for name, kind in outputs.items():
                _check_shape(node, name, kind, role)
            before, after = ([helper.make_value_info(*each) for each in found.items()] for found in (inputs, outputs))
            model = helper.make_model(helper.make_graph([node], "folded", before, after), opset_imports=opsets)
            arrays = ReferenceEvaluator(model).run(None, dict(given))
    except InputError as error:
        raise NotTakenError(str(error)) from error
    return {name: np.asarray(array) for name, array in zip(outputs, arrays, strict=True)}


def _check_defined(node: NodeProto, given: _Arrays, role: str) -> None:
    """A NotTakenError where the result depends on the kernel that computes it."""
    kinds = {array.dtype for array in given.values()}
    floats = sorted(kind.name for kind in kinds if kind.kind == "f" or kind.name == "bfloat16")
    if node.op_type in _ON_INTEGERS and floats:
        raise NotTakenError(f"{role}: {label(node)} must be of integers to be folded, not of {floats[0]}")
    if node.op_type in _ROUNDING_ONCE and not {"float16", "bfloat16"}.isdisjoint(floats):
        raise NotTakenError(f"{role}: {label(node)} must be of float32 or integers to be folded, not of {floats[0]}")
    if node.op_type == "Div" and not floats and not np.all(given[node.input[1]]):
        raise NotTakenError(f"{role}: {label(node)} must not divide integers by 0")
    if node.op_type == "Cast" and floats and not _fits(given[node.input[0]], int(attribute(node, "to", 0))):
        raise NotTakenError(f"{role}: {label(node)} must take numbers that fit the type it casts to")


def _fits(x: npt.NDArray[Any], kind: int) -> bool:
    """True if all of `x` are in the range of ONNX's type `kind`, or if that is not an integer type."""
    from onnx import helper

    to = helper.tensor_dtype_to_np_dtype(kind)
    if to.kind not in "iu":
        return True
    limits = np.iinfo(to)
    return bool(np.all((x > limits.min - 1.0) & (x < limits.max + 1.0)))


def _types(
    node: NodeProto, given: _Arrays, opsets: Sequence[OperatorSetIdProto]
) -> tuple[dict[str, TypeProto], dict[str, TypeProto]]:
    """Types with shapes of the inputs, and of the outputs if onnx infers them."""
    from onnx import defs, helper, numpy_helper, shape_inference

    inputs = {
        name: helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in given.items()
    }
    data = {name: numpy_helper.from_array(x, name) for name, x in given.items() if x.size <= _DATA_ELEMENTS}
    version = next(each.version for each in opsets if each.domain in ("", "ai.onnx"))
    schema = defs.get_schema(node.op_type, version, node.domain)
    outputs = shape_inference.infer_node_outputs(schema, node, inputs, data, opset_imports=list(opsets))
    return inputs, {name: outputs[name] for name in node.output if name}


def _check_shape(node: NodeProto, name: str, kind: TypeProto, role: str) -> None:
    """Raise NotTakenError if the result `name` would have too many elements, or an unknown number of elements."""
    tensor = kind.tensor_type
    if not tensor.HasField("shape"):
        raise NotTakenError(f"{role} must have a known shape behind {label(node)}")
    if node.op_type not in ("NonZero", "Compress"):  # at most as many as the input
        check_elements(f"{role}: {name!r}", [dim.dim_value for dim in tensor.shape.dim])
