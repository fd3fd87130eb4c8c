"""Cycle model of a job of a DMA engine: operands as the masters bring them, tiles, and results as they are written."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping

from ..engine import AxiEngine, EngineConfig, JobShape
from .commands import WalkOf

__all__ = ["Held", "JobTimes", "RowsOfA", "Supply", "beats_of_steps", "job_times", "y_cycles"]

_A_LATENCY, _B_LATENCY = 22, 12
"""Cycles from the start of a walk to the first word for the engine, besides the first block of A."""
_Y_LATENCY = 16
"""Cycles from the last result of the engine to the answer of memory to its write."""
_ENDED = 10
"""Cycles from the last result of the engine to its end in STATUS."""
_REFILL = 9
"""Cycles from the use of a word of A to the use of the word that takes its place."""
_KEPT = 64
"""Cycles of writes that wait between the engine and memory."""
_SINGLE = 1.5
"""Cycles of a run of Y of one beat."""
_AHEAD = 4
"""Blocks of A that the transposer holds."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowsOfA:
    """The kind of rows that A has: rows of a matrix or, if there is a `line`, windows of a map.

    A line has `line` windows, and a window `down` lines of `across` taps; each tap has the steps of the walk. With
    `shares`, windows side by side have taps in common.
    """

    across: int = 1
    down: int = 1
    line: int = 0
    shares: bool = False

    def moves(self, first: int, last: int) -> bool:
        """True if taps of the group of these rows are read once for all of its windows."""
        return self.shares and first // self.line == last // self.line


@dataclasses.dataclass(frozen=True, kw_only=True)
class Held:
    """Words of A and B that a job keeps until its last tile, which ends at `until`."""

    a: int = 0
    b: int = 0
    until: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Supply:
    """The `walks` of a job by operand, the times at which they begin, and what the `rows` of A are.

    The engine takes words from `opens` on, at first beside those that are `held` for the job before.
    """

    walks: Mapping[str, WalkOf]
    starts: Mapping[str, float]
    rows: RowsOfA
    bus_bytes: int
    opens: float
    held: Held


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobTimes:
    """When a job gives way: `all_words` of it are taken, `free` for the first tile of the next job, `ended` counts it
    in STATUS.jobs, `written` has all of Y in memory, and `walks` are the ends of the walks of A, B and Y. The array and
    each port need `least` cycles if none waits for another.
    """

    least: float
    all_words: float
    held: Held
    free: float
    ended: float
    written: float
    walks: dict[str, float]


def _beats_of_run(address: int, strides: tuple[int, ...], extent: int, bus_bytes: int) -> float:
    """Beats of a run of `extent` + 1 bytes, on average of the places that `strides` reach from `address`."""
    step = math.gcd(bus_bytes, *strides)
    places = range(address % step, bus_bytes, step) if step < bus_bytes else [address % bus_bytes]
    return sum((place + extent) // bus_bytes + 1 for place in places) / len(places)


def y_cycles(walk: WalkOf, bus_bytes: int) -> float:
    """Cycles that the writes of Y take at the least."""
    least = _SINGLE if walk.rows > 1 or walk.steps > 1 else 1
    return sum(walk.rows * max(beats, least) for beats in beats_of_steps(walk, bus_bytes))


def job_times(engine: AxiEngine, shape: JobShape, supply: Supply, first: float) -> JobTimes:
    """The times of a job whose first tile may begin at `first`."""
    config, tile, walks, starts = shape.config, shape.tile_cycles, supply.walks, supply.starts
    tail = engine.cycles(shape) - shape.groups * shape.column_tiles * tile

    @functools.cache
    def blocks_of(rows: int, moves: bool) -> list[float]:
        return _blocks(supply, config, rows, moves)

    def of_group(group: int) -> list[float]:
        first = group * config.rows
        rows = min(config.rows, shape.m - first)
        return blocks_of(rows, supply.rows.moves(first, first + rows - 1))

    blocks = of_group(0)
    last_block = float(walks["a"].last_extent // config.depth + 1)  # on its way out of the transposer
    opens, held = supply.opens, supply.held
    b_there = max(starts["b"] + _B_LATENCY, opens)
    a_there = max(starts["a"] + _A_LATENCY, opens - min(_AHEAD * blocks[0], sum(blocks)))
    b_words = 0
    ends: list[float] = []
    time = first
    for group in range(shape.groups):
        a_there += sum(of_group(group))
        if group == 0 and held.a + shape.beats > config.a_words:
            a_there = max(a_there, held.until + _REFILL)
        full, into = divmod((group + 1) * shape.beats - config.a_words - 1, shape.beats)
        if full >= 0:  # the words of this group take the place of words that the array has used
            a_there = max(a_there, (time if full == group else ends[full] - tile) + into + _REFILL)
        if group == 0:
            for beats in beats_of_steps(walks["b"], supply.bus_bytes):
                b_there += max(float(shape.beats), walks["b"].rows * beats)
                b_words += shape.beats
                if held.b + b_words > config.b_words:
                    b_there = max(b_there, held.until + _REFILL)
                time = max(time + tile, a_there + last_block, b_there)
        else:
            time = max(time + tile, a_there + last_block) + (shape.column_tiles - 1) * tile
        ends.append(time)
    of_b = sum(walks["b"].rows * beats for beats in beats_of_steps(walks["b"], supply.bus_bytes))
    of_y = y_cycles(walks["y"], supply.bus_bytes)
    array_and_a = sum(max(shape.column_tiles * tile, sum(of_group(group))) for group in range(shape.groups))
    last = max(time + tail, max(starts["y"], first + tile + tail) + of_y)
    return JobTimes(
        least=max(array_and_a, of_b, of_y),
        all_words=max(a_there + last_block, b_there),
        held=Held(
            a=shape.beats,
            b=b_words if shape.groups > 1 else min(b_words, shape.beats),
            until=time,
        ),
        free=max(time, last - tail - _KEPT) + engine.turn(shape) - engine.cycles(shape) + tail,
        ended=last + _ENDED,
        written=last + _Y_LATENCY,
        walks={"a": a_there - 4, "b": b_there - 4, "y": last},
    )


def beats_of_steps(walk: WalkOf, bus_bytes: int) -> list[float]:
    """Beats of a run of each step of a walk."""
    strides = walk.row_stride, walk.step_stride
    whole, last = (
        _beats_of_run(walk.address, strides, extent, bus_bytes) for extent in (walk.extent, walk.last_extent)
    )
    return [*[whole] * (walk.steps - 1), last]


def _blocks(supply: Supply, config: EngineConfig, rows: int, moves: bool) -> list[float]:
    """Cycles in the transposer of each block of a group of `rows` rows of A; if it `moves`, a line of taps has the rows
    of its first tap, and one more row for each of the others.
    """
    walk, of_a = supply.walks["a"], supply.rows

    def of_tap(rows: int) -> list[float]:
        return [
            max(
                rows * _beats_of_run(walk.address, (walk.row_stride,), extent, supply.bus_bytes),
                float(extent // config.depth + 1),
            )
            for extent in [*[walk.extent] * (walk.steps - 1), walk.last_extent]
        ]

    return (of_tap(rows) + of_tap(1 if moves else rows) * (of_a.across - 1)) * of_a.down
