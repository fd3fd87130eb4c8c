"""One Verilog module per kind of block: only blocks that are the same hardware may share it."""

from __future__ import annotations

import pytest
from amaranth.hdl import Module, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat
from systoliq.hw.block_ram import BlockRam
from systoliq.hw.config import ArrayConfig
from systoliq.hw.hierarchy import Emission, configuration, place
from systoliq.hw.mac import Mac
from systoliq.hw.verilog import emit_verilog
from systoliq.hw.weights import weight_memories

BASE = ArrayConfig(rows=1, cols=1, depth=1)


class Pair(wiring.Component):
    """Two blocks of one parent."""

    def __init__(self, *parts: wiring.Component) -> None:
        self._parts = parts
        super().__init__({"a": In(8), "sum": Out(8)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for index, part in enumerate(self._parts):
            m.submodules[f"part_{index}"] = place(part, platform)
        return m


class Adder(wiring.Component):
    """Ports that do not tell what it adds."""

    kind = "adder"

    def __init__(self, addend: object) -> None:
        self._addend = addend
        super().__init__({"a": In(8), "sum": Out(8)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.sum.eq(self.a + len(str(self._addend)))
        return m


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (lambda: Mac(BASE), lambda: Mac(BASE.replace(accumulator_bits=24)), "'mac', and"),
        (lambda: Mac(BASE), lambda: Mac(BASE.replace(a=IntFormat.parse("uint8"))), "'mac', and"),
        (lambda: Adder(1), lambda: Adder(11), "'adder', and _addend is 1 in one and 11 in the other"),
        (lambda: Adder([1, (2,)]), lambda: Adder([1, (3,)]), "'adder', and _addend is"),
        (lambda: Adder(BASE), lambda: Adder(BASE.replace(rows=2)), "'adder', and _addend is"),
    ],
)
def test_other_hardware_under_the_same_name_is_refused(one, other, what):
    with pytest.raises(
        RuntimeError, match="kind must be another one for other hardware: two blocks are called " + what
    ):
        emit_verilog(Pair(one(), other()), "pair")


@pytest.mark.parametrize("make", [lambda: Mac(BASE), lambda: Adder([1, {"a": BASE}])])
def test_the_same_hardware_is_written_once(make):
    part = make()
    text = Emission("pair").rtlil(Pair(part, make()), "pair")
    assert text.count(f"module \\pair_{part.kind}\n") == 1


def test_memory_takes_words_of_any_shape():
    shapes = (signed(8), unsigned(8), data.StructLayout({"high": 4, "low": 4}))
    rams = [BlockRam(shape, depth=300, cells="portable") for shape in shapes]
    assert configuration(rams[0]) == configuration(rams[1]) == configuration(rams[2])
    assert configuration(rams[0]) != configuration(BlockRam(signed(8), depth=300, cells="portable", registered=False))
    assert Emission("pair").rtlil(Pair(*rams), "pair").count("module \\pair_ram_300x8\n") == 1


def test_memory_contents_count():
    layout = Mac(BASE).b.shape()
    one, other = (weight_memories(layout, [[[value], [2]]], cells="portable")[0] for value in (1, 3))
    assert configuration(one) != configuration(other)
