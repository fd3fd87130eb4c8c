"""Runtime: sessions of onnxruntime, whose errors name the model, and the graph that onnxruntime makes of a model."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ..errors import InputError, need
from .library import library

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["INT8", "Session", "fused"]

INT8 = ("session.qdqisint8allowed", "1")
"""Entry of onnxruntime's options that lets int8 activations stay int8 on x86."""

_CONSTANTS = "session.optimized_model_external_initializers_file_name"


class Session:
    """A session for the file or the serialized `model`, which errors call `what`.

    With onnxruntime's fusions, int8 activations staying int8 on x86 too; without any where the model is lowered
    already, `as_it_is`. The optimized graph is written to the file `optimized`, with large constants in another file
    next to it. `options` are onnxruntime's, new ones with `INT8` by default. Raises InputError where onnxruntime does
    not take the model.
    """

    def __init__(
        self, model: str | bytes, what: str, *, as_it_is: bool = False, optimized: Path | None = None,
        options: Any = None,
    ) -> None:  # fmt: skip
        ort = need("onnxruntime", "onnxruntime", "running the rest of a model")
        self._what = what
        if options is None:
            options = ort.SessionOptions()
            options.add_session_config_entry(*INT8)
        options.log_severity_level = 4  # its errors are reported
        if as_it_is:
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        if optimized is not None:
            options.optimized_model_filepath = str(optimized)
            # else external constants stay in their file, and `optimized` does not say where that is
            options.add_session_config_entry(_CONSTANTS, f"{optimized.name}.data")
        try:
            self._session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors have no common base class
            raise InputError(f"{what}: must be a model that onnxruntime takes ({_first_line(error)})") from error

    @property
    def inputs(self) -> list[Any]:
        """With name, shape and type, as InferenceSession gives them."""
        return list(self._session.get_inputs())

    @property
    def outputs(self) -> list[Any]:
        """See `inputs`."""
        return list(self._session.get_outputs())

    def run(self, names: Sequence[str], feed: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        """The outputs of these names for `feed`; InputError where onnxruntime cannot compute them."""
        try:
            return dict(zip(names, self._session.run(list(names), dict(feed)), strict=True))
        except Exception as error:
            raise InputError(f"{self._what}: onnxruntime cannot run it on that ({_first_line(error)})") from error


def fused(model: str | bytes, what: str) -> ModelProto:
    """Return the graph that onnxruntime runs for `model`, as `Session` takes it: quantized products are single nodes.

    Raises InputError where onnxruntime does not take the model.
    """
    onnx = need("onnx", "onnx", "reading ONNX models", extra="onnx")
    with tempfile.TemporaryDirectory(prefix="systoliq-") as folder:
        file = Path(folder) / "fused.onnx"
        Session(model, what, optimized=file)
        with library(f"{what}: onnxruntime's graph of it must be readable"):
            found: ModelProto = onnx.load(file)
    return found


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
