"""Words: elements side by side in the words of a port, as rows of bytes.

A word is a row of bytes, least significant first, as AXI4-Stream numbers them; it holds elements without gaps, the
first in the lowest bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .float8 import Float8Format
from .formats import IntFormat

__all__ = ["Flags", "Integers", "Words", "as_words", "bytes_of", "from_words", "pads", "to_integers", "to_words"]

Words = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_WHOLE = (8, 16, 32)  # widths that numpy has a type for: an order of magnitude faster than bit by bit
_PYTHON = 64  # bits from which on integers are Python's


def bytes_of(bits: int) -> int:
    """Number of bytes in a word of `bits` bits."""
    return -(-bits // 8)


def to_words(elements: npt.NDArray[Any], bits: int, word_bytes: int) -> Words:
    """Pack elements [n, count], of `bits` bits each, into words [n, word_bytes]; two's complement, zeros above.

    Elements of more than 64 bits are Python's integers.
    """
    n, count = elements.shape
    if elements.dtype == object:
        packed = np.packbits(_bits_of(elements, bits).reshape(n, count * bits), axis=1, bitorder="little")
    elif bits in _WHOLE:
        packed = np.ascontiguousarray(elements.astype(f"<i{bits // 8}")).view(np.uint8)
    else:
        single = (elements.astype(np.int64)[:, :, None] >> np.arange(bits)) & 1
        packed = np.packbits(single.astype(np.uint8).reshape(n, count * bits), axis=1, bitorder="little")
    words = np.zeros((n, word_bytes), np.uint8)
    words[:, : packed.shape[1]] = packed
    return words


def from_words(words: Words, bits: int, count: int, *, signed: bool) -> npt.NDArray[Any]:
    """Read the first `count` elements of each word [n, word_bytes]: [n, count].

    Elements of 64 bits and more, which must not be signed, are returned as Python integers.
    """
    if bits in _WHOLE:
        used = np.ascontiguousarray(words[:, : count * bits // 8])
        return used.view(f"<{'i' if signed else 'u'}{bits // 8}").astype(np.int64)
    single = np.unpackbits(words, axis=1, bitorder="little")[:, : count * bits].reshape(len(words), count, bits)
    if bits >= _PYTHON:
        return _integers_of(single)
    weights = np.int64(1) << np.arange(bits, dtype=np.int64)
    if signed:
        weights[-1] = -weights[-1]
    values: Integers = single.astype(np.int64) @ weights
    return values


def _bits_of(elements: npt.NDArray[Any], bits: int) -> npt.NDArray[np.uint8]:
    """The bits [..., bits] of Python's integers, the lowest first."""
    size = bytes_of(bits)
    data = b"".join((value & (1 << bits) - 1).to_bytes(size, "little") for value in elements.flat)
    found = np.frombuffer(data, np.uint8).reshape(*elements.shape, size)
    return np.unpackbits(found, axis=-1, bitorder="little")[..., :bits]


def _integers_of(single: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    """Python's integers of bits [..., bits], the lowest first."""
    packed = np.packbits(single, axis=-1, bitorder="little")
    integers = to_integers(packed.reshape(-1, packed.shape[-1]))
    return np.array(integers, dtype=object).reshape(single.shape[:-1])


def to_integers(words: Words) -> list[int]:
    """Return words [n, word_bytes] as Python integers."""
    data, size = words.tobytes(), words.shape[1]
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size or 1)]


def as_words(integers: Sequence[int], word_bytes: int) -> Words:
    """Python's integers as words [n, word_bytes]; -1, an undefined word, becomes zeros."""
    data = b"".join(max(value, 0).to_bytes(word_bytes, "little") for value in integers)
    return np.frombuffer(data, np.uint8).reshape(-1, word_bytes)


def pads(
    fmt: IntFormat | Float8Format, shape: tuple[int, ...], generator: np.random.Generator | None
) -> npt.NDArray[Any]:
    """Return padding that the hardware must ignore: random elements of `fmt` from `generator`, or zeros without one."""
    if generator is None:
        return np.zeros(shape, fmt.dtype)
    return generator.integers(fmt.min, fmt.max, shape, endpoint=True, dtype=np.int64).astype(fmt.dtype)
