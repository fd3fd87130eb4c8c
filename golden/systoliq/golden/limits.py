"""Limits on user input, each with its reason; beyond them a command ends before it takes the memory or the time.

`docs/limits.md` lists them. Cells, formats and accumulators can limit hardware further.
"""

from __future__ import annotations

__all__ = [
    "ARCHIVE_ARRAYS",
    "ARCHIVE_BYTES",
    "ARRAY_MULTIPLIERS",
    "ARRAY_SIDE",
    "NETWORK_DESCRIPTION",
    "TENSOR_ELEMENTS",
]

ARCHIVE_BYTES = 1 << 28
"""Size of all arrays of an .npz or .npy file after decompression: 256 MiB; golden's int64 arrays take several times as
much.
"""

ARCHIVE_ARRAYS = 4096
"""Arrays of an .npz file."""

ARRAY_SIDE = 4096
"""Rows, columns and depth of an array, each: their Verilog grows with them."""

ARRAY_MULTIPLIERS = 1 << 17
"""Rows x columns x depth of an array: twice 256 x 256, for an engine of that size has a row and a column of ones."""

NETWORK_DESCRIPTION = 1 << 24
"""Bytes of JSON that describe a network in its file: 20,000 nodes take a fifth of them."""

TENSOR_ELEMENTS = 1 << 26
"""Elements of a tensor of a model or network: 64 Mi; golden's int64 arrays take 512 MiB for them."""
