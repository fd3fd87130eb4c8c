"""Proofs of the ports of whole small engines: AXI4-Lite, and the AXI4-Stream of Y."""

from __future__ import annotations

from amaranth.hdl import Assert, Cat, Cover, Module, Signal, Value
from amaranth.lib import wiring

from systoliq.golden import E4M3FN
from systoliq.hw.engine.axi_engine import AxiEngine

from ..property import Property, SeededBug, Unbounded
from .checkers import check_held
from .drain import small_engine
from .ports import TopHarness, offered_y

__all__ = ["PROPERTIES", "small_engine_top"]


def small_engine_top(kind: str) -> AxiEngine:
    """An engine of one element and little memory: of a dataflow, or "float8"."""
    if kind == "float8":
        return AxiEngine(
            small_engine("output-stationary", rows=1, cols=1, lanes=1).replace(a=E4M3FN, b=E4M3FN, y=E4M3FN)
        )
    return AxiEngine(small_engine(kind, rows=1, cols=1, lanes=1))


class EngineHarness(TopHarness):
    """Claims for all channels that the engine drives: an offer stays until it is taken. Each request is answered
    exactly once. A write's address and data are taken in any order, and only those of the next write wait for the
    answer.

    The covers concern the bus only: a job takes more cycles than covers explore.
    """

    def check(self, m: Module, dut: wiring.Component) -> None:
        """See the class."""
        waiting = Signal()
        offered = Signal(len(offered_y(dut)))
        m.d.sync += [waiting.eq(dut.m_axis_y_tvalid & ~dut.m_axis_y_tready), offered.eq(offered_y(dut))]
        with m.If(waiting):
            m.d.comb += [Assert(dut.m_axis_y_tvalid), Assert(offered_y(dut) == offered)]
        has_address, has_data = self._answers(m, dut, "b", ("aw", "w"), ("resp",))
        self._answers(m, dut, "r", ("ar",), ("data", "resp"))
        m.d.comb += [Cover(has_address & ~has_data), Cover(has_data & ~has_address)]

    def _answers(
        self, m: Module, dut: wiring.Component, answer: str, channels: tuple[str, ...], payload: tuple[str, ...]
    ) -> list[Signal]:
        """The claims on ``answer``, for which each of ``channels`` gives its part; which of them did so."""

        def of(channel: str, what: str) -> Value:
            signal: Value = getattr(dut, f"s_axi_ctrl_{channel}{what}")
            return signal

        valid, ready = of(answer, "valid"), of(answer, "ready")
        check_held(m, valid, ready, Cat(of(answer, what) for what in payload))
        requests = [Signal(name=f"has_{channel}") for channel in channels]
        for channel, has in zip(channels, requests, strict=True):
            came = of(channel, "valid") & of(channel, "ready")
            m.d.comb += [Assert(~valid | has), Assert(~came | ~has | (valid & ready))]
            m.d.sync += has.eq(came | (has & ~(valid & ready)))
        return requests


def _engine(kind: str, bug: SeededBug) -> Property:
    return Property(
        name=f"ports, engine, {kind}",
        claim="what m_axis_y and s_axi_ctrl offer stays until it is taken; one answer to each request, and none else",
        harness=lambda: EngineHarness(lambda: small_engine_top(kind)),
        method=Unbounded(cover_cycles=8),
        bug=bug,
    )


PROPERTIES = (
    _engine(
        "output-stationary",
        SeededBug(
            module="engine.axi_lite",
            old="decide.eq(got_address & got_data & ~decide)",
            new="decide.eq(got_address & ~decide)",
        ),
    ),
    _engine(
        "weight-stationary",
        SeededBug(
            module="engine.axi_lite", old="free = ~answering | self.s_rready", new="free = self.s_rready.any() | 1"
        ),
    ),
    _engine(
        "float8",
        SeededBug(module="engine.axi_lite", old="with m.Elif(self.s_bready):", new="with m.Else():"),
    ),
)
