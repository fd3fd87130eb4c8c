"""Throughput and accuracy at once, on the command line: fewer bits for a network, and then its smallest plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from rich.console import Console

from systoliq.golden.network import Network

from ..design.network import NetworkDesign
from ..explore.files import check_directory
from ..explore.precision.files import write_study
from ..explore.question.ask import ask
from .explore_precision import explore_precision
from .explore_question import TARGET, check_requirements, explore_question, limits_of

__all__ = ["explore_narrowed"]

_SHARED = ("target", "objective", "seconds", "jobs", "memory", "scheduler", "cache")


def explore_narrowed(
    *,
    source: str,
    out: Path | None,
    bits: str,
    data: Path | None,
    mixed: int | None,
    requirements: dict[str, float],
    **options: Any,
) -> int:
    """Find the smallest mix of widths with the accuracy, for the plan with the throughput; then the smallest plan for
    it.

    Both are printed, and written into `out`, the widths into its folder precision; 1 where cosimulation differs.
    """
    if out is not None:
        check_directory(out)
    asked = {name: value for name, value in requirements.items() if name != "accuracy"}
    check_requirements(asked, options["place"], options["seeds"])
    study = explore_precision(
        source,
        out=None,
        bits=bits,
        data=data,
        mixed=mixed,
        requirements={"accuracy": requirements["accuracy"]},
        design=lambda net: _wide(net, asked, options),
        **{name: options[name] for name in _SHARED},
    )
    assert study.chosen is not None  # noqa: S101 - an accuracy that none has is refused
    net = study.network_of(study.chosen)
    folder = None if out is None else out / "precision"
    status = explore_question(
        net,
        source=source if folder is None else str(folder / "networks" / "chosen.npz"),
        out=out,
        given=study.data.for_network(net, study.network),
        requirements=asked,
        **options,
    )
    for path in [] if folder is None else write_study(study, folder):
        Console(highlight=False).print(f"wrote {path}", soft_wrap=True)
    return status


def _wide(net: Network, asked: dict[str, float], options: dict[str, Any]) -> NetworkDesign:
    """The network as it came, by the plan that models choose for the throughput."""
    answer = ask(
        net,
        target=options["target"] or TARGET,
        throughput=asked["throughput"],
        objective=options["objective"] or "area",
        limits=limits_of(asked),
    )
    return cast("NetworkDesign", answer.design())  # a network's is one
