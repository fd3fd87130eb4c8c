"""Contents of memories in files next to the Verilog, read strictly: ambiguous contents are rejected."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .expression import UnreadableError

__all__ = ["SUFFIX", "MemoryFiles"]

SUFFIX = ".mem"
_DIGITS = b"0123456789abcdef"


class MemoryFiles:
    """The files in `directory` with contents of memories; one module reads each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read: set[str] = set()

    @property
    def unread(self) -> list[str]:
        """Names of those that no module has read so far."""
        return sorted({file.name for file in self._directory.glob(f"*{SUFFIX}")} - self._read)

    def words(self, name: str, count: int, width: int) -> npt.NDArray[Any]:
        """Return the words of a file as Python integers: `count` lines with the digits for `width` bits.

        The size of the file is checked first, so the file is never read beyond these words.
        """
        if not re.fullmatch(rf"\w+{re.escape(SUFFIX)}", name, re.ASCII):
            raise UnreadableError(f"$readmemh must name a file NAME{SUFFIX} in the package, not {name!r}")
        if name in self._read:
            raise UnreadableError(f"{name}: two memories read it")
        file = self._directory / name
        if not file.is_file():
            raise UnreadableError(f"{name}: is missing")
        self._read.add(name)
        digits = -(-width // 4)
        size, wanted = file.stat().st_size, count * (digits + 1)
        if size != wanted:
            raise UnreadableError(
                f"{name}: must hold {count} lines of {digits} hexadecimal digits, {wanted} bytes, not {size}"
            )
        text = file.read_bytes()
        _check(name, text, digits, width)
        return np.array([int(word, 16) for word in text.split()], dtype=object)


def _check(name: str, text: bytes, digits: int, width: int) -> None:
    """An `UnreadableError` with the first line that is no word of `width` bits."""
    lines = np.frombuffer(text, np.uint8).reshape(-1, digits + 1)
    good = np.isin(lines[:, :-1], np.frombuffer(_DIGITS, np.uint8)).all(axis=1) & (lines[:, -1] == ord("\n"))
    first = np.frombuffer(_DIGITS[: 1 << (width - 1) % 4 + 1], np.uint8)
    good &= np.isin(lines[:, 0], first)
    if not good.all():
        at = int(np.argmin(good))
        raise UnreadableError(
            f"{name}: line {at + 1} must be {digits} hexadecimal digits of a word of {width} bits, not "
            f"{lines[at].tobytes()!r}"
        )
