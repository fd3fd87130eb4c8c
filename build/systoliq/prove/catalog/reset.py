"""Proofs that a reset of two cycles gives the state of power-up, whatever came before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amaranth.hdl import (
    Assert,
    ClockDomain,
    ClockSignal,
    Cover,
    DomainRenamer,
    Module,
    Mux,
    ResetSignal,
    Signal,
    Value,
    unsigned,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.network import Window
from systoliq.hw.fifo import Fifo
from systoliq.hw.hierarchy import mark_used
from systoliq.hw.network.fork import Fork
from systoliq.hw.network.gearbox import Gearbox
from systoliq.hw.network.image import ImageWindow
from systoliq.hw.network.window_buffer import WindowBuffer
from systoliq.hw.replay_buffer import ReplayBuffer
from systoliq.hw.skid_buffer import SkidBuffer

from ..property import Bounded, Method, Property, SeededBug, Unbounded
from .input_blind import input_widths, port_name

__all__ = ["PROPERTIES"]

_SMALL = ImageWindow(window=Window(kernel=(1, 1)), image=(2, 2), channels=1, groups=1)
_CYCLES = 2  # for which the reset is held, as docs/integration.md demands
_FOR_ALL_TIME = Unbounded(cover_cycles=10)
_BITS = 2


class ResetHarness(wiring.Component):
    """Two copies of a block: one is used, and reset when ``again`` says so; the other waits in reset from power-up on.

    The used one takes any inputs before and during the reset, also such as no stream gives. Then both take the same.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        model = make()
        mark_used(model)
        super().__init__(
            {name: In(width) for name, width in input_widths(model).items()} | {"again": In(1), "reset_before": In(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        used, fresh = self._make(), self._make()
        left, over = Signal(range(_CYCLES + 1), init=_CYCLES), Signal()  # cycles of the reset; after it
        begun = Signal()
        resets = self.again | begun
        m.d.sync += begun.eq(resets)
        with m.If(resets & (left != 0)):
            m.d.sync += left.eq(left - 1)
        m.d.comb += over.eq(left == 0)
        copies = {"used": (used, ~over & (resets | self.reset_before)), "fresh": (fresh, ~over)}
        for name, (copy, reset) in copies.items():  # a domain each: the reset reaches the blocks that the copy places
            m.domains += ClockDomain(name, local=True)
            m.d.comb += [ClockSignal(name).eq(ClockSignal()), ResetSignal(name).eq(reset)]
            m.submodules[name] = DomainRenamer(name)(copy)
        ports = zip(used.signature.flatten(used), fresh.signature.flatten(fresh), strict=True)
        outputs: dict[str, tuple[Value, Value]] = {}
        for (path, member, one), (_, _, other) in ports:
            pair = Value.cast(one), Value.cast(other)
            if member.flow == In:
                given = getattr(self, port_name(path))
                m.d.comb += [pair[0].eq(given), pair[1].eq(Mux(over, given, 0))]
            elif member.flow == Out:
                outputs[port_name(path)] = pair
        for name, (one, other) in outputs.items():
            stream = name.removesuffix("__payload")
            counts = outputs[f"{stream}__valid"][0] if stream != name else 1  # a payload counts while it is offered
            with m.If(over & counts):
                m.d.comb += Assert(one == other)
            if name.endswith("__valid"):
                m.d.comb += Cover(over & one)
        return m


def _reset(
    name: str, make: Callable[[], Any], bug: SeededBug, *, method: Method = _FOR_ALL_TIME, quick: bool = False
) -> Property:
    return Property(
        name=f"reset of a {name}",
        claim="after two cycles of reset, whatever came before, all outputs are as after power-up",
        harness=lambda: ResetHarness(make),
        method=method,
        bug=bug,
        quick=quick,
    )


def _kept(module: str, register: str, shape: str = "") -> SeededBug:
    """A register that a reset does not change."""
    inside = f"{shape}, " if shape else ""
    return SeededBug(
        module=module, old=f"{register} = Signal({shape})", new=f"{register} = Signal({inside}reset_less=True)"
    )


PROPERTIES = (
    _reset(
        "network fork", lambda: Fork(unsigned(_BITS), ways=2), _kept("network.fork", "done", "self.ways"), quick=True
    ),
    _reset(
        "network FIFO of 2",
        lambda: Fifo(unsigned(_BITS), depth=2, cells="portable"),
        _kept("fifo", "oldest", "range(self.depth)"),
    ),
    _reset("gearbox, 2 to 1", lambda: Gearbox(unsigned(1), of=2, to=1), _kept("network.gearbox", "there")),
    _reset("gearbox, 1 to 2", lambda: Gearbox(unsigned(1), of=1, to=2), _kept("network.gearbox", "full")),
    _reset("skid buffer", lambda: SkidBuffer(unsigned(_BITS)), _kept("skid_buffer", "offers"), quick=True),
    _reset(
        "replay buffer, 2 beats 2 times",
        lambda: ReplayBuffer(unsigned(_BITS), beats=2, times=2, cells="portable", registered=False),
        _kept("replay_buffer", "bank"),
    ),
    _reset(
        "window buffer, 1 x 1 windows on 2 x 2",
        lambda: WindowBuffer(_SMALL, unsigned(1), word=1, padding=1, cells="portable", kind="w"),
        _kept("network.window_buffer", "newest", "range(self.rams[0].depth)"),
        method=Bounded(cycles=24),  # two memories, one behind the other, are too much for PDR
    ),
)
