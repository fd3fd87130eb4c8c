"""Emissions kept for a process: the same text for the same design, and for no other one."""

from __future__ import annotations

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.hierarchy import Emission, place

from .support import emissions


class Adder(wiring.Component):
    """One block, which counts how often it is elaborated."""

    kind = "adder"
    elaborated = 0

    def __init__(self, addend: int) -> None:
        self.addend = addend
        super().__init__({"a": In(8), "sum": Out(8)})

    def elaborate(self, platform: object) -> Module:
        type(self).elaborated += 1
        m = Module()
        m.d.comb += self.sum.eq(self.a + self.addend)
        return m


class Top(Adder):
    """A block in a top."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.part = place(Adder(self.addend), platform)
        return m


def emit(addend: int, name: str = "top") -> tuple[str, dict[str, list[str]], int]:
    before = Adder.elaborated
    emission = Emission(name)
    return emission.rtlil(Top(addend), name), emission.ports, Adder.elaborated - before


def test_a_design_is_elaborated_once():
    emissions.forget()
    text, ports, elaborated = emit(3)
    assert elaborated == 1
    assert emit(3) == (text, ports, 0)


@pytest.mark.parametrize("other", [(4, "top"), (3, "other")])
def test_another_design_is_elaborated(other):
    text, _, _ = emit(3)
    emitted, _, elaborated = emit(*other)
    assert elaborated == 1
    assert emitted != text


def test_hardware_that_a_test_replaces_is_elaborated(monkeypatch):
    assert not emissions.kept
    text, _, _ = emit(5)
    monkeypatch.setattr(Adder, "elaborate", lambda self, platform: Module())
    emissions.forget()
    assert emit(5)[0] != text
