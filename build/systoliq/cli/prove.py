"""The command `systoliq prove`."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from systoliq.sim.tools import missing_text

from ..errors import InputError
from ..files import check_file
from ..prove.property import Verdict
from ..prove.record import Record
from ..prove.runner import ProofResult, ProofRun, run
from ..prove.tools import proof_tools
from .options import PATH

__all__ = ["prove"]

_WIDTH = 150  # of a table in a file: the longest name of a property, and its figures


@click.command()
@click.argument("words", nargs=-1)
@click.option("--quick", is_flag=True, help="Run only properties that take a few seconds.")
@click.option("--bugs/--no-bugs", default=True, help="Also seed a bug for each property and expect a failure.")
@click.option("--processes", default=2, show_default=True, type=click.IntRange(1), help="Proofs that run in parallel.")
@click.option(
    "--record",
    type=PATH,
    metavar="FILE.json",
    help="Leave out what FILE.json says was proven of the same hardware, and add what is proven.",
)
@click.option("--list", "list_only", is_flag=True, help="List the properties without proving them.")
def prove(
    words: tuple[str, ...], quick: bool, bugs: bool, processes: int, record: Path | None, list_only: bool
) -> None:
    """Prove properties of the hardware: all properties, or those with one of WORDS in their name.

    Exits with 1 if a property is not proven (also after a timeout), or if a proof misses its seeded bug.
    """
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    if missing := [tool for tool in proof_tools() if not tool.found]:
        for tool in missing:
            console.print(missing_text(tool), style="red", markup=False)
        sys.exit(2)
    from ..prove.catalog import properties

    chosen = [
        prop
        for prop in properties()
        if (prop.quick or not quick) and (not words or any(word in prop.name for word in words))
    ]
    if not chosen:
        raise click.BadParameter("no property has one of these words in its name", param_hint="WORDS")
    if list_only:
        for prop in chosen:
            console.print(f"[bold]{prop.name}[/bold]: {prop.claim} [dim]({prop.method}, {prop.method.bound})[/dim]")
        return
    kept = None if record is None else _opened(record)
    runs = [ProofRun(prop, seeded) for prop in chosen for seeded in ((False, True) if bugs else (False,))]
    columns = (
        SpinnerColumn(),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(runs))

        def show(result: ProofResult) -> None:
            progress.advance(task)
            what = f"{result.proof.prop.name}{' with its bug' if result.proof.seeded else ''}"
            progress.update(task, description=what)
            if not result.passed:
                progress.console.print(f"[red]{what}: {result.verdict.value}[/red]\n{result.detail}", highlight=False)
            elif not console.is_terminal:
                when = " in an earlier run" if result.recorded else ""
                console.print(f"{what}: {result.verdict.value}, {result.seconds:.1f} s{when}", highlight=False)

        results = run(runs, processes=processes, record=kept, on_result=show)
    console.print(_table(results))
    failures = sum(not result.passed for result in results)
    console.print(
        f"{len(results) - failures} of {len(results)} as expected"
        + (f", {failures} not" if failures else "")
        + (f"; {sum(result.recorded for result in results)} already in {record}" if record else ""),
        soft_wrap=True,
    )
    sys.exit(1 if failures else 0)


def _opened(file: Path) -> Record:
    """Return the record in `file`; InputError if it is another file, or cannot be written."""
    check_file("record", file)
    try:
        return Record(file)
    except ValueError as error:
        raise InputError(f"--record: {error}; name another file, or a new one") from None
    except OSError as error:
        raise InputError(f"--record: {file} must be a file that can be written: {error}") from None


def _table(results: list[ProofResult]) -> Table:
    table = Table(box=None, header_style="bold")
    for heading in ("property", "method", "bound"):
        table.add_column(heading)
    table.add_column("seconds", justify="right")
    table.add_column("verdict")
    table.add_column("seeded bug")
    of_bug = {result.proof.prop.name: result for result in results if result.proof.seeded}
    for result in results:
        if not result.proof.seeded:
            prop = result.proof.prop
            bug = of_bug.get(prop.name)
            caught = "" if bug is None else _colored("caught" if bug.passed else f"{bug.verdict.value}!", bug.passed)
            verdict = _colored(result.verdict.value, result.verdict is Verdict.PROVEN)
            table.add_row(prop.name, str(prop.method), prop.method.bound, f"{result.seconds:.1f}", verdict, caught)
    return table


def _colored(text: str, good: bool) -> str:
    return f"[{'green' if good else 'red'}]{text}[/]"
