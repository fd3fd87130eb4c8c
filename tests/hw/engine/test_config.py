"""The configuration of an engine: what there is no hardware for is refused, and the numbers of a job."""

from __future__ import annotations

import itertools

import pytest

from systoliq.golden import E4M3FN, E5M2
from systoliq.golden import FLOAT8 as FLOAT8_FORMATS
from systoliq.hw.engine import EngineConfig, JobShape

FLOAT8 = {"a": E5M2, "b": E4M3FN, "y": E5M2}
NAMES = ["rows", "cols", "depth", "lanes", "a_words", "b_words", "max_columns", "max_rows"]


def test_what_is_not_given():
    config = EngineConfig()
    assert [getattr(config, name) for name in NAMES] == [4, 4, 1, 4, 256, 1024, 256, 256]
    assert (config.dataflow, config.cells, config.a, config.b, config.y) == (
        "output-stationary",
        "portable",
        None,
        None,
        None,
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.0, TypeError), (True, TypeError)])
def test_sizes_are_positive_integers(name, value, error):
    with pytest.raises(error, match=f"{name} must be a positive integer, not {value!r}"):
        EngineConfig(**{name: value})


@pytest.mark.parametrize(("name", "values"), [("a_words", (2, 12, 1 << 17)), ("max_rows", (1, 3, 1 << 17))])
def test_memories_are_powers_of_two(name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"{name} must be a power of two from . to 65536, not {value}"):
            EngineConfig(**{name: value})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cols": 6, "lanes": 4}, "lanes must divide cols = 6, not 4"),
        ({"rows": 257}, "rows must be at most 256, not 257"),
        ({"cols": 129, "lanes": 129, "max_columns": 1 << 16}, "column table at most 65536 entries"),
        ({"cells": "none"}, "cells must be one of"),
        ({"dataflow": "none"}, "dataflow must be one of"),
        ({"a": E5M2}, "b must be float8 as a is: a, b and y are, or none of them"),
        ({"b": E5M2, "y": E5M2}, "a must be float8 as b is"),
        (FLOAT8 | {"dataflow": "weight-stationary"}, "dataflow must be output-stationary for float8, not 'weight"),
    ],
)
def test_what_cannot_be_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        EngineConfig(**fields)


def test_formats_are_float8():
    with pytest.raises(TypeError, match="y must be a Float8Format, or None for integers, not 'e5m2'"):
        EngineConfig(**FLOAT8 | {"y": "e5m2"})
    with pytest.raises(ValueError, match="a, b and y must be float8, which they are not"):
        EngineConfig().float8_formats  # noqa: B018
    assert EngineConfig(**FLOAT8).float8 == EngineConfig(**FLOAT8).float8_formats == (E5M2, E4M3FN, E5M2)


@pytest.mark.parametrize("a", FLOAT8_FORMATS, ids=str)
@pytest.mark.parametrize("b", FLOAT8_FORMATS, ids=str)
def test_accumulators_of_float8_hold_every_sum_of_a_job(a, b):
    """The greatest in units of the least values, by Python's integers."""
    config = EngineConfig(a=a, b=b, y=a)
    assert 2 ** (config.array.accumulator_bits - 1) > 65535 * a.max_units * b.max_units


@pytest.mark.parametrize(("columns", "lanes"), [(2, 1), (16, 4), (32, 3), (64, 64), (256, 5)])
def test_column_table_has_a_place_for_every_column(columns, lanes):
    config = EngineConfig(cols=lanes * 2, lanes=lanes, max_columns=columns)
    words = config.table_words
    assert words & (words - 1) == 0
    assert words * lanes >= columns
    assert words == 2 or words // 2 * lanes < columns


@pytest.mark.parametrize("dataflow", ["output-stationary", "weight-stationary"])
@pytest.mark.parametrize(("m", "k", "n"), [*itertools.product((1, 5), (1, 9), (1, 4, 7))])
def test_numbers_of_a_job(dataflow, m, k, n):
    config = EngineConfig(rows=2, cols=4, depth=3, lanes=2, dataflow=dataflow)
    shape = JobShape(m=m, k=k, n=n, config=config)
    beats, tiles = len(range(0, k, 3)), len(range(0, n, 4))
    chunks = len(range(0, k, 6))
    assert (shape.beats, shape.column_tiles, shape.chunks) == (beats, tiles, chunks)
    assert shape.a_words == (m * chunks if dataflow == "weight-stationary" else len(range(0, m, 2)) * beats)
    assert shape.b_words == tiles * beats
    assert shape.macs == m * k * n
    assert 0 < shape.edge_limit <= 1
    assert (shape.edge_limit == 1) == (
        n % 4 == 0 and k % (6 if shape.stationary_weights else 3) == 0 and (shape.stationary_weights or m % 2 == 0)
    )
