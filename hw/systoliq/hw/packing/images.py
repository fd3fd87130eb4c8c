"""Images as the words of a network's streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.words import Flags, Words, bytes_of, to_words

__all__ = ["image_words"]


def image_words(elements: npt.NDArray[Any], lanes: int, bits: int = 8) -> tuple[Words, Flags]:
    """Integers [images, pixels, channels] as words of ``lanes`` of ``bits`` each, and which of these end an image."""
    words = to_words(elements.reshape(-1, lanes), bits, bytes_of(bits * lanes))
    last = np.zeros((len(elements), len(words) // len(elements)), bool)
    last[:, -1] = True
    return words, last.reshape(-1)
