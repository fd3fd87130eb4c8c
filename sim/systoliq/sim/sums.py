"""The sums of a bare array inside a cocotb bench: an agent that reads every valid sum, without back-pressure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["ColumnSums", "SumsReader"]


class ColumnSums:
    """The sums of one cycle: `word` has the sums of all columns; the bits of `valid` select the valid sums.

    Undefined bits are 0 in `word` and 1 in `undefined`.
    """

    def __init__(self, word: int, valid: int, undefined: int, bits: int) -> None:
        self.word, self.valid, self.undefined, self._bits = word, valid, undefined, bits

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Each column that has a sum, and the bits of that sum; -1 where some are undefined."""
        lane = (1 << self._bits) - 1
        for column in range(self.valid.bit_length()):
            if self.valid >> column & 1:
                at = self._bits * column
                yield column, -1 if self.undefined >> at & lane else self.word >> at & lane


class SumsReader:
    """Reads `sums` and `sums_valid`, and passes valid sums to `taken(sums, cycle)`."""

    def __init__(self, dut: Any, taken: Callable[[ColumnSums, int], None]) -> None:
        self._sums, self._valid = dut.sums, dut.sums_valid
        self._columns = len(self._valid)
        self._bits = len(self._sums) // self._columns
        self._taken = taken

    def reset(self) -> None:
        """Nothing is under way here."""

    def drive(self) -> None:
        """Nothing can hold the sums back."""

    def sample(self, cycle: int) -> None:
        """Read the sums that are there."""
        valid = int(self._valid.value) if self._columns == 1 else self._valid.value.to_unsigned()
        if not valid:
            return
        data = self._sums.value
        undefined = 0
        if not data.is_resolvable:  # before the first tile, shadow registers hold what came before reset
            text = str(data)
            undefined = int("".join("0" if bit in "01" else "1" for bit in text), 2)
            data = type(data)("".join(bit if bit in "01" else "0" for bit in text))
        self._taken(ColumnSums(data.to_unsigned(), valid, undefined, self._bits), cycle)
