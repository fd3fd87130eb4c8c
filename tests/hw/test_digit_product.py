"""Digits of a product: together they are the magnitude times the factor, for the least number too."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.hw.digit_product import DIGIT_BITS, DigitProduct

from .bench import trace, with_models


@pytest.mark.parametrize(("bits", "factor_bits"), [(17, 3), (18, 24), (43, 24), (84, 24)])
@pytest.mark.parametrize("cells", with_models("portable", "ecp5"))
def test_digits_of_a_product(tmp_path, bits, factor_bits, cells):
    rng = np.random.default_rng(bits)
    half = 1 << bits - 1
    lines = [(number, (1 << factor_bits) - 1) for number in (-half, half - 1, 0, -1, 1, -(1 << 16))]
    for _ in range(40):
        number = int.from_bytes(rng.bytes(11), "little") % (2 * half) - half
        lines.append((number >> int(rng.integers(bits)), int(rng.integers(1 << factor_bits))))
    block = DigitProduct(bits, factor_bits, cells=cells)
    count = block.digits.shape().length
    inputs = [{"number": number, "factor": factor} for number, factor in [(0, 0)] * count + lines]  # none unknown
    shown = trace(block, inputs + [{}] * (block.latency + count), cells=cells, folder=tmp_path)[count:]
    for cycle, (number, factor) in enumerate(lines):
        words = [shown[cycle + block.latency + i]["digits"] for i in range(count)]
        digits = [word[i] for i, word in enumerate(words)]
        assert sum(digit << DIGIT_BITS * i for i, digit in enumerate(digits)) == abs(number) * factor
