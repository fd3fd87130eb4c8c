"""Custom operator of onnxruntime-extensions that computes a network on its hardware, for models of `model_hw`."""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import expect, need
from ..onnx.runtime import INT8
from .hardware import Hardware, open_hardware
from .model_hw import TYPES, operator_name, unpacked_design

__all__ = ["hardware_errors", "register_hardware"]

Array = npt.NDArray[Any]

_BROKEN = np.array([2], np.int64)
"""A shape that does not fit one element: see `model_hw`."""

_chosen: dict[str, Any] = {"on": None, "baud": None}
"""Where this process runs the networks of all models, if not as the models say."""

_failures: list[BaseException] = []
"""Errors of the hardware, the last one last."""

_open: dict[tuple[str, str | Path, int], Hardware] = {}


def register_hardware(options: Any = None, *, on: str | Path | None = None, baud: int | None = None) -> Any:
    """Return onnxruntime's SessionOptions for models of `systoliq deploy`: `options`, or new ones.

    The options let int8 activations stay int8 on x86 too, where onnxruntime otherwise makes uint8 of them, whose
    kernels may saturate.

    `on` and `baud` are as for `NetworkSession`, for all models in this process; None: as each model says.

    Raises MissingPackageError if onnxruntime or onnxruntime-extensions is not installed.

    >>> session = onnxruntime.InferenceSession("out/model_hw.onnx", register_hardware())
    """
    expect("on", on, str, Path, type(None))
    expect("baud", baud, int, type(None))
    purpose = "operators of systoliq deploy"
    onnxruntime = need("onnxruntime", "onnxruntime", purpose, extra="deploy")
    extensions = need("onnxruntime_extensions", "onnxruntime-extensions", purpose, extra="deploy")
    expect("options", options, onnxruntime.SessionOptions, type(None))
    options = onnxruntime.SessionOptions() if options is None else options
    options.add_session_config_entry(*INT8)
    _define_operators()
    _chosen.update(on=on, baud=baud)
    options.register_custom_ops_library(extensions.get_library_path())
    return options


@contextlib.contextmanager
def hardware_errors() -> Iterator[None]:
    """Raise the hardware's own error, if it fails within this block, instead of onnxruntime's."""
    _failures.clear()
    try:
        yield
    except Exception:
        if _failures:
            raise _failures[-1] from None
        raise


@functools.cache
def _define_operators() -> None:
    """Define the operator for each pair of types, once in a process."""
    extensions = need("onnxruntime_extensions", "onnxruntime-extensions", "operators", extra="deploy")
    kinds = extensions.PyCustomOpDef
    for source, result in itertools.product(TYPES, TYPES):
        extensions.onnx_op(
            op_type=operator_name(source, result),
            inputs=[getattr(kinds, f"dt_{source}")],
            outputs=[getattr(kinds, f"dt_{result}"), kinds.dt_int64],
            attrs={"design": kinds.dt_string, "on": kinds.dt_string, "baud": kinds.dt_int64},
        )(functools.partial(_compute, np.dtype(result)))


def _compute(kind: np.dtype[Any], images: Array, *, design: str, on: str, baud: int) -> tuple[Array, Array]:
    """Return the elements of the network's result for `images`, and their shape; one that does not fit on a failure."""
    try:
        chosen_on, chosen_baud = _chosen["on"], _chosen["baud"]
        hardware = _hardware(design, on if chosen_on is None else chosen_on, chosen_baud or baud)
        found = hardware.run(np.asarray(images))
        if found.mismatches:
            raise ValueError(f"the network on {hardware.on} differs from golden: {'; '.join(found.lines)}")
    except BaseException as error:  # noqa: BLE001 - onnxruntime ends the process if one passes
        print(f"error: systoliq hardware: {' '.join(str(error).split()) or type(error).__name__}", file=sys.stderr)  # noqa: T201 - see above
        _failures.append(error)
        _close_all()
        return np.zeros(1, kind), _BROKEN
    return found.y.reshape(-1), np.array(found.y.shape, np.int64)


def _hardware(design: str, on: str | Path, baud: int) -> Hardware:
    """Return the hardware of a packed design, which stays open for the next run."""
    key = design, on, baud
    if key not in _open:
        with tempfile.TemporaryDirectory(prefix="systoliq-") as folder:
            opened = unpacked_design(design, Path(folder))
            _open[key] = open_hardware(opened, on, baud=baud, stalls=0.0, seed=0, progress=lambda text: None)
    return _open[key]


def _close_all() -> None:
    """Close all hardware, so that the next run opens it again."""
    while _open:
        _open.popitem()[1].close()
