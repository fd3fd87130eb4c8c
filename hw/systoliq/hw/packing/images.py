"""Images as the words of a network's streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.words import Flags, Words, to_words

__all__ = ["image_words"]


def image_words(elements: npt.NDArray[Any], lanes: int) -> tuple[Words, Flags]:
    """Bytes [images, pixels, channels] as words of ``lanes`` each, and which of these end an image."""
    words = to_words(elements.reshape(-1, lanes), 8, lanes)
    last = np.zeros((len(elements), len(words) // len(elements)), bool)
    last[:, -1] = True
    return words, last.reshape(-1)
