"""Proofs of the AXI4-Stream ports of whole small designs: layers, a bare array, networks by their last stage."""

from __future__ import annotations

import functools
from collections.abc import Callable

from amaranth.hdl import Assert, Cat, Cover, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.axi import AxiBareArray
from systoliq.hw.hierarchy import mark_used

from ..property import Property, SeededBug, Unbounded
from .checkers import check_held
from .small_tops import STAGES, bare_array, float8_layer, integer_layer, network_of, sums_layer

__all__ = ["PROPERTIES", "TopHarness", "offered_y"]


class TopHarness(wiring.Component):
    """The top that ``make`` makes, with free inputs; ``check`` adds the claims."""

    def __init__(self, make: Callable[[], wiring.Component]) -> None:
        self._make = make
        top = make()
        mark_used(top)
        members = top.signature.members.items()
        super().__init__({name: In(member.shape) for name, member in members if member.flow == wiring.In})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = self._make()
        m.d.comb += [getattr(dut, name).eq(getattr(self, name)) for name in self.signature.members]
        self.check(m, dut)
        return m

    def check(self, m: Module, dut: wiring.Component) -> None:
        """The claims on the top's ports."""
        raise NotImplementedError


def offered_y(dut: wiring.Component) -> Value:
    """Everything that is valid with ``m_axis_y_tvalid``."""
    handshake = ("m_axis_y_tvalid", "m_axis_y_tready")
    names = (name for name in dut.signature.members if name.startswith("m_axis_y_") and name not in handshake)
    return Cat(getattr(dut, name) for name in names)


class MasterHarness(TopHarness):
    """An offer on ``m_axis_y`` stays until it is taken; there are offers without ``tready``, too."""

    def check(self, m: Module, dut: wiring.Component) -> None:
        """See the class."""
        valid, ready = dut.m_axis_y_tvalid, dut.m_axis_y_tready
        check_held(m, valid, ready, offered_y(dut))
        was_ready = Signal()
        m.d.sync += was_ready.eq(was_ready | ready)
        m.d.comb += Cover(valid & ~ready & ~was_ready)


class ArrayHarness(TopHarness):
    """Both operands are taken together, where both are there, and a tile ends ``rows`` cycles after the last one at the
    earliest; nothing else waits. Each tile's sums come ``rows`` to a column, in their time, and no others.
    """

    def check(self, m: Module, dut: AxiBareArray) -> None:
        """See the class."""
        rows, cols, latency = dut.array.config.rows, dut.array.config.cols, dut.array.latency
        both, last = dut.s_axis_a_tvalid & dut.s_axis_b_tvalid, dut.s_axis_a_tlast
        age = Signal(range(rows + 1), init=rows)  # of the last end of a tile
        takes = both & (~last | (age == rows))
        ends = takes & last
        m.d.comb += [Assert(dut.s_axis_a_tready == takes), Assert(dut.s_axis_b_tready == takes)]
        with m.If(ends):
            m.d.sync += age.eq(1)
        with m.Elif(age != rows):
            m.d.sync += age.eq(age + 1)
        ended = Signal(latency + cols + rows - 2)  # a cycle ago, two cycles ago, ...
        m.d.sync += ended.eq(Cat(ends, ended[:-1]))
        for column in range(cols):
            first = latency + column - 1
            m.d.comb += Assert(dut.sums_valid[column] == ended[first : first + rows].any())
        m.d.comb += [Cover(dut.sums_valid.all()), Cover(both & ~takes)]


_CHANGES = SeededBug(
    module="axi",
    old='inner.ready.eq(getattr(edge, f"{name}_tready"))',
    new='inner.ready.eq(getattr(edge, f"{name}_tvalid"))',
)
_LOOKS_AT_READY = SeededBug(
    module="axi",
    old='getattr(edge, f"{name}_tvalid").eq(inner.valid)',
    new='getattr(edge, f"{name}_tvalid").eq(~getattr(edge, f"{name}_tready"))',
)
"""A bug of the first cycle, for a top whose first result is too late for ABC to find in time."""


def _master(name: str, make: Callable[[], wiring.Component], *, cycles: int, bug: SeededBug = _CHANGES) -> Property:
    return Property(
        name=f"ports, {name}",
        claim="what m_axis_y offers stays until it is taken, and does not wait for a receiver that is ready",
        harness=lambda: MasterHarness(make),
        method=Unbounded(cover_cycles=cycles),
        bug=bug,
        quick=True,
    )


PROPERTIES = (
    _master("layer, int8", integer_layer, cycles=30),
    _master("layer, sums, zero points with A", sums_layer, cycles=30),
    _master("layer, float8", float8_layer, cycles=40, bug=_LOOKS_AT_READY),
    *(_master(f"network that ends in a {end}", functools.partial(network_of, end), cycles=16) for end in STAGES),
    Property(
        name="ports, array",
        claim="A and B are taken together, at once but for ends of tiles too soon; sums come in their time, no others",
        harness=lambda: ArrayHarness(bare_array),
        method=Unbounded(cover_cycles=16),
        bug=SeededBug(module="bare_array", old="pace.eq(config.rows - 1)", new="pace.eq(config.rows - 2)"),
        quick=True,
    ),
)
