"""Run of a precision study: the network that SOURCE names, its data, and the stages that were asked for."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from systoliq.golden.network import Network

from ...design.network import NetworkDesign
from ...design.presets import DIGITS_NETWORKS
from ...design.sources import open_network
from ...errors import InputError
from ...synth.targets import TARGETS
from ..network_data import NetworkData, digits_data, read_network_data
from ..progress import Progress
from ..requirements import requirements_of
from ..run import Run
from .costs import Costs
from .evaluations import Evaluations, evaluate_widths
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
    require: str | Mapping[str, float] | None = None,
    objective: str = "area",
    design: Callable[[Network], NetworkDesign] | None = None,
    run: Run | None = None,
) -> Study:
    """Measure the accuracy of the network `source` with fewer bits on `data`, and the savings in hardware on `target`.

    Parameters
    ----------
    bits
        widths as `study.parse_bits` reads them.
    data
        archive with inputs and labels or reference outputs. Default for digits-cnn: the test images.
    require
        `"accuracy=0.97"`, or by name. With `accuracy`, the candidate with the least `objective` is selected. With
        `throughput`, the plan is the smallest with that many images a second.
    objective
        one of `costs.COSTS`.
    design
        the plan for the network. Default: the plan for all multiplier cells of the part, or for the throughput.
    run
        effort, workers and cache. Up to `budget` mixed widths are tried within `seconds`, one after the other; others
        are evaluated in parallel.

    Raises InputError if `source` is not a network, if the data do not fit it, or if no candidate has the required
    accuracy.
    """
    run = run or Run()
    widths = parse_bits(bits)
    required = requirements_of(require, ("accuracy", "throughput"), "with --bits")
    accuracy, throughput = required.get("accuracy"), required.get("throughput")
    if target not in TARGETS:
        raise InputError(f"target must be one of {', '.join(TARGETS)} with --bits, not {target!r}")
    if accuracy is not None and not 0 <= accuracy <= 1:
        raise InputError(f"accuracy must be within 0 to 1, not {accuracy:g}")
    candidates = (0 if accuracy is None else _CANDIDATES) if run.budget is None else run.budget
    if candidates or accuracy is not None:
        check_objective(objective)
    net, origin = _opened(source)
    found = _data(source, data, net)
    costs = Costs.on(net, target, throughput) if design is None else Costs(target=target, design=design(net))
    study = Study(network=net, data=found, costs=costs, bits=widths, origin=origin)
    with run.workers(evaluate_widths) as executor:
        study.evaluations = Evaluations(study, store=run.store, executor=executor)
        for stage, work in (("uniform", study.uniform), ("each", study.each)):
            with _stage(run.progress, stage, study.counts[stage]) as advance:
                work(advance)
        if candidates:
            with _stage(run.progress, "mixed", candidates) as advance:
                study.searched = search(
                    study, objective=objective, candidates=candidates, seconds=run.seconds, advance=advance
                )
    if accuracy is not None:
        study.chosen = choose(study, accuracy, objective)
    return study


@contextlib.contextmanager
def _stage(progress: Progress, stage: str, total: int) -> Iterator[Callable[[], None]]:
    """Report a stage to `progress`; its value is called for each evaluation that is finished."""
    progress.start(stage, total, 0)
    try:
        yield functools.partial(progress.advance, stage, 1)
    finally:
        progress.end(stage)


def _opened(source: str | Network) -> tuple[Network, str]:
    if isinstance(source, Network):
        return source, "a network given in Python"
    opened = open_network(source)
    if opened is None:
        named = ", ".join(DIGITS_NETWORKS)
        raise InputError(f"SOURCE must be a network for --bits: {named} or a model FILE.onnx, not {source!r}")
    return opened


def _data(source: str | Network, data: Path | NetworkData | None, net: Network) -> NetworkData:
    if isinstance(data, NetworkData):
        return data
    if data is not None:
        return read_network_data(data, net)
    if source in DIGITS_NETWORKS:
        return digits_data(net)
    raise InputError("data must be given: an archive with the network's inputs and labels, or its reference outputs")
