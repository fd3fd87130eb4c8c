"""Where elements of a window lie."""

from __future__ import annotations

import itertools


def lies_at(window, image, position):
    """The pixels of the window at `position`, None where they are padding."""
    found = []
    for tap in itertools.product(*map(range, window.kernel)):
        pixel = [
            at * stride + step * apart - before
            for at, stride, step, apart, before in zip(
                position, window.strides, tap, window.dilations, window.pads[:2], strict=True
            )
        ]
        found.append(tuple(pixel) if all(0 <= p < size for p, size in zip(pixel, image, strict=True)) else None)
    return found
