"""Recipes: lanes that divide an operator's channels, without a depth."""

from __future__ import annotations

import pytest

from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.network.recipe import Recipe


def recipe(**parallelism):
    rest = {"cells": "portable", "lane_cells": "portable", "kind": "one", "requantize": None, "order": None}
    return Recipe(parallelism=Parallelism(**parallelism), **rest)


def test_lanes_are_the_columns():
    assert [recipe(cols=cols).lanes(6) for cols in (1, 2, 3, 6)] == [1, 2, 3, 6]


@pytest.mark.parametrize(
    ("parallelism", "message"),
    [({"cols": 4}, "lanes must divide the 6 channels, not 4"), ({"depth": 2}, "depth must be 1, not 2")],
)
def test_what_there_are_no_lanes_for(parallelism, message):
    with pytest.raises(ValueError, match=message):
        recipe(**parallelism).lanes(6)
