"""Parallelism: positive integers."""

from __future__ import annotations

import re

import pytest

from systoliq.hw.network.parallelism import Parallelism


@pytest.mark.parametrize("fields", [{"cols": 0}, {"depth": -1}, {"cols": 1.5}, {"depth": "2"}])
def test_parallelism_is_positive(fields):
    ((name, value),) = fields.items()
    with pytest.raises(ValueError, match=re.escape(f"{name} must be a positive integer, not {value!r}")):
        Parallelism(**fields)
