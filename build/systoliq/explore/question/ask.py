"""Search for the smallest plan that reaches a throughput: by models first, placed only where it can still win.

For each time an image that plans can have, the smallest plan is known by the estimates (`options.smallest`), and its
MHz by the frequency model, with an error. What cannot reach the throughput at the model's best is ruled out; the others
are placed, the smallest that is expected to reach it first, then smaller ones, until one is known to be the smallest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network

from ...design import LayerOptions
from ...design.choose import AUTO
from ...errors import InputError
from ...synth.targets import TARGETS, Target
from ..cache import Store
from ..executor import Executor
from ..funnel import NoProgress, Progress
from .answer import Answer, Candidate
from .frequency import Frequency, frequency_of
from .options import OBJECTIVES, Option, options_of, options_of_layer, smallest, times_of
from .placing import Placing, Synthesize
from .search import search

__all__ = ["ask"]


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
    executor: Executor | None = None,
    store: Store | None = None,
    advance: Callable[[str], None] = lambda text: None,
    progress: Progress | None = None,
) -> Answer:
    """The smallest plan of the network or layer `net` on `target` for a number of images a second; without it, the
    front.

    Parameters
    ----------
    objective
        the quantity to minimize: one of `options.OBJECTIVES`.
    place, seeds, seconds
        number of plans that may be placed and routed, seeds for each, and the time after which no more are begun.
    limits
        the most LUT sites, multiplier cells or memory blocks; by default, all of the part.
    synthesize
        callable that runs place and route; `Design.synthesize` by default.
    executor, store
        where plans are placed, up to `jobs` in parallel, and where results are stored; by default, in this process, and
        nowhere. An executor runs `placing.place_task`.

    Raises InputError, with the reachable throughput, if the part cannot reach the requested one.
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
        placing = Placing(net, target, seeds, synthesize=synthesize, executor=executor, store=store)
        search(answer, throughput, place, deadline, placing, advance, progress or NoProgress())
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
