"""Placements of jobs: addresses and strides that do not fit are refused by name; test_dma_engine.py plays lists."""

from __future__ import annotations

import pytest

from systoliq.hw.dma.commands import Placement

PLACE = {"a": 0, "a_stride": 0, "b": 0, "b_stride": None, "y": 0, "y_stride": 0}
ADDRESS = [("a", -1), ("b", 1 << 32), ("y", 1 << 32), ("y", None), ("a", 0.5)]
STRIDE = [("a_stride", 1 << 32), ("b_stride", -(1 << 31) - 1), ("y_stride", None)]


@pytest.mark.parametrize(("name", "value"), ADDRESS)
def test_addresses_have_32_bits(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be from 0 to 4294967295, not {value}$"):
        Placement(**PLACE | {name: value})


@pytest.mark.parametrize(("name", "value"), STRIDE)
def test_strides_have_32_bits(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be from -2147483648 to 4294967295, not {value}$"):
        Placement(**PLACE | {name: value})


def test_the_last_addresses_and_strides():
    Placement(**PLACE | {"a": (1 << 32) - 1, "a_stride": -(1 << 31), "b_stride": (1 << 32) - 1})
