"""Question on the command line: what `systoliq explore` does for a network, or for a layer with --smallest."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path

import click
from rich.console import Console

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network
from systoliq.sim.runner import SimulatorName

from ..errors import InputError
from ..explore.cache import Store
from ..explore.console import Bars
from ..explore.files import check_directory
from ..explore.log import Log
from ..explore.question.answer import Answer
from ..explore.question.ask import ask
from ..explore.question.check import Inputs, check_design
from ..explore.question.files import write_answer
from ..explore.question.placing import place_task
from ..explore.question.show import show_answer
from .explore_workers import workers
from .shell import warn_symlink

__all__ = ["TARGET", "check_requirements", "explore_question", "limits_of"]

_PLAIN_WIDTH = 160  # of the table in a file or a pipe
TARGET = "ecp5-85k"
_LIMITS = {"area": "lut_sites", "dsp": "dsp", "ram": "ram"}
_REQUIRED = ("throughput", *_LIMITS)


def check_requirements(requirements: Mapping[str, float], place: int, seeds: int) -> None:
    """Raise InputError if a plan cannot be asked for with these requirements."""
    if unknown := sorted(set(requirements) - set(_REQUIRED)):
        raise InputError(f"require must be among {', '.join(_REQUIRED)} for a plan, not {unknown[0]!r}")
    for name, value, least in (("place", place, 0), ("seeds", seeds, 1)):
        if value < least:
            raise InputError(f"{name} must be at least {least}, not {value}")


def limits_of(requirements: Mapping[str, float]) -> dict[str, int]:
    """Upper limits of a plan, as for `ask`."""
    return {_LIMITS[name]: int(value) for name, value in requirements.items() if name in _LIMITS}


def explore_question(
    subject: Network | MatMulLayer,
    *,
    source: str,
    out: Path | None,
    target: str | None,
    objective: str | None,
    place: int,
    seeds: int,
    seconds: float | None,
    given: Inputs | None,
    simulator: SimulatorName,
    jobs: int | None,
    memory: float | None,
    scheduler: str | None,
    cache: Path | None,
    requirements: Mapping[str, float],
) -> int:
    """Answer by models and, where asked for, by place and route; print it, and write it into `out`, if given.

    A plan that was placed, or has inputs `given`, is cosimulated; the exit status is 1 if there is a difference.
    """
    if out is not None:
        check_directory(out)
        warn_symlink(out)
    check_requirements(requirements, place, seeds)
    store = Store(cache) if place else None
    executor = workers(place_task, jobs, memory, scheduler) if place else None
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(Log(out, Bars()))
        if executor is not None:
            stack.callback(executor.close)

        def say(text: str) -> None:
            click.echo(text, err=True)
            log.note(text)

        answer = ask(
            subject,
            target=target or TARGET,
            throughput=requirements.get("throughput"),
            objective=objective or "area",
            place=place,
            seeds=seeds,
            seconds=seconds,
            limits=limits_of(requirements),
            executor=executor,
            store=store,
            advance=lambda text: say(f"placing {text}"),
            progress=log if place else None,
        )
        if answer.chosen is not None and (place or given is not None):
            answer.checked = check_design(
                answer.design(), subject, answer.chosen.image_cycles, given=given, simulator=simulator,
                progress=lambda text: say(f"cosimulating: {text}"),
            )  # fmt: skip
    _tell(answer, out, source if isinstance(subject, Network) else None)
    return 0 if answer.checked is None or answer.checked.passed else 1


def _tell(answer: Answer, out: Path | None, network: str | None) -> None:
    """Print the answer, write it into `out`, and say how to emit a `network` by its plan."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PLAIN_WIDTH)
    show_answer(answer, console)
    if out is None:
        return
    for path in write_answer(answer, out):
        console.print(f"wrote {path}", soft_wrap=True)
    if answer.chosen is not None and network is not None:
        command = f"systoliq emit {network} --target {answer.target} --plan {out / 'plan.json'} --out DIR"
        console.print(f"  {command}", soft_wrap=True, markup=False)
