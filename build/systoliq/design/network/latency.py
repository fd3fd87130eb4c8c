"""Plans for a latency: the fewest microseconds from the first beat of an image to its last result, or few enough.

A plan for a rate has equally quick stages. Latency is different: an image passes all stages, and a stage may be worth
more multipliers although another one is slower. So the search begins with plans for rates, and then changes one stage
at a time, as long as that helps. It looks at exact latencies, and need not find the best plan of all.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from systoliq.golden.network import Network
from systoliq.hw.network.assembly import Latency

from ...errors import InputError
from .clock import ExpectedClock
from .options import NetworkOptions
from .plan import Plan, StagePlan, placed, plan_for_cycles, quicker_and_cheaper, times_of

__all__ = ["Room", "latency_lines", "plan_for_latency"]

_Stages = tuple[StagePlan, ...]
_BEGINNINGS = 6  # plans for rates whose latencies are looked at, each with 1.25 times the cycles of the one before
_STEP = 1.25
_NEXT = 2  # choices of a stage that are tried, from the nearest on


@dataclass(frozen=True, kw_only=True)
class Room:
    """Limits of plans: multiplier cells, LUT sites for products (with `pairs`, two products in a cell), and a clock
    `mhz` above 0; `cycles` is a plan's latency.
    """

    dsp: int
    luts: int
    pairs: bool
    mhz: Callable[[Plan], float]
    cycles: Callable[[Plan], int]


def plan_for_latency(net: Network, asked: NetworkOptions, room: Room) -> Plan:
    """Return a small plan with the latency that is asked for, at the clock of the options; for 0, the plan with the
    lowest latency at its own expected clock.

    Raises InputError if no plan is found.
    """
    search = _Search(net, asked, room)
    if not asked.latency:
        return search.plan(search.least(search.expected))
    return search.plan(search.within(asked.latency))


def latency_lines(latency: Mapping[str, Latency], mhz: float, expected: ExpectedClock | None) -> Iterator[str]:
    """Return the latency of each output in words, at the clock `mhz` and, if it is given, at the expected one."""
    for letter, each in latency.items():
        of_which = f" of m_axis_{letter}" if len(latency) > 1 else ""
        time = f"{each.last / mhz:.1f} microseconds at {mhz:g} MHz"
        if expected is not None:
            time += f", about {each.last / expected.mhz:.1f} at the expected clock"
        yield (
            f"latency{of_which}: the first result {each.first} cycles after the first beat of an image, the last "
            f"{each.last}; {time}"
        )


class _Search:
    """A search among the choices of the stages of `net` before their products get a form."""

    def __init__(self, net: Network, asked: NetworkOptions, room: Room) -> None:
        self._net, self._asked, self._room = net, asked, room
        self._times = times_of(net, asked.cells, wide=True)
        self._found: dict[_Stages, Plan | None] = {}
        self._cycles: dict[_Stages, int] = {}

    def plan(self, stages: _Stages) -> Plan:
        """Return the plan with these stages, which has room."""
        found = self._placed(stages)
        assert found is not None  # noqa: S101 - the search only returns what has room
        return found

    def expected(self, stages: _Stages) -> float:
        """Return the latency at the expected clock; infinite where there is no room."""
        plan = self._placed(stages)
        return math.inf if plan is None else self._latency(stages, plan) / self._room.mhz(plan)

    def _at_clock(self, stages: _Stages) -> float:
        plan = self._placed(stages)
        return math.inf if plan is None else self._latency(stages, plan) / self._asked.clock_mhz

    def least(self, measure: Callable[[_Stages], float]) -> _Stages:
        """Return the stages with the lowest `measure` that were found."""
        best, lowest = self._slowest(), math.inf
        for stages in self._beginnings():
            if (value := measure(stages)) < lowest:
                best, lowest = stages, value
        return self._changed(best, measure, quicker=True)

    def within(self, microseconds: float) -> _Stages:
        """Return stages with a latency of at most `microseconds` at the clock of the room, and few multipliers."""
        low, high = -1, len(self._times)  # quick enough, or too quick for the part; too slow
        while high - low > 1:
            middle = (low + high) // 2
            stages = self._for_rate(middle)
            slow = self._placed(stages) is not None and self._at_clock(stages) > microseconds
            low, high = (low, middle) if slow else (middle, high)
        best = self._for_rate(low) if low >= 0 else self._slowest()
        if not self._at_clock(best) <= microseconds:
            best = self.least(self._at_clock)
        if not (found := self._at_clock(best)) <= microseconds:
            raise InputError(
                f"latency must be at least {math.ceil(10 * found) / 10:.1f} microseconds at {self._asked.clock_mhz:g} "
                f"MHz on {self._part}, the lowest that was found, not {microseconds:g}; what may help: a larger part, "
                "fewer bits (systoliq explore --bits), or a smaller network"
            )
        bound = max(found, microseconds)
        return self._changed(best, lambda stages: 0 if self._at_clock(stages) <= bound else math.inf, quicker=False)

    def _changed(self, stages: _Stages, measure: Callable[[_Stages], float], *, quicker: bool) -> _Stages:
        """Change one stage at a time to a `quicker` choice as long as that lowers the measure, or else to a cheaper one
        as long as the measure is no higher.
        """
        lowest, at, since = measure(stages), 0, 0
        while since < len(stages):
            for other in self._others(stages[at], quicker=quicker):
                changed = (*stages[:at], other, *stages[at + 1 :])
                value = measure(changed)
                if value < lowest or (value == lowest and not quicker):
                    stages, lowest, since = changed, value, -1
                    break
            since += 1
            at = at if since == 0 else (at + 1) % len(stages)
        return stages

    @property
    def _part(self) -> str:
        return "any part" if self._asked.part is None else self._asked.part.name

    def _others(self, stage: StagePlan, *, quicker: bool) -> list[StagePlan]:
        found = quicker_and_cheaper(stage, self._asked.cells)
        return found[0 if quicker else 1][:_NEXT]

    def _beginnings(self) -> Iterator[_Stages]:
        """The quickest plan for a rate that has room, and slower ones."""
        shown, least = 0, 0.0
        for index, time in enumerate(self._times):
            if time < least or self._placed(self._for_rate(index)) is None:
                continue
            yield self._for_rate(index)
            shown, least = shown + 1, _STEP * time
            if shown == _BEGINNINGS:
                return

    def _slowest(self) -> _Stages:
        stages = self._for_rate(len(self._times) - 1)
        if self._placed(stages) is None:
            raise InputError(f"latency cannot be planned: the smallest plan does not fit {self._part}")
        return stages

    @functools.cache  # noqa: B019 - a search lives no longer than its plan
    def _for_rate(self, index: int) -> _Stages:
        return plan_for_cycles(self._net, self._times[index], cells=self._asked.cells).stages

    def _placed(self, stages: _Stages) -> Plan | None:
        if stages not in self._found:
            room = self._room
            plan = placed(Plan(stages=stages), room.dsp, room.luts, self._asked.cells, pairs=room.pairs)
            self._found[stages] = plan if plan is not None and room.mhz(plan) else None
        return self._found[stages]

    def _latency(self, stages: _Stages, plan: Plan) -> int:
        if stages not in self._cycles:
            self._cycles[stages] = self._room.cycles(plan)
        return self._cycles[stages]
