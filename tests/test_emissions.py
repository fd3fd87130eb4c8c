"""Blocks kept for a process: the same text for the same block, in whatever design, and for no other one."""

from __future__ import annotations

import pytest
from amaranth.hdl import Module, Value, signed
from amaranth.hdl._nir import CombinationalCycle
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq import sim
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
    """A block in a top, and in another block of it."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.part = place(Adder(self.addend), platform)
        m.submodules.pair = place(Pair(self.addend), platform)
        return m


class Pair(Adder):
    """A block that places the same block again."""

    kind = "pair"

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.part = place(Adder(self.addend), platform)
        return m


class Other(Top):
    """Another top with the same blocks, in another order."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pair = place(Pair(self.addend), platform)
        m.submodules.part = place(Adder(self.addend), platform)
        return m


class Mover(wiring.Component):
    """A block to which shapes are bits, but for the names of its wires."""

    kind = "mover"
    moves_bits = True

    def __init__(self, shape: object) -> None:
        super().__init__({"a": In(shape), "y": Out(shape)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += Value.cast(self.y).eq(Value.cast(self.a))
        return m


def emit(addend: int, name: str = "top", top: type[Top] = Top) -> tuple[str, dict[str, list[str]], int]:
    before = Adder.elaborated
    emission = Emission(name)
    return emission.rtlil(top(addend), name), emission.ports, Adder.elaborated - before


def test_a_design_is_elaborated_once():
    emissions.forget()
    text, ports, elaborated = emit(3)
    assert elaborated == 1
    assert emit(3) == (text, ports, 0)


def test_a_block_of_another_design_is_not_elaborated_again():
    """In the order of its own design, which is what comes without anything kept."""
    emissions.forget()
    alone, ports, elaborated = emit(3, top=Other)
    assert elaborated == 1
    emissions.forget()
    emit(3)
    text, found, elaborated = emit(3, top=Other)
    assert elaborated == 0
    assert (text, list(found.items())) == (alone, list(ports.items()))


def test_wires_have_the_names_of_their_own_shapes():
    """Amaranth takes the two layouts for the same: elements of their elements are signed in one of them only."""
    shapes = [data.ArrayLayout(data.ArrayLayout(element, 2), 1) for element in (8, signed(8))]
    texts = [Emission("top").rtlil(Mover(shape), "top") for shape in shapes]
    assert [" signed " in text for text in texts] == [False, True]


class Loop(Adder):
    """A combinational loop."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.sum.eq(self.sum + self.a)
        return m


def test_a_loop_that_was_not_looked_for_is_found_where_it_is():
    """A block that was kept without a look at it is converted again."""
    emissions.look_for_loops(False)
    assert Emission("top").rtlil(Loop(1), "top")
    emissions.look_for_loops(True)
    with pytest.raises(CombinationalCycle):
        Emission("top").rtlil(Loop(1), "top")


@pytest.mark.parametrize("other", [(4, "top"), (3, "other")])
def test_another_design_is_elaborated(other):
    text, _, _ = emit(3)
    emitted, _, elaborated = emit(*other)
    assert elaborated == 1
    assert emitted != text


def test_hardware_that_a_test_replaces_is_elaborated(monkeypatch):
    text, _, _ = emit(5)
    monkeypatch.setattr(Adder, "elaborate", lambda self, platform: Module())
    assert not emissions.kept
    assert emit(5)[0] != text
    monkeypatch.undo()
    assert emit(5)[::2] == (text, 0)


def test_a_block_of_replaced_hardware_goes_with_the_replacement():
    """Of two patches that overlap, and of one that replaces something else."""
    text, _, _ = emit(6)
    one, other = pytest.MonkeyPatch(), pytest.MonkeyPatch()
    one.setattr(Adder, "elaborate", lambda self, platform: Module())
    assert emit(6)[0] != text
    other.setattr(emissions, "SIZE", emissions.SIZE + 1)
    assert emit(6)[0] != text
    one.undo()
    assert emit(6)[::2] == (text, 1)
    other.undo()
    assert emit(6)[::2] == (text, 0)


def test_an_item_that_a_test_replaces_is_replaced_for_all_blocks(monkeypatch):
    kinds = {Adder: 1}
    for replace in (lambda: monkeypatch.setitem(kinds, Adder, 2), lambda: monkeypatch.delitem(kinds, Adder)):
        emit(5)
        replace()
        assert emit(5)[2] == 1


def test_blocks_are_kept_where_a_test_replaces_nothing(monkeypatch, tmp_path):
    """And where it replaces what hardware does not import."""
    emit(5)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOME_VARIABLE", "1")
    monkeypatch.setattr(sim.Simulation, "run", None)
    monkeypatch.setattr(sim, "build", None)
    assert emit(5)[2] == 0
    monkeypatch.undo()
    assert emit(5)[2] == 0
