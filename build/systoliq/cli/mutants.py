"""The command `systoliq mutants`."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from systoliq.sim.tools import missing_text

from ..mutants import Campaign, Result, Verdict, by_block
from ..prove.tools import proof_tools
from .options import PATH
from .shell import debug_option

__all__ = ["mutants"]

_ALIVE = (Verdict.DIFFERENT, Verdict.UNDECIDED)


@click.command(
    help="""Mutate the Verilog of the package in DIR, one line at a time; check that its testbench finds each mutant.

Tries to prove that a mutant which passes the testbench equals the original. If there is no proof, compares mutant
and original in a simulation of random traffic, and runs `systoliq verify --no-regenerate` with the digests of the
mutated file.
Prints kills by block, and each mutant that survives with its line. The exit status is 1 if a mutant survives.

\b
Examples
  systoliq mutants out/fc
  systoliq mutants out/fc --count 1000 --seed 16 --processes 2
  systoliq mutants out/engine --count 200 --alone
"""
)
@click.argument("directory", metavar="DIR", type=PATH)
@click.option("--count", default=100, show_default=True, type=click.IntRange(1), help="Mutants to draw.")
@click.option("--seed", default=0, show_default=True, help="Seed of the drawing.")
@click.option(
    "--seconds", default=20, show_default=True, type=click.IntRange(1), help="Limit of a proof of equivalence."
)
@click.option(
    "--alone", is_flag=True, help="Compare only the changed module: fast for an engine, but decides fewer mutants."
)
@click.option(
    "--processes", default=1, show_default=True, type=click.IntRange(1), help="Number of mutants in parallel."
)
@debug_option
def mutants(directory: Path, count: int, seed: int, seconds: int, alone: bool, processes: int) -> int:
    """See the help above."""
    if missing := [tool for tool in proof_tools() if not tool.found and tool.name == "pyosys"]:
        click.echo(f"error: {missing_text(missing[0])}", err=True)
        return 1
    campaign = Campaign(directory, seconds=seconds, alone=alone)
    done: list[Result] = []
    with Console(stderr=True).status("") as status:

        def show(result: Result) -> None:
            done.append(result)
            status.update(f"{len(done)} of {count} mutants")
            if result.verdict in _ALIVE:
                click.echo(_changed(campaign.verilog, result))

        results = campaign.run(count, seed, processes=processes, on_result=show)
    Console(width=110).print(_table(results))
    click.echo(_rates(results, seed))
    return 1 if any(result.verdict in _ALIVE for result in results) else 0


def _changed(verilog: Path, result: Result) -> str:
    mutant = result.mutant
    return (
        f"{result.verdict.value}: {verilog}:{mutant.line} ({mutant.block}, {mutant.kind})\n"
        f"  - {mutant.before.strip()}\n  + {mutant.after.strip()}"
    )


def _table(results: list[Result]) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column("block")
    for heading in ("mutants", *(verdict.value for verdict in Verdict), "testbench"):
        table.add_column(heading, justify="right")
    for block, counts in by_block(results):
        different = sum(counts.values()) - counts[Verdict.EQUIVALENT]
        figures = [sum(counts.values()), *counts.values()]
        table.add_row(block, *(str(figure) for figure in figures), _share(counts[Verdict.TESTBENCH], different))
    return table


def _rates(results: list[Result], seed: int) -> str:
    counts = list(by_block(results))[-1][1]
    different = len(results) - counts[Verdict.EQUIVALENT]
    found = counts[Verdict.TESTBENCH]
    either = found + sum(bool(result.refused) for result in results)
    return (
        f"seed {seed}: {len(results)} mutants, {different} not proven equivalent: the testbench finds "
        f"{_share(found, different)}, and {_share(found, different - counts[Verdict.UNDECIDED])} of those known to "
        f"differ; the testbench or verify finds {_share(either, different)}"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
