"""Emission: the same text whatever the hash seed, each kind of block once, and size that follows the array's edges."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from amaranth.hdl import Instance, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw import ArrayConfig, AxiBareArray, BareArray, EmissionError, emit_verilog

_EMIT = """
import hashlib
from systoliq.hw import ArrayConfig, AxiBareArray, BareArray, emit_verilog
array = BareArray(ArrayConfig(rows=3, cols=4, depth=2))
print(hashlib.sha256(emit_verilog(AxiBareArray(array), "array").encode()).hexdigest())
"""


def emitted(rows: int, cols: int, **fields: object) -> str:
    array = BareArray(ArrayConfig(rows=rows, cols=cols, **fields))  # type: ignore[arg-type]
    return emit_verilog(AxiBareArray(array), "array")


@pytest.fixture(scope="module")
def square() -> dict[int, str]:
    return {size: emitted(size, size) for size in (4, 8, 16, 32)}


@pytest.mark.slow  # tests/package/test_emit.py has whole packages
def test_same_text_whatever_the_hash_seed() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", _EMIT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(digests) == 1


def test_same_text_within_one_process() -> None:
    assert emitted(3, 2) == emitted(3, 2)


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 4), (4, 1), (5, 3)])
def test_each_kind_of_block_is_one_module(rows: int, cols: int) -> None:
    modules = re.findall(r"^module (\S+?)\(", emitted(rows, cols), re.MULTILINE)
    expected = {"array", "array_bare_array", "array_array", "array_column", "array_mac"}
    expected |= {"array_skew_a", "array_skew_b", "array_multiplier_8x8"}
    expected |= {"array_pe", "array_drain"} if rows > 1 else {"array_pe_top"}
    assert Counter(modules) == Counter(expected)


def test_instances_are_named_after_their_place(square: dict[int, str]) -> None:
    text = square[4]
    assert re.findall(r"^  array_column (\S+) \(", text, re.MULTILINE) == [f"column_{i}" for i in range(4)]
    assert re.findall(r"^  array_pe (\S+) \(", text, re.MULTILINE) == [f"pe_{i}" for i in range(4)]


def test_bytes_grow_with_the_edges_not_with_the_elements(square: dict[int, str]) -> None:
    steps = [len(square[2 * size]) - len(square[size]) for size in (4, 8, 16)]
    for smaller, larger in itertools.pairwise(steps):
        assert 1.7 < larger / smaller < 2.3  # linear: twice the step, twice the bytes; elements would be four times
    assert len(square[32]) < 100_000


def test_what_yosys_refuses_is_an_error_of_ours() -> None:
    with pytest.raises(EmissionError, match="Yosys failed on broken"):
        emit_verilog(Broken(), "broken")


class Broken(wiring.Component):
    """Names a module that is not there."""

    def __init__(self) -> None:
        super().__init__({"i": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.cell = Instance("NO_SUCH_CELL", i_A=self.i)
        return m


def test_rows_and_columns_cost_no_products() -> None:
    wide, tall, both, none = (len(emitted(*size)) for size in ((4, 24), (24, 4), (24, 24), (4, 4)))
    assert both < 1.1 * (wide + tall - none)
