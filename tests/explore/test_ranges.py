from __future__ import annotations

import pytest

from systoliq.errors import InputError
from systoliq.explore.grid.ranges import parse_range, parse_words
from systoliq.explore.grid.space import Space
from systoliq.explore.grid.subjects.layer import LayerPoint, LayerSubject

GOOD = {
    "1,2,4": (1, 2, 4),
    "4:8": (4, 5, 6, 7, 8),
    "8:24:4": (8, 12, 16, 20, 24),
    "1:16:x2": (1, 2, 4, 8, 16),
    "1:20:x3": (1, 3, 9),
    "8:23:4": (8, 12, 16, 20),
    "4,1:2, 4": (1, 2, 4),
    "3:3": (3,),
}
BAD = {
    "": "must be like",
    ",": "must be like",
    "a": "must be like",
    "-1": "must be like",
    "1:": "must be like",
    "1.5": "must be like",
    "1:2:3:4": "must be like",
    "8:4": "rows must rise: '8:4' runs from 8 down to 4",
    "1:8:0": "step of at least 1",
    "1:8:x1": "step of at least x2",
    "0:8:x2": "start at 1 or more",
    "1:99999999999": "at most 10000 values",
}


@pytest.mark.parametrize(("text", "values"), GOOD.items())
def test_ranges(text, values):
    assert parse_range("rows", text) == values


@pytest.mark.parametrize(("text", "message"), BAD.items())
def test_bad_ranges_are_named(text, message):
    with pytest.raises(InputError, match=f"^rows .*{message}" if "rows" not in message else message):
        parse_range("rows", text)


def test_numbers_are_taken_as_they_are():
    assert parse_range("rows", 3) == (3,)
    assert parse_range("rows", [4, 1]) == (1, 4)
    with pytest.raises(InputError, match="rows must name at least one value"):
        parse_range("rows", [])
    with pytest.raises(TypeError, match="rows must hold integers, not 1.5"):
        parse_range("rows", [1.5])
    with pytest.raises(TypeError, match="rows must hold integers, not True"):
        parse_range("rows", True)


def test_words():
    assert parse_words("target", "b, a,b", ("a", "b")) == ("b", "a")
    with pytest.raises(InputError, match="target must be among a, b, not 'c'"):
        parse_words("target", "a,c", ("a", "b"))


def parsed(**changes):
    axes = {"rows": "1", "cols": "1,2", "depth": "1", "a_bits": "8", "b_bits": "8", "requantizer": "near-tie,auto"}
    given = {**axes, "requantizer_bits": "8,24", "cells": "portable", "target": "ecp5-85k", **changes}
    return Space.parse(LayerSubject.axes, LayerPoint.of, given)


def test_a_requantizer_that_chooses_its_width_is_one_point():
    space = parsed()
    assert space.size == 8
    assert len(list(space.points())) == 6
    assert {point.requantizer_bits for point in space.points() if point.requantizer == "auto"} == {0}


@pytest.mark.parametrize(
    ("axis", "value", "message"),
    [
        ("target", "ecp6", "target must be among .*ecp5-85k.*, not 'ecp6'"),
        ("requantizer", "round", "requantizer must be among near-tie, .*, not 'round'"),
        ("cells", "tsmc", "cells must be among auto, portable, .*, not 'tsmc'"),
        ("requantizer_bits", "8:32:8", "requantizer_bits must be within 1 to 24, not '8:32:8'"),
    ],
)
def test_bad_axes_are_named(axis, value, message):
    with pytest.raises(InputError, match=message):
        parsed(**{axis: value})
