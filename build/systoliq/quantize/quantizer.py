"""Quantizer: a float model and samples in, an int8 model out, as onnxruntime's static quantizer makes it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError, need
from ..onnx.library import library
from .accuracy import Accuracy, compare_accuracy
from .calibration import Samples, batches
from .float_model import FloatModel
from .hardware_check import HardwareCheck, check_hardware
from .own_constants import give_own_constants
from .power_of_two import power_of_two_overrides
from .settings import CALIBRATIONS, WEIGHT_BITS, quantizer_settings

__all__ = ["CALIBRATION_KEY", "Quantized", "calibration_of", "quantize_model"]

CALIBRATION_KEY = "systoliq.calibration"
"""Key of the quantized model's metadata that states the calibration."""

_SOURCE_KEY = "systoliq.float_model"
_RANDOM = "random numbers: for a first try only"


@dataclass(frozen=True, kw_only=True, eq=False)
class Quantized:
    """A quantized model: the `content` of its file, how it was calibrated, its accuracy, and whether hardware takes
    it.
    """

    content: bytes
    calibration: str
    random: bool
    accuracy: Accuracy | None
    hardware: HardwareCheck

    def check_hardware(self, source: str, advice: str = "") -> None:
        """Raise InputError with the reasons and `advice` if the model of `source` is not one network in hardware."""
        if self.hardware.reasons:
            reasons = "; ".join(self.hardware.reasons)
            raise InputError(f"{source} cannot be one network in hardware: {reasons}{advice}")


def quantize_model(
    model: FloatModel,
    samples: Samples,
    *,
    calibration: str = "minmax",
    weight_bits: int = 8,
    power_of_two: bool = False,
    calibration_samples: int | None = None,
    name: str = "model_int8",
    progress: Callable[[str], None] = lambda stage: None,
) -> Quantized:
    """Return `model` quantized: int8 activations, and weights of `weight_bits` bits, 8 or 4.

    Parameters
    ----------
    calibration
        "minmax", "entropy" or "percentile".
    power_of_two
        round scales up to powers of two, for smaller hardware.
    calibration_samples
        number of samples that choose the ranges; all samples count for the accuracy. Default: all.
    name
        name of the network in hardware.
    progress
        called with the name of each stage that takes time.

    Raises InputError if onnxruntime cannot quantize the model.
    """
    if calibration not in CALIBRATIONS:
        raise InputError(f"calibration must be {', '.join(CALIBRATIONS)}, not {calibration!r}")
    if weight_bits not in WEIGHT_BITS:
        raise InputError(f"weight bits must be {' or '.join(map(str, WEIGHT_BITS))}, not {weight_bits}")
    if calibration_samples is not None and not 1 <= calibration_samples <= samples.count:
        raise InputError(f"calibration samples must be 1 to {samples.count}, not {calibration_samples}")
    used = samples.first(calibration_samples or samples.count)
    origin = _RANDOM if samples.path is None else samples.path.name
    text = f"{calibration} of {used.count} samples of {origin}{', scales are powers of two' * power_of_two}"
    with tempfile.TemporaryDirectory(prefix="systoliq-") as folder:
        path = Path(folder) / f"{name}.onnx"
        progress("calibrate")
        settings = quantizer_settings(calibration, weight_bits)
        _quantize(model, used, settings, path)
        if power_of_two:
            settings["extra_options"]["TensorQuantOverrides"] = power_of_two_overrides(path)
            _quantize(model, used, settings, path)
        _describe(path, {CALIBRATION_KEY: text, _SOURCE_KEY: _source(model.path)})
        progress("compare with the float model")
        accuracy = None if samples.random else compare_accuracy(model, path, samples)
        progress("check the hardware")
        hardware = check_hardware(path, model)
        content = path.read_bytes()
    return Quantized(
        content=content, calibration=text, random=samples.random, accuracy=accuracy, hardware=hardware
    )  # fmt: skip


def calibration_of(path: Path) -> str | None:
    """Return the calibration that the metadata of the model in the file `path` states; None if there is none."""
    onnx = need("onnx", "onnx", "reading ONNX models", extra="onnx")
    with library(f"{path}: must be a valid ONNX model"):
        stated = onnx.load(path, load_external_data=False).metadata_props
    return next((each.value for each in stated if each.key == CALIBRATION_KEY), None)


def _quantize(model: FloatModel, samples: Samples, settings: dict[str, Any], path: Path) -> None:
    """Write the quantized model to `path`."""
    ort = need("onnxruntime.quantization", "onnxruntime", "quantizing a model")
    preparation = need("onnxruntime.quantization.shape_inference", "onnxruntime", "quantizing a model")

    class Reader(ort.CalibrationDataReader):  # type: ignore[name-defined]
        def __init__(self) -> None:
            self._batches = batches(model, samples)

        def get_next(self) -> object:
            return next(self._batches, None)

    plain, prepared = path.with_name("float.onnx"), path.with_name("prepared.onnx")
    model.save(plain)
    with library(f"{model.path}: onnxruntime cannot quantize it"), _silent():
        preparation.quant_pre_process(plain, prepared, skip_symbolic_shape=True)
        give_own_constants(prepared)
        ort.quantize_static(prepared, path, Reader(), **settings)


def _describe(path: Path, facts: dict[str, str]) -> None:
    """Add `facts` to the metadata of the model in the file `path`."""
    onnx = need("onnx", "onnx", "quantizing a model", extra="demo")
    model = onnx.load(path)
    for key, value in facts.items():
        model.metadata_props.add(key=key, value=value)
    onnx.save(model, path)


def _source(path: Path) -> str:
    return f"{path.name}, sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}"


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Suppress the quantizer's output and log on the terminal."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(before)
