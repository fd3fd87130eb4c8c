"""Windows of convolutions and pools: kernel, strides, dilations and pads over the pixels of an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["AUTO_PADS", "Window"]

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


@dataclass(frozen=True, kw_only=True)
class Window:
    """A window of `kernel` pixels, `dilations` apart, that moves by `strides` over an image with `pads` around it.

    Each is (rows, columns); pads are (top, left, bottom, right). Pixels after the last window are ignored.
    """

    kernel: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    dilations: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)

    def __post_init__(self) -> None:
        for name, count, least in (("kernel", 2, 1), ("strides", 2, 1), ("dilations", 2, 1), ("pads", 4, 0)):
            value = tuple(int(each) for each in getattr(self, name))
            if len(value) != count or any(each < least for each in value):
                raise ValueError(f"{name} must be {count} numbers of at least {least}, not {list(value)}")
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls,
        image: Sequence[int],
        *,
        kernel: Sequence[int],
        strides: Sequence[int] = (1, 1),
        dilations: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        auto_pad: str = "NOTSET",
        ceil_mode: bool = False,
    ) -> Window:
        """The window that ONNX's attributes mean for an `image` of (rows, columns).

        `auto_pad` takes the place of `pads`. With `ceil_mode`, a last window may reach beyond the padded image;
        positions beyond it count as padding.
        """
        if auto_pad not in AUTO_PADS:
            raise ValueError(f"auto_pad must be one of {', '.join(AUTO_PADS)}, not {auto_pad!r}")
        asked = cls(kernel=tuple(kernel), strides=tuple(strides), dilations=tuple(dilations), pads=tuple(pads))  # type: ignore[arg-type]
        before, after = [], []
        for axis, size in enumerate(image):
            stride, span = asked.strides[axis], asked.spans[axis]
            first, last = asked.pads[axis], asked.pads[axis + 2]
            if auto_pad != "NOTSET":
                total = max(0, (-(-size // stride) - 1) * stride + span - size) if auto_pad != "VALID" else 0
                first = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
                last = total - first
            elif ceil_mode:
                last += _reach(size, stride, span, first, last)
            before.append(first)
            after.append(last)
        return cls(
            kernel=asked.kernel,
            strides=asked.strides,
            dilations=asked.dilations,
            pads=(before[0], before[1], after[0], after[1]),
        )

    def __str__(self) -> str:
        """Its kernel, and strides and dilations where they are not 1: "3 x 3 / 2"."""
        text = _by(self.kernel, " x ", single=False)
        text += f" / {_by(self.strides, ' x ')}" if self.strides != (1, 1) else ""
        return text + (f", {_by(self.dilations, ' x ')} apart" if self.dilations != (1, 1) else "")

    @property
    def spans(self) -> tuple[int, int]:
        """Rows and columns from the first pixel of a window to its last, both included."""
        rows, columns = ((size - 1) * step + 1 for size, step in zip(self.kernel, self.dilations, strict=True))
        return rows, columns

    def positions(self, image: Sequence[int]) -> tuple[int, int]:
        """Number of windows of an `image` of (rows, columns), by rows and columns; ValueError if none fits."""
        padded = [size + self.pads[axis] + self.pads[axis + 2] for axis, size in enumerate(image)]
        counts = [
            (size - span) // stride + 1 for size, span, stride in zip(padded, self.spans, self.strides, strict=True)
        ]
        if min(counts) < 1 or len(counts) != 2:
            raise ValueError(
                f"a window of {list(self.spans)} must fit an image of {list(padded)}, pads included, and does not"
            )
        return counts[0], counts[1]

    def covers(self, image: Sequence[int]) -> bool:
        """True if there is one window, which is the whole `image` without padding."""
        return tuple(image) == self.spans == self.kernel and not any(self.pads)

    def patches(self, x: npt.NDArray[Any], fill: int) -> npt.NDArray[Any]:
        """The windows of `x` [batch, C, H, W], with `fill` as padding: [batch, C, rows, columns, *kernel]."""
        rows, columns = self.positions(x.shape[2:])
        top, left, bottom, right = self.pads
        padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
        windows = np.lib.stride_tricks.sliding_window_view(padded, self.spans, axis=(2, 3))
        (down, across), (high, wide) = self.strides, self.dilations
        return windows[:, :, ::down, ::across, ::high, ::wide][:, :, :rows, :columns]


def _by(pair: tuple[int, int], text: str, *, single: bool = True) -> str:
    return str(pair[0]) if single and pair[0] == pair[1] else text.join(map(str, pair))


def _reach(size: int, stride: int, span: int, first: int, last: int) -> int:
    """Pixels that the last window of ceil_mode reaches beyond the padding; it must begin in the image or before it."""
    windows = -(-(size + first + last - span) // stride) + 1
    if (windows - 1) * stride >= size + first:
        windows -= 1
    return max(0, (windows - 1) * stride + span - (size + first + last))
