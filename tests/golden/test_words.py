"""Words of any width: bit by bit as Python's integers have them, whatever numpy has a type for."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden.words import bytes_of, from_words, to_words


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
