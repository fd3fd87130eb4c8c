"""Numbers of 128 bits against Python's integers."""

from __future__ import annotations

import numpy as np

from systoliq.golden.wide import LIMB_BITS, Wide

ENDS = (-(2**63), -(2**62) - 1, -(2**32), -1, 0, 1, 2**32 - 1, 2**63 - 1)


def integers_of(wide: Wide) -> list[int]:
    """Each magnitude with its sign; every limb must be below 2^32."""
    limbs = wide.limbs.tolist()
    assert all(each < 1 << LIMB_BITS for limb in limbs for each in limb)
    sizes = [sum(limb << LIMB_BITS * index for index, limb in enumerate(each)) for each in zip(*limbs, strict=True)]
    return [-size if negative else size for size, negative in zip(sizes, wide.negative.tolist(), strict=True)]


def test_sums_of_shifted_integers_of_both_signs():
    rng = np.random.default_rng(1)
    drawn = [np.array([*ENDS, *rng.integers(-(2**63), 2**63 - 1, 50)]) for _ in range(9)]
    for count, shifts in ((1, [32]), (2, [0, 31]), (9, [0, 1, 5, 8, 16, 20, 24, 31, 32])):
        terms = list(zip(drawn[:count], shifts, strict=True))
        expected = [sum(int(each) << shift for each, (_, shift) in zip(row, terms, strict=True))
                    for row in zip(*drawn[:count], strict=True)]  # fmt: skip
        wide = Wide.of_sums(terms, -7)
        assert integers_of(wide) == expected
        assert (wide.exponent == -7).all()


def test_integers_of_104_bits():
    values = [0, 1, -1, 2**104 - 1, 1 - 2**104, 2**32, -(2**64)]
    assert integers_of(Wide.of_integers(np.array(values, dtype=object), 3)) == values
