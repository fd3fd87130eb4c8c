"""Parts of products whose rows share their constants: transposed only where that makes fewer of them."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.hw.engine.host.partition import Part


def part(rows, columns):
    a, b = np.ones((rows, 3), np.int8), np.ones((3, columns), np.int8)
    zeros = (np.zeros(rows, np.int8), np.zeros(columns, np.int8))
    return Part(
        a=a, b=b, a_zero_point=zeros[0], b_zero_point=zeros[1], rows=np.arange(rows), columns=np.arange(columns)
    )


@pytest.mark.parametrize(
    ("by_row", "by_column", "may_turn", "found"),
    [
        (1, 1, True, [(4, False)]),
        (2, 1, True, [(5, True)]),
        (2, 1, False, [(2, False), (2, False)]),
        (1, 2, True, [(4, False)]),
        (2, 2, True, [(2, False), (2, False)]),
    ],
)
def test_parts_are_transposed_where_they_are_fewer_then(by_row, by_column, may_turn, found):
    """Scales of two kinds along rows or columns: the rows of each part, and whether it is transposed."""
    scales = np.float32([1, 2, 1, 2])[:, None] if by_row == 2 else np.ones((4, 1), np.float32)
    across = np.float32([[1, 3, 1, 3, 1]]) if by_column == 2 else np.ones((1, 5), np.float32)
    parts = list(part(4, 5).by_constants((scales.ravel(), across.ravel(), np.float32(1)), None, may_turn=may_turn))
    assert [(len(each.a), each.transposed) for each, _, _ in parts] == found
