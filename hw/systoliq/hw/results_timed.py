"""Times of the results of an array, from the times of its operands: beats of A  -->  beats of Y."""

from __future__ import annotations

import numpy as np

from .result_buffer import ResultBuffer
from .schedule import Schedule
from .sequencer import tiles_timed
from .timeline import Steps, Timeline

__all__ = ["results_timed"]


def results_timed(
    line: Timeline, schedule: Schedule, taken: Steps, result_buffer: ResultBuffer, *, flight: int
) -> Steps:
    """Return the beats of Y that leave `result_buffer`, without stalls from outside.

    `taken` are the beats of A that the array takes, and `flight` the cycles from the last beat of a tile to its first
    result at the buffer.
    """
    tiles = len(taken) // schedule.beats
    rows, interval = np.arange(schedule.config.rows)[:, np.newaxis], schedule.interval
    steps = [
        schedule.pace * (rows * interval + np.arange(schedule.row_beats(tile))).reshape(-1)
        for tile in range(schedule.column_tiles)
    ]
    sizes = np.array([len(steps[tile % schedule.column_tiles]) for tile in range(tiles)])
    pushed = line.steps(int(sizes.sum()))
    offsets = np.concatenate([steps[tile % schedule.column_tiles] for tile in range(tiles)])
    pushed.after_some(taken, flight + offsets, np.repeat(np.arange(tiles) * schedule.beats + schedule.beats - 1, sizes))
    left = result_buffer.timed(line, pushed)
    done = line.steps(tiles)
    done.after_some(left, 0, np.cumsum(sizes) - 1)
    tiles_timed(line, schedule, taken, done, room=result_buffer.tiles)
    return left
