"""Tensors between the nodes of a network: names, shapes, and the values of their integers."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import IntFormat
from ..limits import TENSOR_ELEMENTS

__all__ = ["BYTE", "Tensor"]

BYTE = 8  # bits of ONNX's integer tensors


@dataclass(frozen=True, kw_only=True, eq=False)
class Tensor:
    """Integers of 2 to 8 bits, q, that represent the real numbers (q - zero_point) * scale.

    ONNX's tensors have 8 bits; narrower tensors, in arrays of int8 or uint8, belong to requantized networks.

    `name` and `shape` are ONNX's: the batch first, and channels second if there are four dimensions, unless
    `channels_last`. With three dimensions, channels are last, unless `channels_second`. Arrays passed to nodes can have
    any batch. `value` has the integers of a constant, otherwise None. The scale is positive and finite.
    """

    name: str
    shape: tuple[int, ...]
    format: IntFormat
    scale: np.float32
    zero_point: int
    value: npt.NDArray[Any] | None = None
    channels_last: bool = False
    channels_second: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"the name of a tensor must be a str that is not empty, not {self.name!r}")
        label = f"tensor {self.name!r}"
        object.__setattr__(self, "shape", tuple(int(size) for size in self.shape))
        if any(size < 1 for size in self.shape):
            raise ValueError(f"{label} must have dimensions of at least 1, not {list(self.shape)}")
        if math.prod(self.shape) > TENSOR_ELEMENTS:
            raise ValueError(f"{label} must have at most {TENSOR_ELEMENTS} elements, not the shape {list(self.shape)}")
        if not isinstance(self.format, IntFormat) or self.format.bits > BYTE:
            raise ValueError(f"{label} must be of int8 or uint8, not of {self.format}")
        object.__setattr__(self, "scale", np.float32(self.scale))
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise ValueError(f"{label} must have a positive, finite scale, not {float(self.scale)!r}")
        if not self.format.contains(self.zero_point):
            raise ValueError(f"{label} must have a zero point in {self.format}, not {self.zero_point!r}")
        object.__setattr__(self, "zero_point", int(self.zero_point))
        if self.channels_last and len(self.shape) != 4:
            raise ValueError(f"{label} must have four dimensions for channels_last, not the shape {list(self.shape)}")
        if self.channels_second and len(self.shape) != 3:
            raise ValueError(
                f"{label} must have three dimensions for channels_second, not the shape {list(self.shape)}"
            )
        if self.value is not None:
            value = np.array(self.value)
            if value.dtype != self.format.dtype or value.shape != self.shape:
                raise ValueError(
                    f"{label} must have a value of {self.format} {list(self.shape)}, not {value.dtype} "
                    f"{list(value.shape)}"
                )
            if not self.format.contains(value):
                raise ValueError(f"{label} must have a value in {self.format.min} to {self.format.max}")
            value.flags.writeable = False
            object.__setattr__(self, "value", value)

    def replace(self, **changes: Any) -> Tensor:
        """A copy with some fields changed, validated again."""
        return dataclasses.replace(self, **changes)

    def counts_as(self, other: Tensor) -> bool:
        """True if equal integers of both represent equal real numbers."""
        return (self.format, self.scale, self.zero_point) == (other.format, other.scale, other.zero_point)

    @property
    def codes(self) -> npt.NDArray[Any]:
        """All integers of the format in rising order: 256 of 8 bits."""
        return np.arange(self.format.min, self.format.max + 1).astype(self.format.dtype)

    def check(self, array: npt.ArrayLike) -> npt.NDArray[Any]:
        """`array` where it has the type and, but for the batch, the shape of the tensor; else an error."""
        found = np.asarray(array)
        if found.dtype != self.format.dtype:
            raise TypeError(f"{self.name} must be of {self.format.type_name}, not of {found.dtype.name}")
        if found.ndim != len(self.shape) or found.shape[1:] != self.shape[1:]:
            raise ValueError(f"{self.name} must have the shape {['batch', *self.shape[1:]]}, not {list(found.shape)}")
        if self.format.bits < BYTE and (outside := self.format.first_outside(found)) is not None:
            raise ValueError(
                f"{self.name} must hold {self.format} ({self.format.min} to {self.format.max}), not {outside[1]}"
            )
        return found

    def quantize(self, x: npt.ArrayLike) -> npt.NDArray[Any]:
        """QuantizeLinear: rint(f32(x / scale)) + zero_point, saturated; NaN gives the least integer."""
        with np.errstate(all="ignore"):
            levels = np.rint(np.asarray(x, np.float32) / self.scale)
        offset = np.float32(self.zero_point)
        least, most = np.float32(self.format.min) - offset, np.float32(self.format.max) - offset
        clipped = np.where(np.isnan(levels), least, np.clip(levels, least, most)) + offset
        saturated: npt.NDArray[Any] = clipped.astype(self.format.dtype)
        return saturated

    def dequantize(self, q: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """DequantizeLinear: f32(f32(q - zero_point) * scale)."""
        with np.errstate(over="ignore"):
            real: npt.NDArray[np.float32] = (q.astype(np.int32) - self.zero_point).astype(np.float32) * self.scale
        return real

    @property
    def channel_axis(self) -> int:
        """The dimension of channels: the second or the last, as the class says."""
        return 1 if self._channels_second else len(self.shape) - 1

    @property
    def channels(self) -> int:
        """Elements of a pixel: the size of the channels' dimension, where that is not the batch."""
        return self.shape[self.channel_axis] if len(self.shape) > 1 else 1

    @property
    def columns(self) -> int:
        """Pixels of a line: all pixels where there are not four dimensions."""
        if len(self.shape) != 4:
            return self.pixels
        return self.shape[3 if self._channels_second else 2]

    @property
    def _channels_second(self) -> bool:
        return self.channels_second or (len(self.shape) == 4 and not self.channels_last)

    @property
    def pixels(self) -> int:
        """Pixels of one image: all elements but the batch and the channels."""
        return int(np.prod(self.shape[1:])) // self.channels

    def raster(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """`array`, of this tensor or any batch of it, as it is streamed: [batch, pixels, channels], in raster order."""
        last = np.moveaxis(array, 1, -1) if self._channels_second else array
        return last.reshape(len(array), self.pixels, self.channels)

    def unraster(self, streamed: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The inverse of `raster` for `streamed` [batch, pixels, channels]."""
        if not self._channels_second:
            return streamed.reshape(len(streamed), *self.shape[1:])
        return np.moveaxis(streamed.reshape(len(streamed), *self.shape[2:], self.channels), -1, 1)
