"""The stimulus of an engine: its job whose K has sixteen bits, word for word."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design import EngineDesign
from systoliq.golden import matmul_integer
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import EnginePacking
from systoliq.testbench.beats import beats_of
from systoliq.testbench.engine.stimulus import DEEP, engine_stimulus


@pytest.mark.parametrize("dataflow", ["output-stationary", "weight-stationary"])
def test_its_words_are_those_of_the_whole_job(dataflow):
    """All rows and columns of the array are in use, so that no word has anything beyond M and N."""
    config = EngineConfig(rows=2, cols=3, depth=3, lanes=1, a_words=64, b_words=64, dataflow=dataflow)
    deep = next(job for job in engine_stimulus(EngineDesign(config)) if job.title == DEEP)
    job, ahead = deep.job, deep.ahead
    assert 1 << 15 <= job.k < 1 << 16
    assert (job.m, job.n) == (2, 3)
    packing, generator = EnginePacking(config), np.random.default_rng(1)
    for words, beats, first in (
        (packing.pack_a(job.a, generator), deep.a_beats, ahead.a_words),
        (packing.pack_b(job.b, generator), deep.b_beats, ahead.b_words),
    ):
        sent = [*beats[:first] * ahead.times, *beats]
        assert sent == list(beats_of(words, np.arange(len(words)) == len(words) - 1))
    y = matmul_integer(job.a, job.b, job.a_zero_point[0], job.b_zero_point) + job.bias
    np.testing.assert_array_equal(deep.y, y, strict=True)


@pytest.mark.parametrize("rows", [1, 2])
def test_zero_points_of_rows_come_even_where_buffers_are_small(rows):
    """Both ends of their format, of which the highest bit tells."""
    config = EngineConfig(rows=rows, cols=2, depth=1, lanes=2, a_words=8, b_words=8)
    points = [job.job.a_zero_point for job in engine_stimulus(EngineDesign(config))]
    assert any(len(each) > 1 and {0, 255} <= set(each.tolist()) for each in points)


@pytest.mark.slow
def test_an_array_of_more_than_a_third_of_such_a_k_has_none():
    config = EngineConfig(rows=256, cols=1, depth=86, lanes=1, a_words=64, b_words=64)
    assert not any(job.title == DEEP for job in engine_stimulus(EngineDesign(config)))
