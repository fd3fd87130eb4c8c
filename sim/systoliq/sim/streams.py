"""Streams in any bench: sources, sinks and monitors that run independently of other agents.

    source = StreamSource(dut, "s_axis", clock=dut.aclk, reset=dut.aresetn, active_low=True, pauses=0.3)
    sums = StreamMonitor(dut.u_fc, "m_axis_y")      # an instance deep inside, whose ports are clk and rst
    source.send(block.pack(a))

They drive after the falling edge of the clock, and sample when everything has settled, before the rising edge that
makes a transfer. So other agents can drive after either edge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import cocotb
from cocotb.triggers import Event, FallingEdge, ReadOnly

from .axi_stream import Agent, Monitor, Sink, Source, Stalls
from .block import Beats
from .sums import ColumnSums, SumsReader

__all__ = ["BeatListener", "StreamMonitor", "StreamSink", "StreamSource", "SumsListener", "SumsMonitor"]


class BeatListener(Protocol):
    """The events of a monitored stream."""

    def beat(self, word: int, last: bool, cycle: int) -> None:
        """A beat was taken: tdata with tuser above it, -1 where it has undefined bits."""

    def cleared(self) -> None:
        """The reset is active."""


class SumsListener(Protocol):
    """The events of a monitored array."""

    def sums(self, sums: ColumnSums, cycle: int) -> None:
        """Sums arrived."""

    def cleared(self) -> None:
        """The reset is active."""


class StreamSource(Source):
    """Sends beats on the stream `name` of `handle`: `{name}_tvalid`, `_tdata` and so on.

    Nothing else may drive these signals, and the simulator must accept values for them: inputs of the top, or variables
    (reg), but not inputs of an instance. `clock` and `reset` default to `clk` and `rst` of `handle`. `pauses` is the
    probability of a pause in a cycle, repeatable by `seed`. An undefined tready fails the test after a reset or a taken
    beat. A reset drops all beats that were sent before; beats sent before or during a reset wait for its end.
    """

    def __init__(
        self,
        handle: Any,
        name: str,
        *,
        clock: Any = None,
        reset: Any = None,
        active_low: bool = False,
        pauses: float = 0,
        seed: int = 0,
    ) -> None:
        super().__init__(handle, name, _stalls(pauses, seed))
        self._name = f"{handle._path}.{name}"
        self._idle = Event()
        self._defined = False
        self._begun = False  # a beat was offered since the source was last done
        keep = getattr(handle, f"{name}_tkeep", None)
        if keep is not None:
            keep.value = (1 << len(keep)) - 1
        self.load([], [])
        super().reset()
        _start(self, handle, clock, reset, active_low)

    def send(self, beats: Beats) -> None:
        """Send these beats after those in progress."""
        if self.done:
            self.load([], [])
        lasts = list(beats.lasts) or [False] * len(beats.words)
        if len(lasts) != len(beats.words):
            raise ValueError(f"beats must have a last for each of their {len(beats.words)} words, not {len(lasts)}")
        self.load([*self._words[self._next :], *beats.words], [*self._lasts[self._next :], *lasts])
        self._idle.clear()

    async def sent(self) -> None:
        """Wait until every beat was taken."""
        if not self.done:
            await self._idle.wait()

    def drive(self) -> None:
        """Offer the next beat, or pause."""
        super().drive()
        self._begun |= self._offered

    def sample(self, cycle: int) -> None:
        """Read whether the offered beat is taken, and wake those who wait for the last one."""
        if not self._ready.value.is_resolvable:
            if self._defined and not self._free:
                raise AssertionError(f"{self._name}: ready is undefined in cycle {cycle}, while a beat is offered")
            return
        super().sample(cycle)
        self._defined |= self.first is not None
        if self.done:
            self._begun = False
            self._idle.set()

    def reset(self) -> None:
        """Offer nothing."""
        self._defined = True
        if self._begun or self.done:  # those that were taken must not be sent again
            self.load([], [])
            self._begun = False
            self._idle.set()
        super().reset()


class StreamMonitor(Monitor):
    """Watches the stream `name` of `handle` without driving anything; see `StreamSource` for the parameters.

    `violations` has each broken rule of AXI4-Stream, with its cycle: valid falls, or a payload changes, before the beat
    was taken; valid, or ready with valid, is undefined after a reset or a first beat.
    """

    def __init__(
        self, handle: Any, name: str, *, clock: Any = None, reset: Any = None, active_low: bool = False
    ) -> None:
        super().__init__(handle, name, self._tell)
        self._watch(handle, name, clock, reset, active_low)

    def _watch(self, handle: Any, name: str, clock: Any, reset: Any, active_low: bool) -> None:
        self.name = f"{handle._path}.{name}"
        self.listeners: list[BeatListener] = []
        self.beats = 0
        self._defined = False
        _start(self, handle, clock, reset, active_low)

    @property
    def violations(self) -> list[str]:
        """Broken rules so far, by cycle."""
        return self.rule.violations

    def check(self) -> None:
        """Raise AssertionError if a rule was broken."""
        if self.violations:
            raise AssertionError("\n".join(self.violations[:10]))

    def reset(self) -> None:
        """Drop the beat that waits, and notify the listeners."""
        super().reset()
        self._defined = True
        for listener in self.listeners:
            listener.cleared()

    def sample(self, cycle: int) -> None:
        """Read the beat on the stream."""
        offered = self._valid.value
        if not offered.is_resolvable or (offered == 1 and not self._ready.value.is_resolvable):
            if self._defined:
                what = "valid" if not offered.is_resolvable else "ready"
                self.violations.append(f"{self.name}: {what} is undefined in cycle {cycle}")
            return
        super().sample(cycle)

    def _tell(self, word: int, last: bool, cycle: int) -> None:
        self._defined = True
        self.beats += 1
        for listener in self.listeners:
            listener.beat(word, last, cycle)


class StreamSink(Sink, StreamMonitor):
    """A `StreamMonitor` that also takes the beats: it drives tready, which nothing else may, and `pauses` at random."""

    def __init__(
        self,
        handle: Any,
        name: str,
        *,
        clock: Any = None,
        reset: Any = None,
        active_low: bool = False,
        pauses: float = 0,
        seed: int = 0,
    ) -> None:
        Sink.__init__(self, handle, name, _stalls(pauses, seed), self._tell)
        self._ready.value = 0
        self._watch(handle, name, clock, reset, active_low)


class SumsMonitor(SumsReader):
    """Reads the sums of the bare array `handle`, which have no back-pressure; see `StreamSource` for the parameters."""

    def __init__(self, handle: Any, *, clock: Any = None, reset: Any = None, active_low: bool = False) -> None:
        super().__init__(handle, self._tell)
        self.listeners: list[SumsListener] = []
        _start(self, handle, clock, reset, active_low)

    def reset(self) -> None:
        """Notify the listeners."""
        for listener in self.listeners:
            listener.cleared()

    def sample(self, cycle: int) -> None:
        """Read the sums, if any; none before the first reset, as their validity is unknown."""
        if self._valid.value.is_resolvable:
            super().sample(cycle)

    def _tell(self, sums: ColumnSums, cycle: int) -> None:
        for listener in self.listeners:
            listener.sums(sums, cycle)


def _stalls(pauses: float, seed: int) -> Stalls:
    if not 0 <= pauses < 1:
        raise ValueError(f"pauses must be a probability from 0 to below 1, not {pauses!r}")
    return Stalls(pauses, seed)


def _start(agent: Agent, handle: Any, clock: Any, reset: Any, active_low: bool) -> None:
    """Let `agent` take part in every cycle from now on."""
    clock = handle.clk if clock is None else clock
    reset = handle.rst if reset is None else reset
    cocotb.start_soon(_attend(agent, clock, lambda: bool(reset.value != int(active_low))))


async def _attend(agent: Agent, clock: Any, in_reset: Callable[[], bool]) -> None:
    """Cycle after cycle, until the test ends."""
    edge, settled, cycle = FallingEdge(clock), ReadOnly(), 0
    held = None  # the first cycle shows whether the reset is active
    while True:
        await edge
        if held:
            agent.reset()
        elif held is not None:
            agent.drive()
        await settled
        held = in_reset()
        if not held:
            agent.sample(cycle)
        cycle += 1
