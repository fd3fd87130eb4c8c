"""Run of a precision study: the network that SOURCE names, its data, and the stages that were asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from systoliq.golden.network import Network

from ...design.network import NetworkDesign
from ...design.sources import open_network
from ...errors import InputError
from ..cache import Store
from ..executor import Executor
from ..funnel import NoProgress, Progress
from .costs import Costs
from .data import NetworkData, digits_data, read_network_data
from .evaluations import Evaluations
from .search import check_objective, choose, search
from .study import Study, parse_bits

__all__ = ["precision"]

_CANDIDATES = 200  # of mixed widths, where the least is asked for


def precision(
    source: str | Network,
    *,
    bits: str = "4",
    data: Path | NetworkData | None = None,
    target: str = "ecp5-85k",
    throughput: float | None = None,
    design: Callable[[Network], NetworkDesign] | None = None,
    accuracy: float | None = None,
    objective: str = "area",
    mixed: int | None = None,
    seconds: float | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Study:
    """Measure the accuracy of the network `source` with fewer bits on `data`, and the savings in hardware on `target`.

    `bits`: widths as `study.parse_bits` reads them. The plan is `design`'s, the smallest for `throughput` images a
    second, or the plan for all multiplier cells of the part. Up to `mixed` candidates of mixed widths are tried within
    `seconds` (default: 0, or 200 with `accuracy`). With `accuracy`, the candidate with the least `objective`, one of
    `costs.COSTS`, is selected. Evaluations are stored in `store`. `executor` runs `evaluations.evaluate_widths`, except
    for mixed widths, which are evaluated one after the other.

    Raises InputError if `source` is not a network, if the data do not fit it, or if no candidate has the requested
    accuracy.
    """
    widths = parse_bits(bits)
    candidates = (0 if accuracy is None else _CANDIDATES) if mixed is None else mixed
    _check(candidates, accuracy, seconds)
    if candidates or accuracy is not None:
        check_objective(objective)
    net, origin = _opened(source)
    found = _data(source, data, net)
    costs = Costs.on(net, target, throughput) if design is None else Costs(target=target, design=design(net))
    study = Study(network=net, data=found, costs=costs, bits=widths, origin=origin)
    study.evaluations = Evaluations(study, store=store, executor=executor)
    progress = progress or NoProgress()
    for stage, work in (("uniform", study.uniform), ("each", study.each)):
        progress.start(stage, study.counts[stage], 0)
        try:
            work(functools.partial(progress.advance, stage, 1))
        finally:
            progress.end(stage)
    if candidates:
        progress.start("mixed", candidates, 0)
        try:
            study.searched = search(
                study,
                objective=objective,
                candidates=candidates,
                seconds=seconds,
                advance=functools.partial(progress.advance, "mixed", 1),
            )
        finally:
            progress.end("mixed")
    if accuracy is not None:
        study.chosen = choose(study, accuracy, objective)
    return study


def _check(candidates: int, accuracy: float | None, seconds: float | None) -> None:
    """Raise InputError for invalid arguments."""
    if candidates < 0:
        raise InputError(f"mixed must be at least 0, not {candidates}")
    if accuracy is not None and not 0 <= accuracy <= 1:
        raise InputError(f"accuracy must be within 0 to 1, not {accuracy:g}")
    if seconds is not None and not seconds > 0:
        raise InputError(f"seconds must be positive, not {seconds:g}")


def _opened(source: str | Network) -> tuple[Network, str]:
    if isinstance(source, Network):
        return source, "a network given in Python"
    opened = open_network(source)
    if opened is None:
        raise InputError(f"SOURCE must be a network for --bits: digits-cnn or a model FILE.onnx, not {source!r}")
    return opened


def _data(source: str | Network, data: Path | NetworkData | None, net: Network) -> NetworkData:
    if isinstance(data, NetworkData):
        return data
    if data is not None:
        return read_network_data(data, net)
    if source == "digits-cnn":
        return digits_data(net)
    raise InputError("data must be given: an archive with the network's inputs and labels, or its reference outputs")
