"""Words: elements side by side in the words of a port, as rows of bytes.

A word is a row of bytes, least significant first, as AXI4-Stream numbers them; elements stand in it side by side
without gaps, the first in the lowest bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import IntFormat

__all__ = ["Flags", "Integers", "Words", "bytes_of", "from_words", "pads", "to_integers", "to_words"]

Words = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_WHOLE = (8, 16, 32)  # widths that numpy has a type for: an order of magnitude faster than bit by bit


def bytes_of(bits: int) -> int:
    """Bytes of a word of so many bits."""
    return -(-bits // 8)


def to_words(elements: npt.NDArray[np.integer], bits: int, word_bytes: int) -> Words:
    """Pack elements [n, count], of `bits` bits each, into words [n, word_bytes]; two's complement, zeros above."""
    n, count = elements.shape
    if bits in _WHOLE:
        packed = np.ascontiguousarray(elements.astype(f"<i{bits // 8}")).view(np.uint8)
    else:
        single = (elements.astype(np.int64)[:, :, None] >> np.arange(bits)) & 1
        packed = np.packbits(single.astype(np.uint8).reshape(n, count * bits), axis=1, bitorder="little")
    words = np.zeros((n, word_bytes), np.uint8)
    words[:, : packed.shape[1]] = packed
    return words


def from_words(words: Words, bits: int, count: int, *, signed: bool) -> Integers:
    """Read the first `count` elements of each word [n, word_bytes]: [n, count]."""
    if bits in _WHOLE:
        used = np.ascontiguousarray(words[:, : count * bits // 8])
        return used.view(f"<{'i' if signed else 'u'}{bits // 8}").astype(np.int64)
    single = np.unpackbits(words, axis=1, bitorder="little")[:, : count * bits].reshape(len(words), count, bits)
    weights = np.int64(1) << np.arange(bits, dtype=np.int64)
    if signed:
        weights[-1] = -weights[-1]
    values: Integers = single.astype(np.int64) @ weights
    return values


def to_integers(words: Words) -> list[int]:
    """Words [n, word_bytes] as Python's integers."""
    data, size = words.tobytes(), words.shape[1]
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


def pads(fmt: IntFormat, shape: tuple[int, ...], generator: np.random.Generator | None) -> npt.NDArray[Any]:
    """What stands where the hardware must not look: anything of `fmt` from `generator`, or zeros without one."""
    if generator is None:
        return np.zeros(shape, fmt.dtype)
    return generator.integers(fmt.min, fmt.max, shape, endpoint=True, dtype=np.int64).astype(fmt.dtype)
