"""Precision of a network on the command line: what `systoliq explore --bits` does."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from systoliq.golden.network import Network

from ..design.network import NetworkDesign
from ..errors import InputError
from ..explore.cache import Store
from ..explore.console import Bars
from ..explore.files import check_directory
from ..explore.log import Log
from ..explore.precision.evaluations import evaluate_widths
from ..explore.precision.files import write_study
from ..explore.precision.run import precision
from ..explore.precision.show import show_study
from ..explore.precision.study import Study
from ..synth.targets import TARGETS
from .explore_question import TARGET
from .explore_workers import workers
from .shell import warn_symlink

__all__ = ["explore_precision"]

_PLAIN_WIDTH = 160  # of the table in a file or a pipe
_REQUIRED = ("accuracy", "throughput")


def explore_precision(
    source: str,
    *,
    out: Path | None,
    bits: str,
    data: Path | None,
    target: str | None,
    objective: str | None,
    mixed: int | None,
    seconds: float | None,
    jobs: int | None,
    memory: float | None,
    scheduler: str | None,
    cache: Path | None,
    requirements: Mapping[str, float],
    design: Callable[[Network], NetworkDesign] | None = None,
) -> Study:
    """The study of the network `source`, which is printed, and written into `out`, if given."""
    if out is not None:
        check_directory(out)
        warn_symlink(out)
    target = target or TARGET
    if target not in TARGETS:
        raise InputError(f"target must be one of {', '.join(TARGETS)} with --bits, not {target!r}")
    if unknown := sorted(set(requirements) - set(_REQUIRED)):
        raise InputError(f"require must be among {', '.join(_REQUIRED)} with --bits, not {unknown[0]!r}")
    executor = workers(evaluate_widths, jobs, memory, scheduler)
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(Log(out, Bars()))
        if executor is not None:
            stack.callback(executor.close)
        study = precision(
            source,
            bits=bits,
            data=data,
            target=target,
            throughput=requirements.get("throughput"),
            design=design,
            accuracy=requirements.get("accuracy"),
            objective=objective or "area",
            mixed=mixed,
            seconds=seconds,
            store=Store(cache),
            executor=executor,
            progress=log,
        )
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PLAIN_WIDTH)
    show_study(study, console)
    if out is not None:
        for path in write_study(study, out):
            console.print(f"wrote {path}", soft_wrap=True)
    return study
