"""The drain lane: each sum of its columns as the layer defines its output, in its cycle, and nothing else."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.golden import INT8
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.hw import ArrayConfig, Schedule
from systoliq.hw.drain_lane import ColumnConstants, DrainLane
from systoliq.hw.requantizer import RequantizerConfig

from .bench import corner_of, trace

BITS = 24
ZERO_POINT = -3
ROW_SUM_BITS = 18
ROW_SUMS = -(1 << ROW_SUM_BITS - 1), (1 << ROW_SUM_BITS - 1) - 1


def lane_of(schedule, index, *, rounding, residuals, rng, cells="portable"):
    """(lane, constants by tile and step, whose columns are those of lane `index` of each tile)."""
    scales = [np.float32(2.0 ** rng.uniform(-18, -6)) for _ in range(schedule.column_tiles * schedule.interval)]
    requantization = Requantization.from_scales(scales, ZERO_POINT, INT8, rounding=rounding)
    columns = [
        ColumnConstants(
            bias=corner_of(rng, 20),
            residual=rng.randrange(-200, 200) if residuals else 0,
            multiplier=requantization.multiplier[i],
            shift=requantization.shift[i],
            offset=requantization.offset[i],
        )
        for i in range(len(scales))
    ]
    steps = schedule.interval
    tiles = [columns[tile * steps : (tile + 1) * steps] for tile in range(schedule.column_tiles)]
    tiles[-1] = tiles[-1][: schedule.row_beats(schedule.column_tiles - 1)]
    lane = DrainLane(
        schedule, RequantizerConfig.of(requantization, 40, cells=cells), tiles, zero_point=ZERO_POINT, index=index,
        row_sums=ROW_SUMS if residuals else None, cells=cells,
    )  # fmt: skip
    return lane, tiles, requantization


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("k", "n", "rows", "cols"),
    [
        (4, 1, 1, 1),
        (4, 3, 2, 4),
        (16, 9, 3, 4),
        (2, 8, 5, 4),
        (6, 5, 1, 6),
        (17, 17, 1, 17),
        (80, 25, 2, 33),
        (90, 75, 1, 40),
    ],
)
@pytest.mark.parametrize("residuals", [False, True])
@pytest.mark.parametrize("rounding", [Rounding.NEAR_TIE, Rounding.FLOOR])
def test_every_output_in_its_cycle(k, n, rows, cols, residuals, rounding):
    check_every_output(k, n, rows, cols, residuals=residuals, rounding=rounding)


@pytest.mark.simulator
@pytest.mark.parametrize("cells", ["ecp5", "ecp5-lut", "gowin", "ice40"])
def test_row_sums_in_cells(cells, tmp_path):
    check_every_output(6, 5, 2, 4, residuals=True, rounding=Rounding.NEAR_TIE, cells=cells, folder=tmp_path)


def check_every_output(k, n, rows, cols, *, residuals, rounding, cells="portable", folder=None):
    schedule = Schedule(k=k, n=n, config=ArrayConfig(rows=rows, cols=cols, accumulator_bits=BITS))
    rng = random.Random(n)
    lane, tiles, requantization = lane_of(schedule, 0, rounding=rounding, residuals=residuals, rng=rng, cells=cells)
    interval, drain = schedule.interval, schedule.drain_cycles
    stimulus, wanted, reset_at = [{"start": 0} for _ in range(3)], {}, None
    handed_on = {}  # cycle -> row sum for the lane to the right
    for visit in range(2 * schedule.column_tiles + 2):
        if visit == 1:  # within a tile: the next one is the first again, and nothing of this one comes
            del stimulus[-max(drain // 2, 1) :]
            reset_at = len(stimulus)
            wanted = {cycle: beat for cycle, beat in wanted.items() if cycle <= reset_at}
            handed_on = {}
            stimulus.append({"rst": 1, "start": 0})
        tile = max(visit - 1, 0) % schedule.column_tiles
        batch_last = rng.random() < 0.5
        for row in range(rows):
            row_sum = corner_of(rng, ROW_SUM_BITS)
            for step in range(interval):
                at = len(stimulus)
                if rows > 1 or step == 0:  # the sums of a single row stay
                    sums = [corner_of(rng, BITS - 1) for _ in range(interval)]
                starts = row == step == 0
                line = {"rst": 0, "start": starts, "sums": sums}
                line["batch_last"] = batch_last if starts else rng.random() < 0.5
                if residuals:
                    line["row_sum"] = row_sum if step == 0 else corner_of(rng, ROW_SUM_BITS)
                    if step == interval - 1:
                        handed_on[at + 1] = row_sum
                stimulus.append(line)
                if step < len(tiles[tile]):
                    column = tiles[tile][step]
                    acc = sums[step] + column.bias - (column.residual * row_sum if residuals else 0)
                    index = tile * interval + step
                    last = row == rows - 1 and step == len(tiles[tile]) - 1
                    y = int(requantization.column(index).apply(np.array([[acc]]))[0, 0])
                    wanted[at + lane.latency] = (y, last and batch_last, last)
        spare = schedule.tile_cycles - drain  # with one row, the sums stay until the next tile's
        stimulus += [{"start": 0, "sums": sums}] * (min(spare, 2) if rows == 1 else 0)
        if rng.random() < 0.5:
            change = {"sums": [corner_of(rng, BITS - 1) for _ in range(interval)]}
            stimulus += [{"start": 0, **change} for _ in range(rng.randrange(1, 5))]
    stimulus += [{"start": 0}] * lane.latency
    for cycle, line in enumerate(trace(lane, stimulus, cells=cells, folder=folder)):
        assert line["push"] == (cycle in wanted), cycle
        if line["push"]:
            assert (line["y"], line["flags"].last, line["flags"].tile_last) == wanted[cycle], cycle
        if cycle in handed_on:
            assert line["row_sum_next"] == handed_on[cycle], cycle
    assert max(wanted) > reset_at
