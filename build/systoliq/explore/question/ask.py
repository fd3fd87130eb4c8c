"""Search for the smallest plan that reaches a throughput: by models first, placed only where it can still win.

For each time an image that plans can have, the smallest plan is known by the estimates (`options.smallest`), and its
MHz by the frequency model, with an error. What cannot reach the throughput at the model's best is ruled out; the others
are placed, the smallest that is expected to reach it first, then smaller ones, until one is known to be the smallest.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network

from ...design import LayerOptions
from ...design.choose import AUTO
from ...design.network.frequency import Frequency, frequency_of
from ...errors import InputError
from ...synth.targets import TARGETS, Target
from ..requirements import requirements_of
from ..run import Run
from .answer import Answer, Candidate
from .check import Inputs, check_design
from .options import OBJECTIVES, Option, options_of, options_of_layer, smallest, times_of
from .placing import Placing, place_task
from .search import search

__all__ = ["TARGET", "ask"]

TARGET = "ecp5-85k"
"""Default part."""

_LIMITS = {"area": "lut_sites", "dsp": "dsp", "ram": "ram"}


def ask(
    net: Network | MatMulLayer,
    *,
    target: str = TARGET,
    require: str | Mapping[str, float] | None = None,
    objective: str = "area",
    given: Inputs | None = None,
    run: Run | None = None,
) -> Answer:
    """Find the smallest plan of the network or layer `net` on `target`; without a required throughput, the front.

    Parameters
    ----------
    target
        name of the part.
    require
        `"throughput=1e6,dsp=20"`, or by name: least `throughput` in images a second, and limits of LUT sites (`area`),
        multiplier cells (`dsp`) and memory blocks (`ram`). Default: all of the part.
    objective
        the quantity to minimize: one of `options.OBJECTIVES`.
    given
        inputs by name for cosimulation of the selected plan, besides random ones.
    run
        effort, workers and cache: at most `place` plans are placed and routed. The selected plan is cosimulated if it
        may be placed or if there are inputs.

    Raises InputError, with the reachable throughput, if the part cannot reach the required one.
    """
    run = run or Run()
    limits = requirements_of(require, ("throughput", *_LIMITS), "for a plan")
    throughput = limits.pop("throughput", None)
    if objective not in OBJECTIVES:
        raise InputError(f"objective must be among {', '.join(OBJECTIVES)} for a network, not {objective!r}")
    answer = _answer(net, target, objective, throughput, limits)
    candidates = answer.candidates
    if throughput is not None:
        _check_possible(candidates, throughput, TARGETS[target])
        with run.workers(place_task) if run.place else contextlib.nullcontext() as executor:
            search(answer, throughput, run, Placing(net, target, run, executor))
    answer.front = _front(candidates, OBJECTIVES[objective][0])
    if answer.chosen is not None and (given is not None or (run.place and run.cosimulate)):
        answer.checked = check_design(
            answer.design(), net, answer.chosen.image_cycles, given=given, simulator=run.simulator,
            progress=lambda text: run.progress.note(f"cosimulating: {text}"),
        )  # fmt: skip
    return answer


def _answer(
    net: Network | MatMulLayer, target: str, objective: str, throughput: float | None, limits: Mapping[str, float]
) -> Answer:
    """Return an answer with all candidates, the smallest first, and none selected."""
    frequency, part = frequency_of(target), TARGETS[target]
    room = _room(part, {_LIMITS[name]: int(most) for name, most in limits.items()})
    options = _options(net, part)
    plans = math.prod(len(stage) for stage in options)
    candidates = list(_candidates(options, room, objective, frequency))
    if not candidates:
        raise InputError(f"{net.name} must fit {part.title} with {_words(room)}, and no plan does: take a larger part")
    order = OBJECTIVES[objective]
    candidates.sort(key=lambda each: (tuple(each.sized.total(name) for name in order), each.image_cycles))
    return Answer(
        subject=net, target=target, objective=objective, required=throughput, frequency=frequency,
        candidates=candidates, plans=plans,
    )  # fmt: skip


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
        mhz, most = (each(*sizes, **sized.traits) for each in (frequency.mhz, frequency.most))
        yield Candidate(sized=sized, mhz=mhz, most_mhz=most)


def _check_possible(candidates: Sequence[Candidate], throughput: float, part: Target) -> None:
    best = max(candidates, key=lambda each: each.most)
    if best.most < throughput:
        raise InputError(
            f"throughput must be at most about {best.throughput:.3g} on {part.name}, not {throughput:g}: the quickest "
            f"plan takes {best.image_cycles} cycles an image, at {best.mhz:.0f} MHz ({best.most_mhz:.0f} at the best)"
        )


def _options(net: Network | MatMulLayer, part: Target) -> list[list[Option]]:
    if isinstance(net, MatMulLayer):
        return options_of_layer(net, LayerOptions(cells=AUTO, part=part))
    return options_of(net, part.cells)


def _front(candidates: Sequence[Candidate], column: str) -> list[Candidate]:
    """Candidates for which no other is as quick and smaller."""
    front: list[Candidate] = []
    for each in sorted(candidates, key=lambda one: (-one.throughput, one.sized.total(column))):
        if not front or each.sized.total(column) < front[-1].sized.total(column):
            front.append(each)
    return front[::-1]
