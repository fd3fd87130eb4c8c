"""Search for the smallest plan that reaches a throughput: by models first, placed only where it can still win.

For each time an image that plans can have, the smallest plan is known by the estimates (`options.smallest`), and its
MHz by the frequency model, with an error. What cannot reach the throughput at the model's best is ruled out; the others
are placed, the smallest that is expected to reach it first, then smaller ones, until one is known to be the smallest.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network

from ...design import Design, Hardware, LayerDesign
from ...design.hardware import AUTO_CELLS
from ...design.network import NetworkDesign
from ...design.network.plan import Plan
from ...errors import InputError, need
from ...synth import DoesNotFitError, SynthReport
from ...synth.targets import TARGETS, Target
from .check import Checked
from .frequency import Frequency, Placed, frequency_of, keep
from .options import OBJECTIVES, Option, Sized, options_of, options_of_layer, smallest, times_of

__all__ = ["LARGER", "TOO_SLOW", "Answer", "Candidate", "ask", "design_of"]

TOO_SLOW, LARGER = "ruled out: too slow at the model's best", "ruled out: larger"

Synthesize = Callable[[Design, Target, Sequence[int]], SynthReport]


@dataclass(kw_only=True, eq=False)
class Candidate:
    """The smallest plan of a time an image; `mhz` as expected, `most_mhz` at the model's best; placed or not."""

    sized: Sized
    mhz: float
    most_mhz: float
    placed: SynthReport | None = None
    verdict: str = ""

    @property
    def image_cycles(self) -> int:
        """From one image to the next."""
        return self.sized.image_cycles

    @property
    def throughput(self) -> float:
        """Images a second: measured where it was placed, else expected."""
        mhz = self.mhz if self.placed is None or not self.placed.fmax_mhz else self.placed.fmax_mhz
        return mhz * 1e6 / self.image_cycles

    @property
    def most(self) -> float:
        """Images a second that it may reach: no more than were measured."""
        return self.throughput if self.placed is not None else self.most_mhz * 1e6 / self.image_cycles

    @property
    def row(self) -> dict[str, Any]:
        """Its figures: estimates, or measured where it was placed."""
        measured = self.placed
        names = ("lut_sites", "dsp", "ram")
        sizes = {name: self.sized.total(name) if measured is None else int(getattr(measured, name)) for name in names}
        return {
            "image_cycles": self.image_cycles,
            **sizes,
            "estimated_lut_sites": self.sized.total("lut_sites"),
            "multipliers": self.sized.plan.multipliers,
            "mhz": self.mhz if measured is None else measured.fmax_mhz,
            "images_per_s": self.throughput,
            "most_images_per_s": self.most,
            "placed": measured is not None,
            "verdict": self.verdict,
        }


@dataclass(kw_only=True, eq=False)
class Answer:
    """What was found: `candidates`, the smallest first; `chosen` of them, and whether it is `proven` the smallest
    within the models' errors. `stopped` says why the search ended before that; `checked` what cosimulation of the
    chosen one found, where it was asked for.
    """

    subject: Network | MatMulLayer
    target: str
    objective: str
    required: float | None
    frequency: Frequency
    candidates: list[Candidate]
    chosen: Candidate | None = None
    proven: bool = False
    stopped: str = ""
    plans: int = 0
    front: list[Candidate] = field(default_factory=list)
    checked: Checked | None = None

    def design(self, candidate: Candidate | None = None) -> Design:
        """The design of a candidate, by default the chosen one; it can be written at once."""
        which = candidate or self.chosen
        if which is None:
            raise InputError("throughput must have been asked for, or a candidate given: nothing was chosen")
        return design_of(self.subject, which.sized.plan, self.target)

    @property
    def table(self) -> Any:
        """The candidates as a polars DataFrame."""
        polars = need("polars", "polars", "explore", extra="explore")
        return polars.DataFrame([candidate.row for candidate in self.candidates], infer_schema_length=None)


def ask(
    net: Network | MatMulLayer,
    *,
    target: str = "ecp5-85k",
    throughput: float | None = None,
    objective: str = "area",
    place: int = 0,
    seeds: int = 1,
    seconds: float | None = None,
    limits: Mapping[str, int] | None = None,
    synthesize: Synthesize | None = None,
    advance: Callable[[str], None] = lambda text: None,
) -> Answer:
    """The smallest plan of the network or layer `net` on `target` for so many images a second; without them the front.

    Parameters
    ----------
    objective
        what is least: one of `options.OBJECTIVES`.
    place, seeds, seconds
        plans that may be placed and routed, with how many seeds each, and no more begun after so much time.
    limits
        the most LUT sites, multiplier cells or memory blocks, where that is less than the part has.
    synthesize
        who places; `Design.synthesize` by default.

    Raises InputError where the throughput is beyond what the part can reach, with what it can.
    """
    if objective not in OBJECTIVES:
        raise InputError(f"objective must be among {', '.join(OBJECTIVES)} for a network, not {objective!r}")
    frequency, part = frequency_of(target), TARGETS[target]
    room = _room(part, limits or {})
    options = _options(net, part)
    plans = 1
    for stage in options:
        plans *= len(stage)
    candidates = list(_candidates(options, room, objective, frequency))
    if not candidates:
        raise InputError(f"{net.name} must fit {part.title} with {_words(room)}, and no plan does: take a larger part")
    order = OBJECTIVES[objective]
    candidates.sort(key=lambda each: (tuple(each.sized.total(name) for name in order), each.image_cycles))
    answer = Answer(
        subject=net, target=target, objective=objective, required=throughput, frequency=frequency,
        candidates=candidates, plans=plans,
    )  # fmt: skip
    if throughput is not None:
        _check_possible(candidates, throughput, part)
        deadline = None if seconds is None else time.monotonic() + seconds
        _search(answer, throughput, place, deadline, _placer(part, seeds, synthesize), advance)
    answer.front = _front(candidates, order[0])
    return answer


def _room(part: Target, limits: Mapping[str, int]) -> dict[str, int]:
    room = {name: part.capacity[name] for name in ("lut_sites", "dsp", "ram") if name in part.capacity}
    return room | {name: min(most, room.get(name, most)) for name, most in limits.items()}


def _words(room: Mapping[str, int]) -> str:
    titles = {"lut_sites": "LUT sites", "dsp": "multiplier cells", "ram": "memory blocks"}
    return ", ".join(f"{most} {titles[name]}" for name, most in room.items())


def _candidates(
    options: Sequence[Sequence[Option]], room: Mapping[str, int], objective: str, frequency: Frequency
) -> Iterator[Candidate]:
    """The smallest plan of each time that has room, those apart that are no smaller than a quicker one."""
    seen = set()
    for cycles in times_of(options):
        sized = smallest(options, cycles, room, objective)
        if sized is None:
            continue
        sizes = tuple(sized.total(name) for name in ("lut_sites", "dsp", "ram"))
        if (sized.image_cycles, sizes) in seen:
            continue
        seen.add((sized.image_cycles, sizes))
        yield Candidate(sized=sized, mhz=frequency.mhz(*sizes), most_mhz=frequency.most(*sizes))


def _check_possible(candidates: Sequence[Candidate], throughput: float, part: Target) -> None:
    best = max(candidates, key=lambda each: each.most)
    if best.most < throughput:
        raise InputError(
            f"throughput must be at most about {best.throughput:.3g} on {part.name}, not {throughput:g}: the quickest "
            f"plan takes {best.image_cycles} cycles an image, at {best.mhz:.0f} MHz ({best.most_mhz:.0f} at the best)"
        )


def _placer(part: Target, seeds: int, given: Synthesize | None) -> Callable[[Answer, Candidate], None]:
    def synthesize(design: Design, part: Target, seeds: Sequence[int]) -> SynthReport:
        return design.synthesize(part, seeds=seeds)

    make = given or synthesize

    def place(answer: Answer, candidate: Candidate) -> None:
        candidate.placed = make(answer.design(candidate), part, tuple(range(1, seeds + 1)))
        keep(
            Placed(
                target=part.name, design=f"{answer.subject.name}, {candidate.image_cycles} cycles",
                lut_sites=int(candidate.placed.lut_sites), dsp=int(candidate.placed.dsp), ram=int(candidate.placed.ram),
                mhz=float(candidate.placed.fmax_mhz or 0), source="explore",
            )
        )  # fmt: skip

    return place


def _options(net: Network | MatMulLayer, part: Target) -> list[list[Option]]:
    if isinstance(net, MatMulLayer):
        return options_of_layer(net, Hardware(cells=AUTO_CELLS, part=part))
    return options_of(net, part.cells)


def design_of(net: Network | MatMulLayer, plan: Plan, target: str) -> Design:
    """The design of a plan, which can be written at once."""
    part = TARGETS[target]
    if isinstance(net, MatMulLayer):
        how = plan.stages[0].parallelism
        return LayerDesign(net, Hardware(cols=how.cols, depth=how.depth, cells=how.cells or part.cells, part=part))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        path.write_text(json.dumps(plan.as_json()))
        return NetworkDesign(net, Hardware(cells=part.cells, part=part, plan=path))


def _search(
    answer: Answer,
    throughput: float,
    place: int,
    deadline: float | None,
    placer: Callable[[Answer, Candidate], None],
    advance: Callable[[str], None],
) -> None:
    """Choose among the candidates, which begin with the smallest."""
    able = [each for each in answer.candidates if each.most >= throughput]
    for each in answer.candidates:
        if each not in able:
            each.verdict = TOO_SLOW
    expected = next((each for each in able if each.throughput >= throughput), able[-1])
    best: Candidate | None = None
    for count in range(place + 1):
        below = able if best is None else able[: able.index(best)]
        open_ = [each for each in below if each.placed is None]
        if not open_:
            break
        if count == place or (deadline is not None and time.monotonic() > deadline):
            answer.stopped = (
                (f"{count} placed" if count else "nothing placed") if count == place else "the time was over"
            )
            break
        if best is None:  # the one that is expected to reach it, then larger ones
            later = [each for each in open_ if each.throughput >= throughput]
            following = expected if expected.placed is None else (later or open_)[0]
        else:
            following = open_[-1]  # the quickest of the smaller ones
        advance(f"{following.image_cycles} cycles an image, about {following.sized.total('lut_sites')} LUT sites")
        try:
            placer(answer, following)
        except DoesNotFitError:
            following.verdict, following.most_mhz, following.mhz = "does not fit after synthesis", 0.0, 0.0
            able.remove(following)
            continue
        reached = following.throughput >= throughput
        following.verdict = "placed: reaches it" if reached else "placed: too slow"
        if reached:
            best = following
        for each in list(able):
            if each.placed is None and (each.most < throughput):
                each.verdict = TOO_SLOW
                able.remove(each)
    answer.chosen = best or expected
    smaller = [each for each in able[: able.index(answer.chosen)] if each.placed is None]
    for each in smaller:
        each.verdict = "open: smaller, reaches it only at the model's best"
    for each in able[able.index(answer.chosen) + 1 :]:
        each.verdict = each.verdict or LARGER
    answer.proven = best is not None and not smaller


def _front(candidates: Sequence[Candidate], column: str) -> list[Candidate]:
    """Those for which no other is as quick and smaller."""
    front: list[Candidate] = []
    for each in sorted(candidates, key=lambda one: (-one.throughput, one.sized.total(column))):
        if not front or each.sized.total(column) < front[-1].sized.total(column):
            front.append(each)
    return front[::-1]
