"""The digits for the firmware: the layer, some test images and what golden says of them, as a header of C."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import EnginePacking

from ..design.digits import Digits
from ..errors import InputError

__all__ = ["digits_header"]


def digits_header(digits: Digits, images: int, config: EngineConfig) -> str:
    """The first `images` test images of `digits`, for an engine of `config`."""
    if not 1 <= images <= len(digits.a):
        raise InputError(f"images must be from 1 to {len(digits.a)}, the test images that there are, not {images}")
    layer, a = digits.layer, digits.a[:images]

    tiled = EnginePacking(config).pack_b(layer.b).nbytes if config.depth > 1 else 1
    sizes = {
        "IMAGES": images, "INPUTS": layer.k, "CLASSES": layer.n, "TILED_BYTES": tiled,
        "A_ZERO_POINT": int(layer.a_zero_point), "Y_ZERO_POINT": int(layer.y_zero_point),
    }  # fmt: skip
    arrays: dict[str, npt.NDArray[Any]] = {
        "static const int8_t images[IMAGES][INPUTS]": a,
        "static const uint8_t labels[IMAGES]": digits.labels[:images],
        "static const int8_t weights[INPUTS][CLASSES]": layer.b,
        "static const int32_t bias[CLASSES]": np.zeros(layer.n, np.int32) if layer.bias is None else layer.bias,
        "static const float scale[CLASSES]": layer.scale,
        "static const int8_t golden[IMAGES][CLASSES]": layer.golden(a),
    }
    lines = [f"/* {digits.origin}; made by `systoliq soc`. */"]
    lines += [f"#define {name} {value}" for name, value in sizes.items()]
    lines += [f"{head} = {_initializer(array)};" for head, array in arrays.items()]
    return "\n".join([*lines, ""])


def _initializer(array: npt.NDArray[Any]) -> str:
    if array.ndim > 1:
        return "{\n" + ",\n".join(_initializer(row) for row in array) + "}"
    return "{" + ", ".join(f"{float(v).hex()}f" if array.dtype.kind == "f" else str(int(v)) for v in array) + "}"
