"""The tables of a job: where each entry goes, in gaps and around the end of the ring."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.hw.engine import EngineConfig, lane_slots
from systoliq.hw.engine.host import Job, Map, column_constants, column_words, row_words


def job(m, n):
    rng = np.random.default_rng(n)
    return Job(
        a=np.zeros((m, 2), np.uint8),
        b=np.zeros((2, n), np.uint8),
        a_zero_point=rng.integers(0, 256, m).astype(np.uint8),
        b_zero_point=rng.integers(0, 256, n).astype(np.uint8),
        bias=rng.integers(-(2**31), 2**31, n).astype(np.int32),
        scale=rng.uniform(0.001, 0.1, n).astype(np.float32),
    )


def written(words, first):
    """Address -> word."""
    found = {}
    for address, data in words.stretches(first):
        for i, word in enumerate(np.frombuffer(data, "<u4").tolist()):
            assert address + 4 * i not in found
            found[address + 4 * i] = word
    return found


@pytest.mark.parametrize("first", [0, 1, 5, 7])
@pytest.mark.parametrize("n", [1, 3, 4, 11, 24])
@pytest.mark.parametrize("lanes", [1, 3, 4])
def test_columns_go_where_the_lanes_look(lanes, n, first):
    config = EngineConfig(rows=2, cols=12, lanes=lanes, max_columns=8 << (lanes - 1).bit_length())
    n = min(n, config.table_words * lanes)
    one, slots = job(2, n), lane_slots(config)
    multipliers, shifts = column_constants(one.scale)
    expected = {}
    for column in range(n):
        entry = (first + column // lanes) % config.table_words * slots + column % lanes
        values = (one.bias[column], multipliers[column], shifts[column], int(one.b_zero_point[column]) - 128)
        masks = (0xFFFFFFFF, 0xFFFFFF, 0x3F, 0xFF)
        for word, (value, mask) in enumerate(zip(values, masks, strict=True)):
            expected[0x100000 + 16 * entry + 4 * word] = int(value) & mask
    assert written(column_words(one, config, Map().column_table), first) == expected


@pytest.mark.parametrize("first", [0, 3, 6])
def test_rows_go_around_the_end(first):
    config = EngineConfig(max_rows=8)
    one = job(5, 2)
    expected = {0x80000 + 4 * ((first + m) % 8): int(one.a_zero_point[m]) - 128 & 0xFF for m in range(5)}
    assert written(row_words(one, config, Map().row_table), first) == expected
    assert row_words(job(1, 2), config, Map().row_table) is None
