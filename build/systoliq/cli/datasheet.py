"""The command `systoliq datasheet`."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import need
from ..files import check_file, write_file
from ..progress import Stages
from .options import PATH, TargetName, check_outside
from .shell import debug_option

__all__ = ["datasheet"]

_KINDS = (".html", ".pdf")


@click.command(
    help="""Write the datasheet of the package in DIR for users who integrate the block: one HTML page, or a PDF.

The page has ports, protocol with a timing diagram, latency and rate, resources and clock by part, the packing of each
stream with an example beat, clock and reset, registers, limits. All facts come from the package's NAME.json. The
timing diagram is a simulation of the package's testbench in Icarus; its latency must equal the stated one. Needs:
pip install 'systoliq[datasheet]' and Icarus; for a PDF, pip install 'systoliq[datasheet-pdf]' and
apt-get install libpango-1.0-0 libpangoft2-1.0-0.

\b
Examples
  systoliq datasheet out/fc --out out/fc.html
  systoliq datasheet out/fc --out out/fc.pdf
  systoliq datasheet out/fc --out out/fc.html --target ecp5-85k --target ice40-up5k
"""
)
@click.argument("directory", metavar="DIR", type=PATH)
@click.option("--out", "output", required=True, type=PATH, metavar="F", help="File for the datasheet: .html or .pdf.")
@click.option(
    "--target", "targets", type=TargetName(), multiple=True, metavar="T",
    help="Place and route for this part or board, too; can be repeated.  [no resources]",
)  # fmt: skip
@click.option(
    "--seconds", default=300, show_default=True, type=click.IntRange(1), help="Processor time limit of the simulation."
)
@debug_option
def datasheet(directory: Path, output: Path, targets: tuple[str, ...], seconds: int) -> None:
    """See the help above."""
    need("wavedrom", "wavedrom", "timing diagrams", extra="datasheet")
    from ..datasheet.make import make_datasheet
    from ..datasheet.pdf import pdf_of

    kind = output.suffix.lower()
    if kind not in _KINDS:
        raise click.UsageError(f"--out must end in .html or .pdf, not {output.name!r}")
    if kind == ".pdf":
        pdf_of("")  # says what is missing before the simulation
    check_file("out", output)
    check_outside(directory, output)
    with Stages().stage(f"datasheet of {directory}") as detail:
        content = make_datasheet(directory, targets, seconds=seconds, detail=detail)
    write_file(output, pdf_of(content) if kind == ".pdf" else content.encode())
    click.echo(f"{output}")
