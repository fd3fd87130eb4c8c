"""Scoreboards: compare each output of a block with golden's, in any bench.

scoreboard = Scoreboard(Block.open("out/fc"), y=StreamMonitor(dut.u_fc, "m_axis_y"))
scoreboard.expect(a)
await scoreboard.finish(100, "us")      # AssertionError with the first outputs that differ, by row and column
"""

from __future__ import annotations

import contextlib
from collections import deque
from typing import Any

import numpy.typing as npt
from cocotb.triggers import Event, SimTimeoutError, with_timeout

from .block import ArrayBlock, LayerBlock
from .mismatch import Mismatch
from .streams import StreamMonitor, SumsMonitor
from .sums import ColumnSums

__all__ = ["Scoreboard", "SumsScoreboard"]

KEPT = 100  # mismatches kept with their place
SHOWN = 10
UNDEFINED = "undefined bits"


class _Ledger:
    """Comparisons and mismatches: the part that both scoreboards share."""

    def __init__(self, name: str, monitors: list[StreamMonitor]) -> None:
        self.name = name
        self.compared = 0
        self.wrong = 0
        self.mismatches: list[Mismatch] = []
        self.faults: list[str] = []
        self._monitors = monitors
        self._changed = Event()

    @property
    def pending(self) -> int:
        """Outputs that are expected and did not come yet."""
        raise NotImplementedError

    async def finish(self, timeout: float, unit: str = "us") -> None:
        """Wait until every expected output came, no longer than `timeout` of simulated time, and `check`."""
        with contextlib.suppress(SimTimeoutError):
            await with_timeout(self._complete(), timeout, unit)  # type: ignore[arg-type]  # any of cocotb's units
        self.check()

    def check(self) -> None:
        """AssertionError where an output differs from golden, is missing, or none came; or where a rule was broken.

        The message has the first mismatches, each with row, column, expected and actual value.
        """
        said = [f"{self.name}: {self.wrong} of {self.compared} outputs differ from golden"] if self.wrong else []
        said += [f"{self.name}: {each}" for each in self.mismatches[:SHOWN]]
        said += self.faults[:SHOWN]
        if self.pending:
            said.append(f"{self.name}: {self.pending} outputs did not come, {self.compared} came")
        elif not self.compared:
            said.append(f"{self.name}: no output came, and none was expected")
        for monitor in self._monitors:
            said += monitor.violations[:SHOWN]
        if said:
            raise AssertionError("\n".join(said))

    async def _complete(self) -> None:
        while self.pending:
            self._changed.clear()
            await self._changed.wait()

    def _compare(self, row: int, column: int, expected: int, got: int | str) -> None:
        self.compared += 1
        if got != expected:
            self.wrong += 1
            if len(self.mismatches) < KEPT:
                self.mismatches.append(Mismatch(row=row, column=column, expected=expected, got=got))

    def _fault(self, text: str) -> None:
        if len(self.faults) < KEPT:
            self.faults.append(f"{self.name}: {text}")


class Scoreboard(_Ledger):
    """Compares each row of Y from a layer with golden's.

    Rows of A come from the bench, by `expect`, or from `a`, a monitor on s_axis_a that observes other senders. With a
    monitor, rows are numbered as they enter, including those that only fill up a group, and a reset drops those in
    progress. Without one, a bench that resets in the middle must call `clear`.
    """

    def __init__(self, block: LayerBlock, *, y: StreamMonitor, a: StreamMonitor | None = None) -> None:
        if not isinstance(block, LayerBlock):
            raise TypeError(f"block must be a LayerBlock, not {block!r}: see SumsScoreboard for an array")
        super().__init__(block.name, [y] if a is None else [a, y])
        self.block = block
        # Groups to come: the row of Y, its number or -1, for each row of the group; and whether the batch ends.
        self._groups: deque[tuple[list[tuple[int, list[int]]], bool]] = deque()
        self._pending = 0
        self._at = 0  # beat of the first group
        self._rows = 0
        y.listeners.append(self)
        self._sees_a = a is not None
        if a is not None:
            a.listeners.append(_Groups(self))

    @property
    def pending(self) -> int:
        """Number of expected outputs that have not arrived yet."""
        return self._pending

    def expect(self, a: npt.ArrayLike, a_zero_point: npt.ArrayLike | None = None) -> None:
        """Expect the rows of Y for a batch `a`, [M, K] or [K]; call it before the first row leaves the block.

        Raises TypeError and ValueError if the type, shape or values do not match A, and RuntimeError if a monitor
        provides A.
        """
        if self._sees_a:
            raise RuntimeError(f"{self.name}: rows must come from the monitor on s_axis_a alone, where there is one")
        y = self.block.golden(self.block.rows_of(a), a_zero_point).tolist()
        size = self.block.rows
        for start in range(0, len(y), size):
            self._push(y[start : start + size], start + size >= len(y))

    def clear(self) -> None:
        """Drop all expectations, after a reset."""
        self._groups.clear()
        self._pending = self._at = 0
        self._changed.set()

    def _push(self, rows: list[list[int]], last: bool) -> None:
        numbered = [(self._rows + index, row) for index, row in enumerate(rows)]
        self._rows += len(rows)
        self._pending += len(rows) * self.block.layer.n
        self._groups.append((numbered, last))

    def cleared(self) -> None:
        """Drop the rows in progress, if a monitor on s_axis_a provides A."""

    def beat(self, word: int, last: bool, cycle: int) -> None:
        """Compare a beat of Y."""
        if not self._groups:
            self._fault(f"a beat of Y in cycle {cycle} that no row of A asked for")
            return
        rows, ends = self._groups[0]
        row, column, count = self.block.places[self._at]
        if row < len(rows):  # the others fill up the group
            number, expected = rows[row]
            got: list[Any] = [UNDEFINED] * count if word < 0 else self.block.unpack_y(word)[:count]
            for index in range(count):
                self._compare(number, column + index, expected[column + index], got[index])
            self._pending -= count
        self._at += 1
        whole = self._at == self.block.beats_out
        if last != (whole and ends):
            self._fault(f"tlast must be {int(whole and ends)} with the beat of Y in cycle {cycle}, not {int(last)}")
        if whole:
            self._groups.popleft()
            self._at = 0
        self._changed.set()


class _Groups:
    """The beats from the monitor on s_axis_a, joined to groups."""

    def __init__(self, board: Scoreboard) -> None:
        self._board = board
        self._words: list[int] = []

    def beat(self, word: int, last: bool, cycle: int) -> None:
        board, block = self._board, self._board.block
        if word < 0:
            board._fault(f"a beat of A in cycle {cycle} with undefined bits")
        self._words.append(word)
        whole = len(self._words) == block.beats_in
        if last and not whole:
            board._fault(f"tlast of A in cycle {cycle} with beat {len(self._words)} of a group of {block.beats_in}")
        if whole:
            board._push(block.golden(*block.unpack_group(self._words)).tolist(), last)
            self._words = []

    def cleared(self) -> None:
        self._words = []
        self._board.clear()


class SumsScoreboard(_Ledger):
    """Compares each sum from a bare array with golden's."""

    def __init__(self, block: ArrayBlock, *, sums: SumsMonitor) -> None:
        if not isinstance(block, ArrayBlock):
            raise TypeError(f"block must be an ArrayBlock, not {block!r}: see Scoreboard for a layer")
        super().__init__(block.name, [])
        self.block = block
        self._columns: list[deque[tuple[int, int, int | None]]] = [deque() for _ in range(block.cols)]
        self._rows = 0
        sums.listeners.append(self)

    @property
    def pending(self) -> int:
        """Number of expected sums that have not arrived yet, including padding of tiles."""
        return sum(map(len, self._columns))

    def expect(self, a: npt.ArrayLike, b: npt.ArrayLike) -> None:
        """Expect the sums of the product of `a` [M, K] and `b` [K, N], in the tiles of `ArrayBlock.pack`.

        Row numbers continue from product to product. Raises TypeError and ValueError if types, shapes or values do not
        match A and B.
        """
        golden = self.block.golden(a, b)
        m, n = golden.shape
        down, across = self.block.tiles(m, n)
        for row_tile in range(down):
            for column_tile in range(across):
                for row in range(row_tile * self.block.rows, (row_tile + 1) * self.block.rows):
                    for lane, expected in enumerate(self._columns):
                        column = column_tile * self.block.cols + lane
                        value = int(golden[row, column]) if row < m and column < n else None
                        expected.append((self._rows + row, column, value))
        self._rows += m

    def clear(self) -> None:
        """Drop all expectations, after a reset."""
        for expected in self._columns:
            expected.clear()
        self._changed.set()

    def sums(self, sums: ColumnSums, cycle: int) -> None:
        """Compare the sums of a cycle."""
        for lane, bits in sums:
            if not self._columns[lane]:
                self._fault(f"a sum of column {lane} in cycle {cycle} that no tile asked for")
                continue
            row, column, expected = self._columns[lane].popleft()
            if expected is not None:
                self._compare(row, column, expected, UNDEFINED if bits < 0 else self.block.unpack_sum(bits))
        self._changed.set()

    def cleared(self) -> None:
        """Do nothing: a bench that resets in the middle calls `clear`."""
