"""Files of operands for `systoliq simulate`."""

from __future__ import annotations

from pathlib import Path

from systoliq.golden.archive import read_array, read_arrays

from .design import Arrays

__all__ = ["read_operand_file"]


def read_operand_file(path: Path) -> Arrays:
    """The arrays of an .npz archive by name, or the array of a .npy file as `a`."""
    return {"a": read_array(path)} if path.suffix == ".npy" else read_arrays(path)
