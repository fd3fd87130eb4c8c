"""Float models: the input of a quantizer, with known input shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError, need
from ..onnx import Model
from ..onnx.graph import Graph
from ..onnx.library import library
from ..onnx.quantization import integral, is_float

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["FloatInput", "FloatModel", "is_float_model", "open_float_model"]


@dataclass(frozen=True, kw_only=True)
class FloatInput:
    """A float32 input of a model: its shape without the batch, and the `batch` of one run, None if it is free."""

    name: str
    batch: int | None
    sizes: tuple[int, ...]

    @property
    def shape(self) -> str:
        """The shape of samples in an archive, as messages state it."""
        return f"[{', '.join(['M', *map(str, self.sizes)])}]"

    @property
    def run_batch(self) -> int:
        """Samples of one run of calibration."""
        return self.batch or 1


@dataclass(frozen=True, kw_only=True, eq=False)
class FloatModel:
    """The float model in the file `path`: its nodes as `graph`, and its `inputs` without initializers."""

    path: Path
    model: ModelProto
    graph: Graph
    inputs: tuple[FloatInput, ...]
    output: str

    def save(self, path: Path) -> None:
        """Write the model to `path` with all its weights in the file, and with the shapes of `inputs`."""
        onnx = need("onnx", "onnx", "quantizing a model", extra="demo")
        with library(f"{self.path}: its weights must be readable"):
            model = onnx.load(self.path)
            _set_shapes(model, {each.name: (each.batch, *each.sizes) for each in self.inputs})
            onnx.save(model, path)


def is_float_model(source: str) -> bool:
    """Return whether `source` is a file .onnx whose products all compute in float."""
    path = Path(source)
    return path.suffix == ".onnx" and path.is_file() and is_float(Model.open(path).graph)


def open_float_model(path: Path, shapes: Mapping[str, Sequence[int]] | None = None) -> FloatModel:
    """Return the float model in the file `path`, with inputs of these `shapes`, by name, where it leaves them open.

    The first dimension of an input is the batch; it may be open.

    Raises InputError if the model is quantized already, has no products, an input is not float32, or a shape is open.
    """
    opened = Model.open(path)
    graph = opened.graph
    _check_float(path, graph)
    given = dict(shapes or {})
    infos = [info for info in graph.graph.input if info.name not in graph.initializers]
    names = [info.name for info in infos]
    if unknown := sorted(set(given) - set(names)):
        raise InputError(f"shape must name an input of {path}, {', '.join(names)}, not {unknown[0]!r}")
    if not infos:
        raise InputError(f"{path}: must have an input")
    inputs = tuple(_input(path, graph, name, given.get(name)) for name in names)
    outputs = [info.name for info in graph.graph.output]
    return FloatModel(path=path, model=opened.proto, graph=graph, inputs=inputs, output=outputs[0])


def _check_float(path: Path, graph: Graph) -> None:
    for node in graph.graph.node:
        if integral(node):
            name = node.name or node.output[0]
            raise InputError(
                f"{path}: must be a float model, not a quantized one: it has {node.op_type} {name!r}; the other "
                "commands take it as it is"
            )
    if not is_float(graph):
        raise InputError(f"{path}: must have a product to quantize (Conv, Gemm or MatMul), and has none")


def _input(path: Path, graph: Graph, name: str, given: Sequence[int] | None) -> FloatInput:
    kind = graph.type_of(name)
    if kind is None or kind.name != "float32":
        raise InputError(f"{path}: input {name!r} must be float32 to be quantized, not {kind or 'of an unknown type'}")
    stated = graph.shape(name)
    if given is not None:
        if stated is not None and not _agree(stated, given):
            raise InputError(f"shape of {name!r} must agree with the model's {_text(stated)}, not be {list(given)}")
        return FloatInput(name=name, batch=given[0], sizes=tuple(given[1:]))
    if stated is None or not stated or not all(isinstance(size, int) and size > 0 for size in stated[1:]):
        example = ",".join(str(size) if isinstance(size, int) and size > 0 else "N" for size in stated or [None])
        raise InputError(
            f"{path}: the shape of input {name!r} must be known except for its batch, not {_text(stated)}: give it by "
            f"--shape {name}={example}"
        )
    first, *sizes = stated
    batch = first if isinstance(first, int) and first > 0 else None
    return FloatInput(name=name, batch=batch, sizes=tuple(size for size in sizes if isinstance(size, int)))


def _agree(stated: Sequence[int | str | None], given: Sequence[int]) -> bool:
    """Return whether a shape may be `given` where the model has `stated`, whose open sizes are no numbers."""
    known = (not isinstance(size, int) or size == own for size, own in zip(stated, given, strict=False))
    return len(stated) == len(given) and min(given) > 0 and all(known)


def _text(shape: Sequence[int | str | None] | None) -> str:
    return "unknown" if shape is None else f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def _set_shapes(model: ModelProto, shapes: Mapping[str, Sequence[int | None]]) -> None:
    """State these shapes for the inputs of `model`; a size of None stays as it is."""
    for info in model.graph.input:
        sizes = shapes.get(info.name, ())
        shape = info.type.tensor_type.shape
        while len(shape.dim) < len(sizes):
            shape.dim.add()
        for dimension, size in zip(shape.dim, sizes, strict=False):
            if size is not None:
                dimension.dim_value = size
