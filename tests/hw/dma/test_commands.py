"""Placements of jobs: addresses and strides that do not fit are refused by name; test_dma_engine.py plays lists."""

from __future__ import annotations

import pytest

from systoliq.hw.dma.commands import CommandList, Placement
from systoliq.hw.dma.list_player import Opcode

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


@pytest.mark.parametrize(
    ("address", "words", "message"),
    [
        (2, [0], "address must be a multiple of 4 below 0x400000, not 0x2"),
        (1 << 22, [0], "address must be a multiple of 4 below 0x400000, not 0x400000"),
        ((1 << 22) - 4, [0, 0], "address must be a multiple of 4 below 0x400000, not 0x400000"),
        (0, [5, 1 << 32], "words must be from 0 to 4294967295, not 4294967296"),
        (0, [-1], "words must be from 0 to 4294967295, not -1"),
    ],
)
def test_a_list_holds_what_fits(address, words, message):
    commands = CommandList()
    for put in (commands.write, commands.fill):
        with pytest.raises(ValueError, match=message):
            put(address, words)
    if len(words) == 1:
        with pytest.raises(ValueError, match=message):
            commands.wait(address, 1, *words, 0)
    assert commands.words == []


def test_the_last_word_of_a_list():
    commands = CommandList()
    commands.write((1 << 22) - 4, [(1 << 32) - 1])
    assert commands.data == (Opcode.WRITE << 30 | (1 << 22) - 4).to_bytes(4, "little") + b"\xff" * 4
