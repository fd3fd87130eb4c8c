"""Limits, by the reasons that they give."""

from __future__ import annotations

from systoliq.golden import limits


def test_they_allow_their_largest_inputs():
    assert limits.ARRAY_MULTIPLIERS >= 257 * 257  # an engine of 256 x 256 with its row and column of ones
    assert limits.ARRAY_SIDE == 4096
    assert limits.ARCHIVE_ARRAYS == 4096
    assert limits.ARCHIVE_BYTES == 256 * 1024 * 1024
    assert limits.NETWORK_DESCRIPTION == 16 * 1024 * 1024
    assert limits.TENSOR_ELEMENTS * 8 == 512 * 1024 * 1024
