"""Words of any width: bit by bit as Python's integers have them, whatever numpy has a type for."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, IntFormat
from systoliq.golden.words import as_words, bytes_of, from_words, pads, to_integers, to_words


def test_bytes_of_words():
    assert [bytes_of(bits) for bits in (1, 7, 8, 9, 16, 17, 64, 65)] == [1, 1, 1, 2, 2, 3, 8, 9]


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("bits", [1, 2, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 80])
def test_words_hold_each_element_s_bits(bits, signed):
    rng = np.random.default_rng(bits)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    rows = [[least, most, 0, *(int(each) % (most - least + 1) + least for each in rng.integers(0, 2**62, 2))]] * 2
    rows[1] = rows[1][::-1]
    elements = np.array(rows, dtype=object if bits > 62 else np.int64)
    size = bytes_of(5 * bits) + 1
    words = to_words(elements, bits, size)
    expected = [sum((each & (1 << bits) - 1) << i * bits for i, each in enumerate(row)) for row in rows]
    assert [int.from_bytes(word.tobytes(), "little") for word in words] == expected
    if bits < 64 or not signed:  # longer ones are Python's, which are not signed
        assert from_words(words, bits, 5, signed=signed).tolist() == rows


def test_words_as_integers_and_back():
    """The first byte is the lowest; -1, which is no word, becomes zeros."""
    words = np.arange(6, dtype=np.uint8).reshape(2, 3)
    assert to_integers(words) == [0x020100, 0x050403]
    np.testing.assert_array_equal(as_words([0x020100, -1, 0x050403], 3), [[0, 1, 2], [0, 0, 0], [3, 4, 5]])


@pytest.mark.parametrize("form", [INT8, IntFormat(3, signed=False)], ids=str)
def test_pads_are_zeros_or_anything(form):
    assert not pads(form, (4, 5), None).any()
    drawn = pads(form, (400, 5), np.random.default_rng(1))
    assert (drawn.shape, drawn.dtype) == ((400, 5), form.dtype)
    assert (drawn.min(), drawn.max()) == (form.min, form.max)
