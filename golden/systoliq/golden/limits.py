"""Limits on what users give, each with its reason; beyond them a command ends before it takes the memory or the time.

`docs/limits.md` lists them. Hardware may be limited further: by its cells, its formats, its accumulator.
"""

from __future__ import annotations

__all__ = [
    "ARCHIVE_ARRAYS",
    "ARCHIVE_BYTES",
    "ARRAY_MULTIPLIERS",
    "ARRAY_SIDE",
]

ARCHIVE_BYTES = 1 << 28
"""Of all arrays of an .npz or .npy file once inflated: 256 MiB, which golden's int64 arrays take several times."""

ARCHIVE_ARRAYS = 4096
"""Arrays of an .npz file."""

ARRAY_SIDE = 4096
"""Rows, columns and depth of an array, each: their Verilog grows with them."""

ARRAY_MULTIPLIERS = 1 << 17
"""Rows x columns x depth of an array: twice 256 x 256, for an engine of that size has a row and a column of ones."""
