"""AXI4-Stream inside a cocotb bench: a source, a monitor, a sink, and the rules that both sides must keep.

The agents do not wait for edges themselves. A `Cycles` loop calls the `drive()` of each after the falling edge of the
clock, and its `sample()` when everything has settled, before the rising edge that makes a transfer. So a cycle takes
two awaits for any number of agents, and the simulator's order of events does not matter.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from cocotb.triggers import FallingEdge, ReadOnly
from cocotb.types import Logic

__all__ = ["Agent", "Cycles", "Monitor", "Sink", "Source", "StabilityRule", "Stalls"]


class Agent(Protocol):
    """A participant in the cycles of a bench."""

    def drive(self) -> None:
        """Write inputs of the design for this cycle."""

    def sample(self, cycle: int) -> None:
        """Read the values that the coming rising edge will see."""

    def reset(self) -> None:
        """Drop everything in progress: the design is in reset."""


class Cycles:
    """Runs agents cycle by cycle on one clock with a synchronous, active-high reset."""

    def __init__(self, clk: Any, rst: Any, agents: Sequence[Agent]) -> None:
        self.cycle = 0
        self._edge = FallingEdge(clk)
        self._settled = ReadOnly()
        self._rst = rst
        self._agents = agents

    async def run(self, cycles: int, until: Callable[[], bool] = lambda: False) -> bool:
        """Run for `cycles` cycles or until the condition holds; return whether it holds."""
        agents = self._agents
        for _ in range(cycles):
            await self._edge
            for agent in agents:
                agent.drive()
            await self._settled
            for agent in agents:
                agent.sample(self.cycle)
            self.cycle += 1
            if until():
                return True
        return False

    async def reset(self, cycles: int) -> None:
        """Hold reset for `cycles` rising edges; nothing is driven or sampled meanwhile."""
        for _ in range(cycles):
            await self._edge
            self._rst.value = 1
            for agent in self._agents:
                agent.reset()
            self.cycle += 1
        await self._edge
        self._rst.value = 0
        await self._settled
        self.cycle += 1


class Stalls:
    """Random pauses with a probability per cycle, repeatable by their seed."""

    def __init__(self, probability: float, seed: int) -> None:
        self.probability = probability
        self._random = random.Random(seed)

    def __call__(self) -> bool:
        """Draw for one cycle."""
        return self.probability > 0 and self._random.random() < self.probability

    def bits(self, count: int) -> int:
        """Draw `count` random bits: the values of the wires while nothing is offered."""
        return self._random.getrandbits(count)


class Source:
    """Offers beats in order; holds valid and payload until a beat is taken, and never waits for ready.

    During pauses, the payload is random. If the stream has tuser, it is above tdata in the words.
    """

    def __init__(self, dut: Any, name: str, stalls: Stalls) -> None:
        self._valid = getattr(dut, f"{name}_tvalid")
        self._ready = getattr(dut, f"{name}_tready")
        self._data = getattr(dut, f"{name}_tdata")
        self._last = _optional(dut, f"{name}_tlast")
        self._user = _optional(dut, f"{name}_tuser")
        self._data_bits = len(self._data)
        self._bits = self._data_bits + (0 if self._user is None else len(self._user))
        self._stalls = stalls
        self._words: Sequence[int] = ()
        self._lasts: Sequence[bool] = ()
        self._next = 0
        self._offered = False
        self._free = True  # nothing is offered that was not taken
        self.first: int | None = None

    def load(self, words: Sequence[int], lasts: Sequence[bool]) -> None:
        """Offer these beats from the next cycle on."""
        self._words, self._lasts = words, lasts
        self._next, self.first = 0, None

    @property
    def done(self) -> bool:
        """True if every beat was taken."""
        return self._free and self._next == len(self._words)

    def reset(self) -> None:
        """Offer nothing, and start again with the first beat."""
        self._valid.value = 0
        self._offered, self._free = False, True
        self._next, self.first = 0, None

    def drive(self) -> None:
        """Offer the next beat, or pause."""
        if not self._free:
            return
        if self._next < len(self._words) and not self._stalls():
            self._put(self._words[self._next])
            if self._last is not None:
                self._last.value = int(self._lasts[self._next])
            if not self._offered:
                self._valid.value = 1
            self._next += 1
            self._offered, self._free = True, False
        elif self._offered:
            self._valid.value = 0
            self._offered = False
            self._put(self._stalls.bits(self._bits))
            if self._last is not None:
                self._last.value = self._stalls.bits(1)

    def _put(self, word: int) -> None:
        if self._user is None:
            self._data.value = word
        else:
            self._data.value = word & ((1 << self._data_bits) - 1)
            self._user.value = word >> self._data_bits

    def sample(self, cycle: int) -> None:
        """See whether the offered beat is taken."""
        if not self._free and self._ready.value:
            self._free = True
            if self.first is None:
                self.first = cycle


class StabilityRule:
    """AXI4-Stream 2.2.1: once valid, a beat stays valid and unchanged until it is taken."""

    def __init__(self, name: str) -> None:
        self.violations: list[str] = []
        self._name = name
        self._waiting: object = None

    def reset(self) -> None:
        """Reset may take a beat back."""
        self._waiting = None

    def see(self, cycle: int, beat: object, ready: bool) -> None:
        """Judge one cycle; `beat` is None if valid is low."""
        if self._waiting is not None and beat != self._waiting:
            what = "valid fell" if beat is None else "the payload changed"
            self.violations.append(f"{self._name}: {what} in cycle {cycle} before the beat was taken")
        self._waiting = None if ready else beat


class Monitor:
    """Watches a stream: passes each beat to `taken(word, last, cycle)`, and checks that the sender keeps its rule.

    If the stream has tuser, it is above tdata in the word. Bytes that tkeep excludes are 0 in the word. A word with
    undefined bits is passed as -1, which no expected word equals. In a stream without tlast, `last` is never set.
    """

    def __init__(self, dut: Any, name: str, taken: Callable[[int, bool, int], None]) -> None:
        self._valid = getattr(dut, f"{name}_tvalid")
        self._ready = getattr(dut, f"{name}_tready")
        self._data = getattr(dut, f"{name}_tdata")
        self._last = _optional(dut, f"{name}_tlast")
        self._user = _optional(dut, f"{name}_tuser")
        self._keep = _optional(dut, f"{name}_tkeep")
        self._taken = taken
        self.rule = StabilityRule(name)

    def reset(self) -> None:
        """Drop the beat that waits."""
        self.rule.reset()

    def drive(self) -> None:
        """Do nothing: a monitor does not drive."""

    def sample(self, cycle: int) -> None:
        """Read the beat on the stream, and whether it is taken."""
        if not self._valid.value:
            self.rule.see(cycle, None, ready=False)
            return
        word = _unsigned(self._data)
        if self._user is not None and word >= 0:
            user = _unsigned(self._user)
            word = -1 if user < 0 else word | user << len(self._data)
        keep = -1 if self._keep is None else _unsigned(self._keep)
        if keep >= 0 and word >= 0:
            word &= _byte_mask(keep)
        last = self._last is not None and bool(self._last.value)
        ready = self._is_ready()
        self.rule.see(cycle, (word, last, keep), ready)
        if ready:
            self._taken(word, last, cycle)

    def _is_ready(self) -> bool:
        return bool(self._ready.value)


class Sink(Monitor):
    """A monitor that also takes the beats, and pauses at random."""

    def __init__(self, dut: Any, name: str, stalls: Stalls, taken: Callable[[int, bool, int], None]) -> None:
        Monitor.__init__(self, dut, name, taken)  # not super(): StreamMonitor takes others
        self._stalls = stalls
        self._accepts = False

    def reset(self) -> None:
        """Take nothing."""
        self._ready.value = 0
        self._accepts = False
        super().reset()

    def drive(self) -> None:
        """Be ready, or pause."""
        accepts = not self._stalls()
        if accepts != self._accepts:
            self._ready.value = int(accepts)
            self._accepts = accepts

    def _is_ready(self) -> bool:
        return self._accepts


def _optional(dut: Any, name: str) -> Any:
    """The signal, or None where the design has none of this name."""
    return getattr(dut, name, None)


def _unsigned(signal: Any) -> int:
    """The value of a signal, -1 where bits of it are undefined."""
    value = signal.value
    if isinstance(value, Logic):
        return int(value) if value.is_resolvable else -1
    unsigned: int = value.to_unsigned() if value.is_resolvable else -1
    return unsigned


def _byte_mask(keep: int) -> int:
    """Ones in the bytes whose bit of `keep` is 1."""
    return sum(0xFF << 8 * byte for byte in range(keep.bit_length()) if keep >> byte & 1)
