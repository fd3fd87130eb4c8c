"""The command `systoliq board run`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from systoliq.golden.archive import npz_bytes

from ..board.client import Client
from ..board.exchange_of import exchange_of
from ..board.linked import check_board
from ..board.port import Port
from ..board.record import find_record
from ..files import check_file, json_bytes, write_file
from ..progress import Stages
from .board_design import BOARD_DESIGN_OPTIONS, BOARD_OPTION, board_design, recorded_design
from .options import PATH, add_options
from .rows import show_rows
from .shell import debug_option

__all__ = ["board_run"]

_SHOWN = 10  # mismatches


@click.command(
    name="run",
    help="""Send rows, or images, to a board over its serial line, and compare every result with golden.

SOURCE and its options are the same as for `systoliq bitstream`. Omit them if the bitstream or simulated board was made
on this machine: the board identifies its design. Input and output are as in `systoliq simulate`. Broken frames are sent
again. Exit status is 1 if a result differs.

\b
Examples
  systoliq board run --port /dev/ttyUSB0 --input x.npz
  systoliq board run digits --board ulx3s-85f --port /dev/ttyUSB0 --input x.npz --output y.npz
""",
)
@click.argument("source", required=False)
@click.option("--port", required=True, type=PATH, metavar="P", help="The serial port, or the simulated board's.")
@click.option("--input", "input_", required=True, type=PATH, metavar="X.npz", help="Archive with the operands.")
@click.option(
    "--quantize", is_flag=True, help="Quantize an input of real numbers with A's scale, as QuantizeLinear does."
)
@click.option("--output", type=PATH, metavar="Y.npz", help="Archive for the results.")
@click.option("--report", type=PATH, metavar="R.json", help="File for the report.")
@click.option("--baud", type=int, default=115200, show_default=True, metavar="N", help="Bits per second of the line.")
@click.option(
    "--seconds", type=click.FloatRange(min=0.01), default=2.0, show_default=True, metavar="S",
    help="Limit of an answer's latency, beyond the time of its bytes.",
)  # fmt: skip
@add_options(BOARD_OPTION, *BOARD_DESIGN_OPTIONS, debug_option)
def board_run(
    source: str | None, port: Path, input_: Path, quantize: bool, output: Path | None, report: Path | None, baud: int,
    seconds: float, board: str | None, **options: Any,
) -> int:  # fmt: skip
    """See `help`."""
    for option, path in (("output", output), ("report", report)):
        check_file(option, path)
    stages = Stages()
    with Port(port, baud) as line:
        client = Client(line, seconds=seconds)
        with stages.stage("design"):
            held = client.identify()
            asked = options | {"baud": baud}
            design = recorded_design(find_record(held)) if source is None else board_design(source, board, asked)
        check_board(design, held)
        exchange = exchange_of(design, **design.read_operands(input_, quantize=quantize))
        began = time.monotonic()
        with stages.stage(f"{len(exchange.requests)} units through {port}") as detail:
            answers = client.run(exchange.requests, exchange.answer_bytes, detail)
        taken = time.monotonic() - began
    outputs = dict(exchange.read(answers))
    differing = exchange.differing(outputs)
    facts: dict[str, Any] = {
        "name": design.name,
        "fingerprint": held.hex(),
        "port": str(port),
        "baud": baud,
        "units": len(answers),
        "outputs": sum(each.size for each in exchange.expected.values()),
        "mismatches": len(differing),
        "repeated": dict(client.errors),
        "seconds": round(taken, 3),
    }
    if output is not None:
        write_file(output, npz_bytes(outputs))
    if report is not None:
        write_file(report, json_bytes(facts | {"first_mismatches": differing[:_SHOWN]}))
    facts["repeated"] = ", ".join(f"{what} ({count})" for what, count in client.errors.items()) or "none"
    show_rows((label, str(fact)) for label, fact in facts.items())
    for difference in differing[:_SHOWN]:
        click.echo(f"mismatch: {difference}", err=True)
    return 1 if differing else 0
