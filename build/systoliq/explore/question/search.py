"""Search of a question: plans that are too slow are ruled out, the others placed until the smallest is known."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ...design.network.frequency import Placed, keep
from ...errors import InputError
from ..finding import Finding
from ..progress import NoProgress
from ..run import Run
from .answer import LARGER, TOO_SLOW, Answer, Candidate
from .placing import Measured, Placing

__all__ = ["search"]


def search(
    answer: Answer,
    throughput: float,
    run: Run,
    placing: Placing,
) -> None:
    """Choose among the candidates, in order of increasing size: at most `run.place` are placed, in each round as many
    as run in parallel, and none is begun after `run.seconds`.

    Raises InputError where all that may be quick enough are too large after synthesis.
    """
    place, progress = run.place, run.progress if run.place else NoProgress()
    deadline = None if run.seconds is None else time.monotonic() + run.seconds
    able = [each for each in answer.candidates if each.most >= throughput]
    for each in answer.candidates:
        if each not in able:
            each.verdict = TOO_SLOW
    expected = next((each for each in able if each.throughput >= throughput), able[-1])
    best: Candidate | None = None
    count = 0
    progress.start("place", place, 0)
    while open_ := [each for each in _below(able, best) if each.untried]:
        late = deadline is not None and time.monotonic() > deadline
        if count == place or late:
            answer.stopped = "the time was over" if late else f"{count} placed" if count else "nothing placed"
            break
        following = _following(open_, expected, best, throughput)[: min(placing.width, place - count)]
        for each in following:
            progress.note(
                f"placing {each.image_cycles} cycles an image, about {each.sized.total('lut_sites')} LUT sites"
            )
        for index, finding in placing.place([each.sized.plan.as_json() for each in following]):
            _found(answer, following[index], finding, throughput)
            progress.advance("place", 1)
        count += len(following)
        able = [each for each in able if each.most or each.failed]
        best = next((each for each in able if each.placed and each.throughput >= throughput), None)
        for each in list(able):
            if each.untried and each.most < throughput:
                each.verdict = TOO_SLOW
                able.remove(each)
    progress.end("place")
    if not able:
        raise InputError(
            f"throughput must be less than {throughput:g} on {answer.target}: all plans that may reach it do not fit "
            "after synthesis"
        )
    answer.chosen = best or (expected if expected in able else able[-1])
    smaller = [each for each in _below(able, answer.chosen) if each.placed is None]
    for each in smaller:
        each.verdict = each.verdict or "open: smaller, reaches it only at the model's best"
    for each in able[able.index(answer.chosen) + 1 :]:
        each.verdict = each.verdict or LARGER
    if any(each.failed for each in smaller) and not answer.stopped:
        answer.stopped = "a plan could not be placed"
    answer.proven = best is not None and not smaller


def _below(able: Sequence[Candidate], best: Candidate | None) -> Sequence[Candidate]:
    """Smaller candidates, or all."""
    return able if best is None else able[: able.index(best)]


def _following(
    open_: Sequence[Candidate], expected: Candidate, best: Candidate | None, throughput: float
) -> list[Candidate]:
    """The order in which to place them, by current knowledge. Until one reached the throughput: the one that is
    expected to, and larger ones. Then, and after one did: the smaller ones, the quickest first.
    """
    smaller = [each for each in open_ if each.throughput < throughput] if best is None else list(open_)
    larger = [each for each in open_ if each.throughput >= throughput] if best is None else []
    if expected in larger:
        larger.insert(0, larger.pop(larger.index(expected)))
    return [*larger[:1], *smaller[::-1], *larger[1:]]


def _found(answer: Answer, candidate: Candidate, finding: Finding, throughput: float) -> None:
    """The result of place and route for one candidate."""
    if finding.status == "impossible":
        candidate.verdict, candidate.most_mhz, candidate.mhz = "does not fit after synthesis", 0.0, 0.0
        return
    if finding.status != "done":
        candidate.failed, candidate.verdict = True, f"failed: {finding.reason}"
        return
    candidate.placed = Measured(**finding.values)
    candidate.verdict = "placed: reaches it" if candidate.throughput >= throughput else "placed: too slow"
    sized = candidate.sized
    keep(
        Placed(
            target=answer.target, design=f"{answer.subject.name}, {candidate.image_cycles} cycles",
            lut_sites=sized.total("lut_sites"), dsp=sized.total("dsp"), ram=sized.total("ram"),
            mhz=candidate.placed.fmax_mhz, source="explore", **sized.traits,
        )
    )  # fmt: skip
