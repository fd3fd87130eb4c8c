"""The questions of `systoliq explore`: each opens a run, prints its result, and writes it into a directory."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import click
from rich.console import Console

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network

from ..design.layer.scales import scale_notes
from ..design.network import NetworkDesign
from ..design.network.scales import network_scale_notes
from ..errors import InputError, need
from ..explore.console import Bars
from ..explore.files import check_directory
from ..explore.grid.emit import emit_command
from ..explore.grid.exploration import explore
from ..explore.grid.subjects.opened import open_subject
from ..explore.log import Log
from ..explore.precision.run import precision
from ..explore.precision.study import Study
from ..explore.question.answer import Answer
from ..explore.question.ask import TARGET, ask
from ..explore.question.check import given_inputs
from ..explore.results import Result, show_result, write_result
from ..explore.run import Run
from .shell import tell_notes, warn_symlink

__all__ = ["explore_bits", "explore_grid", "explore_narrowed", "explore_smallest", "tell_scales"]

Options = Mapping[str, Any]
"""Values of the command's options, by name."""

_PLAIN_WIDTH = 160  # of the table in a file or a pipe
_RUN = tuple(name for name in Run.__dataclass_fields__ if name != "progress")
_NO_AXES = ("source", "data", "weights", "workload", "objective", *_RUN)


@contextlib.contextmanager
def _opened_run(out: Path | None, options: Options) -> Iterator[Run]:
    """Open the run that `options` describe; its progress is shown, and logged in `out`, if given."""
    if out is not None:
        check_directory(out)
        warn_symlink(out)
    with Log(out, Bars()) as log:
        yield Run(**{name: options[name] for name in _RUN if name in options}, progress=log)


def _conclude(result: Result, out: Path | None) -> int:
    """Print `result`, write it into `out`, if given, and return the exit status."""
    console = _console()
    show_result(result, console)
    for path in [] if out is None else write_result(result, out):
        console.print(f"wrote {path}", soft_wrap=True)
    return 0 if result.passed else 1


def _console() -> Console:
    return Console(highlight=False, width=None if sys.stdout.isatty() else _PLAIN_WIDTH)


def explore_grid(out: Path | None, requirements: Mapping[str, float], options: Options) -> int:
    """Measure a space of designs point by point."""
    if out is None:
        raise InputError("out must be given: a directory for the report; only --bits can do without")
    for package in ("matplotlib", "plotly"):  # now, and not when all the work is done
        need(package, package, "the report of explore", extra="explore")
    with _opened_run(out, options) as run:
        subject = open_subject(**{name: options[name] for name in ("source", "data", "weights", "workload")})
        space = {name: value for name, value in options.items() if name not in _NO_AXES and value is not None}
        found = explore(subject, space, require=requirements, objective=options["objective"], run=run)
        if not found.front_rows:
            reason = next((row["reason"] for row in found.rows if row["reason"]), "the space is empty")
            raise InputError(f"no point could be evaluated: {reason}")
    tell_scales(getattr(found.subject, "network", None))
    status = _conclude(found, out)
    if found.chosen is not None:
        _console().print(f"  {emit_command(found, found.chosen, out)}", soft_wrap=True, markup=False)
    for row in found.front_rows:
        if row["cosim"] != "equal":
            click.echo(f"not verified: {found.subject.label(row)[0]}: {row['reason'] or 'differs'}", err=True)
    return status


def tell_scales(subject: Network | MatMulLayer | None) -> None:
    """Warn of scales of `subject` that are more likely mistakes than meant."""
    if subject is not None:
        tell_notes(network_scale_notes(subject) if isinstance(subject, Network) else scale_notes(subject))


def explore_smallest(
    subject: Network | MatMulLayer, out: Path | None, requirements: Mapping[str, float], options: Options
) -> int:
    """Find the smallest plan of a network, or of a layer, for a throughput."""
    data = options["data"]
    return _smallest(subject, out, requirements, options, None if data is None else given_inputs(data, subject))


def _smallest(
    subject: Network | MatMulLayer,
    out: Path | None,
    requirements: Mapping[str, float],
    options: Options,
    given: Mapping[str, Any] | None,
) -> int:
    with _opened_run(out, options) as run:
        answer = _asked(subject, requirements, options, given, run)
    status = _conclude(answer, out)
    if out is not None and answer.chosen is not None and isinstance(subject, Network):
        command = f"systoliq emit {options['source']} --target {answer.target} --plan {out / 'plan.json'} --out DIR"
        _console().print(f"  {command}", soft_wrap=True, markup=False)
    return status


def _asked(
    subject: Network | MatMulLayer,
    requirements: Mapping[str, float],
    options: Options,
    given: Mapping[str, Any] | None = None,
    run: Run | None = None,
) -> Answer:
    target, objective = options["target"] or TARGET, options["objective"] or "area"
    return ask(subject, target=target, require=requirements, objective=objective, given=given, run=run)


def explore_bits(out: Path | None, bits: str, requirements: Mapping[str, float], options: Options) -> int:
    """Measure what fewer bits cost a network in accuracy, and save in hardware."""
    return _conclude(_studied(out, bits, requirements, options), out)


def _studied(
    out: Path | None,
    bits: str,
    requirements: Mapping[str, float],
    options: Options,
    design: Callable[[Network], NetworkDesign] | None = None,
) -> Study:
    mixed, target, objective = options["mixed"], options["target"] or TARGET, options["objective"] or "area"
    if mixed is not None and mixed < 0:
        raise InputError(f"mixed must be at least 0, not {mixed}")
    with _opened_run(out, {**options, "budget": mixed}) as run:
        return precision(
            options["source"], bits=bits, data=options["data"], target=target, require=requirements,
            objective=objective, design=design, run=run,
        )  # fmt: skip


def explore_narrowed(out: Path | None, bits: str, requirements: Mapping[str, float], options: Options) -> int:
    """Find the smallest mix of widths with an accuracy, for the plan with a throughput; then the smallest plan for it.

    Both are printed, and written into `out`, the widths into its folder precision.
    """
    if out is not None:
        check_directory(out)
    asked = {name: value for name, value in requirements.items() if name != "accuracy"}
    study = _studied(
        None,
        bits,
        {"accuracy": requirements["accuracy"]},
        options,
        lambda net: cast("NetworkDesign", _asked(net, asked, options).design()),  # a network's is one
    )
    _conclude(study, None)
    assert study.chosen is not None  # noqa: S101 - an accuracy that none has is refused
    net = study.network_of(study.chosen)
    given = study.data.for_network(net, study.network)
    if out is None:
        return _smallest(net, out, asked, options, given)
    chosen = str(out / "precision" / "networks" / "chosen.npz")
    status = _smallest(net, out, asked, {**options, "source": chosen}, given)
    for path in write_result(study, out / "precision"):
        _console().print(f"wrote {path}", soft_wrap=True)
    return status
