"""Proof that the outputs of a block depend only on its registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Assert, Assume, Cover, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.hierarchy import mark_used

from ..property import Property, SeededBug, Unbounded

__all__ = ["blind", "input_widths", "port_name"]


def port_name(path: tuple[str | int, ...]) -> str:
    """Return the name of the port at `path` in a signature."""
    return "__".join(map(str, path))


def input_widths(model: Any) -> dict[str, int]:
    """Return the bits of all inputs of a component, by name."""
    ports = model.signature.flatten(model)
    return {port_name(path): len(Value.cast(value)) for path, member, value in ports if member.flow == wiring.In}


class InputBlindHarness(wiring.Component):
    """Two copies of a block with the same past inputs: their outputs are equal for any inputs in this cycle.

    Outputs on the inner side of the bus are not compared. Registers without reset start with any values, the same in
    both copies.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        model = make()
        mark_used(model)
        widths = input_widths(model)
        super().__init__(
            {f"{copy}_{name}": In(width) for name, width in widths.items() for copy in ("one", "other")}
            | {"apart": In(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        duts = [self._make() for _ in range(2)]
        m.submodules.one, m.submodules.other = duts
        before, started = Signal(), Signal()
        m.d.sync += [before.eq(before | self.apart), started.eq(1)]
        with m.If(~started):
            m.d.comb += Assume(~self.apart)
        ports = [list(dut.signature.flatten(dut)) for dut in duts]
        for (path, member, one), (_, _, other) in zip(*ports, strict=True):
            one, other = Value.cast(one), Value.cast(other)
            if member.flow == wiring.In:
                first, second = (getattr(self, f"{copy}_{port_name(path)}") for copy in ("one", "other"))
                m.d.comb += [one.eq(first), other.eq(Mux(self.apart, second, first))]
            elif not str(path[0]).startswith(("write", "read")):
                with m.If(~started):
                    m.d.comb += Assume(one == other)
                with m.Elif(~before):
                    m.d.comb += Assert(one == other)
        m.d.comb += Cover(self.apart & ~before)
        return m


def blind(name: str, make: Callable[[], Any], bug: SeededBug) -> Property:
    """The property of the engine's block ``name``, which ``make`` makes."""
    return Property(
        name=f"engine {name}: outputs are blind to inputs",
        claim="in no reachable state does an input change an output of the same cycle",
        harness=lambda: InputBlindHarness(make),
        method=Unbounded(cover_cycles=4),
        bug=bug,
        quick=True,
    )
