"""The hierarchy: a kind of block is one module, however often it is placed, and works as it does in place."""

from __future__ import annotations

import re
import shutil

import pytest
from amaranth.hdl import Module, ResetInserter, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.hierarchy import Emission, place

from .bench import icarus, trace


class Count(wiring.Component):
    """Counts by `step`; of a kind of its own for each."""

    def __init__(self, step):
        self.step = step
        self.kind = f"count_by_{step}"
        super().__init__({"i": In(1), "o": Out(unsigned(8))})

    def elaborate(self, platform):
        m = Module()
        count = Signal(8)
        with m.If(self.i):
            m.d.sync += count.eq(count + self.step)
        m.d.comb += self.o.eq(count)
        return m


class Parent(wiring.Component):
    """Places counters, all but the first cleared by `clear`."""

    def __init__(self, steps):
        self.counts = [Count(step) for step in steps]
        super().__init__({"i": In(1), "clear": In(1)} | {f"o_{i}": Out(unsigned(8)) for i in range(len(steps))})

    def elaborate(self, platform):
        m = Module()
        for i, count in enumerate(self.counts):
            m.submodules[f"count_{i}"] = place(count, platform, clear=self.clear if i else None)
            m.d.comb += [count.i.eq(self.i), getattr(self, f"o_{i}").eq(count.o)]
        return m


STIMULUS = [{"i": cycle % 3 > 0, "clear": cycle in (6, 11, 15), "rst": cycle == 15} for cycle in range(25)]


def expected(steps):
    counts = [0] * len(steps)
    for line in STIMULUS:
        yield {f"o_{i}": count for i, count in enumerate(counts)}
        for i, step in enumerate(steps):
            cleared = line["rst"] or (line["clear"] and i)
            counts[i] = 0 if cleared else (counts[i] + step * line["i"]) % 256


def test_placed_blocks_are_elaborated_in_place_by_the_simulator():
    assert trace(Parent([3, 5, 3]), STIMULUS) == list(expected([3, 5, 3]))


@pytest.mark.simulator
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
def test_emitted_instances_do_the_same(tmp_path):
    assert icarus(Parent([3, 5, 3]), STIMULUS, "portable", tmp_path) == list(expected([3, 5, 3]))


def test_each_kind_is_written_once_under_its_prefix():
    text = Emission("top").rtlil(Parent([3, 5, 3, 3]), "top")
    assert sorted(re.findall(r"^module \\(\S+)", text, re.MULTILINE)) == ["top", "top_count_by_3", "top_count_by_5"]
    assert sorted(re.findall(r"^\s*cell \\top_count_by_(\d) ", text, re.MULTILINE)) == ["3", "3", "3", "5"]
    other = Emission("other").rtlil(Parent([3]), "other")
    assert re.findall(r"^module \\(\S+)", other, re.MULTILINE) == ["other", "other_count_by_3"]


def test_place_without_emission_is_the_component_itself():
    count = Count(1)
    assert place(count, None) is count
    assert place(count, None, clear=Signal()) is not count
    assert isinstance(ResetInserter(Signal())(count), type(place(Count(1), None, clear=Signal())))
