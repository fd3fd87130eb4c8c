"""The schedule: tiles, lanes and column order, against counting them out."""

from __future__ import annotations

import itertools

import pytest

from systoliq.hw import ArrayConfig, Schedule

CASES = [
    Schedule(k=k, n=n, config=ArrayConfig(rows=rows, cols=cols, depth=depth))
    for k, n, rows, cols, depth in itertools.product((1, 7, 64), (1, 5, 16), (1, 3), (1, 4, 6), (1, 4))
]


@pytest.mark.parametrize(
    "schedule", CASES, ids=lambda s: f"{s.k}-{s.n}-{s.config.rows}x{s.config.cols}x{s.config.depth}"
)
def test_schedule(schedule):
    config = schedule.config
    assert schedule.beats == len(range(0, schedule.k, config.depth))
    assert schedule.column_tiles == len(range(0, schedule.n, config.cols))
    divisors = [lanes for lanes in range(1, config.cols + 1) if config.cols % lanes == 0]
    enough = [lanes for lanes in divisors if config.rows * config.cols <= lanes * schedule.beats]
    assert schedule.lanes == min(enough, default=config.cols)
    assert schedule.lanes * schedule.interval == config.cols
    assert schedule.drain_cycles == config.rows * config.cols // schedule.lanes
    assert schedule.tile_cycles == max(schedule.beats, schedule.drain_cycles)


@pytest.mark.parametrize("schedule", CASES[::5], ids=str)
def test_beats_of_y_hold_neighbouring_columns(schedule):
    cols, lanes = schedule.config.cols, schedule.lanes
    beats = [[lane * schedule.interval + step for lane in range(lanes)] for step in range(schedule.interval)]
    assert [schedule.logical_column(physical) for beat in beats for physical in beat] == list(range(cols))


@pytest.mark.parametrize("schedule", CASES[::5], ids=str)
def test_ragged_tile_has_the_beats_that_its_columns_need(schedule):
    cols, n = schedule.config.cols, schedule.n
    tiles = [range(start, min(start + cols, n)) for start in range(0, n, cols)]
    steps = [-(-len(tile) // schedule.lanes) for tile in tiles]
    assert [schedule.row_beats(tile) for tile in range(schedule.column_tiles)] == steps
    assert schedule.beats_per_row == sum(steps)


def test_groups_and_utilization():
    schedule = Schedule(k=8, n=4, config=ArrayConfig(rows=3, cols=4, depth=2))
    assert [schedule.groups(m) for m in (1, 3, 4, 7)] == [1, 1, 2, 3]
    assert schedule.utilization(3, 4) == 1.0  # 4 cycles of 24 multiplications each for 3 x 8 x 4
