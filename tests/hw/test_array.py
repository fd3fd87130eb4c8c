"""The systolic array: every sum of every tile in the cycle and column that its contract names."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.hw import ArrayConfig
from systoliq.hw.array import SystolicArray
from systoliq.hw.mac import Mac

from .bench import corner, trace, with_models, wrapped

SIZES = [(1, 1, 1), (1, 4, 2), (5, 1, 1), (3, 4, 1), (4, 3, 3)]  # rows, cols, depth


class Tiles:
    """Beats of random tiles, as close as may be and further apart, and where their sums belong."""

    def __init__(self, config, least, *, ones, tiles, seed):
        self.config, self.ones, self.rng = config, ones, random.Random(seed)
        self.beats = []  # (a, b, first, last) of each cycle, unskewed
        self.results = []  # (cycle of the last beat, sums)
        ended = -least
        for tile in range(tiles):
            count = self.rng.choice([1, 2, 5, 9])
            waits = self.rng.random() < 0.5
            total = np.zeros((config.rows, config.cols), np.int64)
            for beat in range(count):
                while waits and self.rng.random() < 0.3:
                    self._none()
                while beat == count - 1 and len(self.beats) < ended + least:
                    self._none()
                a, b = self._word(config.a, config.rows), self._word(config.b, config.cols)
                if ones:
                    a[0], b[0] = 1, 1
                total += a @ b.T
                self.beats.append((a, b, beat == 0, beat == count - 1))
            ended = len(self.beats) - 1
            self.results.append((ended, total))
            if tile % 3 == 2:
                for _ in range(least):
                    self._none()

    def _word(self, fmt, lanes):
        count = (lanes, self.config.depth)
        return np.array([corner(self.rng, fmt.min, fmt.max) for _ in range(lanes * self.config.depth)]).reshape(count)

    def _none(self):
        a, b = self._word(self.config.a, self.config.rows), self._word(self.config.b, self.config.cols)
        self.beats.append((0 * a, 0 * b if self.ones else b, False, False))

    def stimulus(self, length, *, skewed):
        none = (np.zeros((self.config.rows, self.config.depth), int), self.beats[0][1], False, False)
        beats = self.beats + [none] * length

        def side(index, lanes, t):
            return [(beats[t - lane * skewed] if t >= lane * skewed else none)[index][lane] for lane in lanes]

        rows, cols = range(self.config.rows), range(self.config.cols)
        return [
            {
                "a": [[int(x) for x in lane] for lane in side(0, rows, t)],
                "b": [[int(x) for x in lane] for lane in side(1, cols, t)],
                "first": beats[t][2],
                "last": beats[t][3],
            }
            for t in range(len(self.beats) + length)
        ]


def check(config, *, interval=1, ones=False, broadcast=False, tiles=5, seed=0, reset=None, folder=None):
    array = SystolicArray(config, interval=interval, ones=ones, broadcast=broadcast)
    least = SystolicArray.drain_cycles_of(config, interval, broadcast=broadcast)
    given = Tiles(config, least, ones=ones, tiles=tiles, seed=seed)
    stimulus = given.stimulus(array.latency + least + config.cols, skewed=not broadcast)
    if reset is not None:  # a tile's sums are on their way, and half of the next one is there
        begun = given.results[2][0] + reset
        stimulus = [*stimulus[: begun + 1], {"rst": 1}, {"rst": 0, **stimulus[0]}, *stimulus[1:]]
    shown = trace(array, stimulus, cells=config.cells if folder else "portable", folder=folder)
    shown = shown[0 if reset is None else begun + 2 :]
    for number, (last, total) in enumerate(given.results):
        for (row, col), value in np.ndenumerate(total):
            at = last + array.latency + row * interval + col
            if number == 0 and shown[at]["sums"] is None:  # under Icarus, while other columns' first sums are unknown
                continue
            assert shown[at]["sums"][col] == wrapped(value, config.accumulator_bits), (last, row, col)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("interval", [1, 3])
@pytest.mark.parametrize("ones", [False, True])
def test_sums_leave_row_after_row_column_after_column(size, interval, ones):
    rows, cols, depth = size
    check(ArrayConfig(rows=rows, cols=cols, depth=depth), interval=interval, ones=ones, seed=rows)


@pytest.mark.parametrize("size", [size for size in SIZES if size[0] > 1], ids=str)
@pytest.mark.parametrize("interval", [1, 3])
@pytest.mark.parametrize("ones", [False, True])
def test_operands_that_are_broadcast(size, interval, ones):
    rows, cols, depth = size
    config = ArrayConfig(rows=rows, cols=cols, depth=depth)
    check(config, interval=interval, ones=ones, broadcast=True, seed=rows)


@pytest.mark.parametrize("cols", [1, 2, 4])
@pytest.mark.parametrize("interval", [1, 3])
def test_operands_that_are_broadcast_to_one_row(cols, interval):
    check(ArrayConfig(rows=1, cols=cols, depth=2), interval=interval, broadcast=True, seed=cols)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_unsigned_operands_narrow_sums_and_pairs_that_come_one_after_the_other(size):
    rows, cols, depth = size
    config = ArrayConfig(rows=rows, cols=cols, depth=depth, a=UINT8, b=INT8, accumulator_bits=17, cells="xilinx")
    assert depth == 1 or Mac.skew_of(config)
    check(config, seed=cols)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("cells", with_models("ecp5", "ecp5-pair", "dsp48e2-pair"))
@pytest.mark.parametrize(("size", "interval"), [((1, 4, 2), 1), ((3, 4, 1), 1), ((8, 8, 1), 1), ((3, 4, 2), 2)])
def test_vendors_cells(tmp_path, cells, size, interval):
    rows, cols, depth = size
    config = ArrayConfig(rows=rows, cols=cols, depth=depth, cells=cells)
    check(config, interval=interval, tiles=4, seed=rows, folder=tmp_path)


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("reset", [0, 1, 4])
def test_reset_ends_all_tiles(broadcast, reset):
    check(ArrayConfig(rows=4, cols=2), interval=2, broadcast=broadcast, seed=5, reset=reset)
