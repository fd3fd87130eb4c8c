"""The command `systoliq board fit`."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from ..design import Design
from ..errors import InputError
from ..progress import Stages
from .board_design import board_design
from .options import PATH, SHAPE_OPTION, add_options
from .quantize import QUANTIZE_OPTIONS
from .rows import show_rows
from .shell import debug_option, tell_notes
from .shown import shown

if TYPE_CHECKING:
    from ..accelerate.board_fit import BoardFit
    from ..design.image_cost import ImageCost, Speed

__all__ = ["board_fit"]

_WIDTH = 160  # of the table in a file or a pipe
_KINDS = {"lut_sites": "LUT sites", "dsp": "multipliers", "ram": "memory blocks"}
_OPTIONS = {"requantizer": "auto"}


@click.command(
    name="fit",
    help="""List which boards a network fits, with its sizes, images a second and latency on each, before anything is
built. All figures are estimates of the planner, in seconds; systoliq build places and routes for one board.

SOURCE is a float model, which is quantized first, a quantized model FILE.onnx, a network file FILE.npz, or digits-cnn
or digits-vit. Each board has two plans: the one that systoliq build selects, which keeps up with the serial line, and
the one for all multiplier cells of the part. Boards are sorted by size, smallest first.

\b
Examples
  systoliq board fit digits-cnn
  systoliq board fit float.onnx --data calibration.npz
""",
)
@click.argument("source")
@click.option("--data", type=PATH, metavar="X.npz", help="Samples to quantize a float model with.  [random numbers]")
@add_options(*QUANTIZE_OPTIONS, SHAPE_OPTION, debug_option)
def board_fit(source: str, data: Path | None, **quantize: Any) -> int:
    """See `help`."""
    from ..accelerate.board_fit import board_fit, boards_by_size

    if source in ("array", "engine"):
        raise InputError(f"SOURCE must be a network, not {source}")
    stages, found = Stages(), []
    with tempfile.TemporaryDirectory(prefix="systoliq-") as folder:
        model = _quantized(source, data, Path(folder), stages, quantize)
        cost = _cost(source, board_design(model, None, _OPTIONS))
        with stages.stage("plan for each board") as detail:
            for board in boards_by_size():
                detail(board.name)

                def make(on: str = board.name, **options: Any) -> Design:
                    return board_design(model, on, _OPTIONS | options)

                found.append(board_fit(board, make, fastest=True))
    Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH).print(_table(found))
    for fit in found:
        if fit.reason:
            click.echo(shown(f"{fit.board.name}: {fit.reason.partition(';')[0]}"))
    show_rows((label, shown(text)) for label, text in _answer(source, cost, found, quantized=model == source))
    tell_notes(_notes(found, random=model != source and data is None))
    return 0 if any(fit.fits is not False for fit in found) else 1


def _quantized(source: str, data: Path | None, folder: Path, stages: Stages, options: dict[str, Any]) -> str:
    """Return `source`, or the file in `folder` with the quantized model if it is a float model."""
    from ..quantize.calibration import samples_for
    from ..quantize.float_model import is_float_model, open_float_model
    from ..quantize.quantizer import quantize_model

    if not is_float_model(source):
        if data is not None:
            raise InputError(f"data cannot be used with {source}: only a float model is quantized")
        return source
    opened = open_float_model(Path(source), dict(options["shapes"]))
    samples = samples_for(opened, data)
    with stages.stage(f"quantize {source}") as detail:
        made = quantize_model(
            opened, samples, calibration=options["calibration"], weight_bits=int(options["weight_bits"]),
            power_of_two=options["power_of_two"], calibration_samples=options["calibrate_with"], progress=detail,
        )  # fmt: skip
    made.check_hardware(source)
    path = folder / f"{Path(source).stem}_int8.onnx"
    path.write_bytes(made.content)
    return str(path)


def _cost(source: str, design: Design) -> ImageCost:
    """Return the cost of an image; InputError if the design is not a network."""
    if design.image_cost is None:
        build = f"systoliq build {shlex.quote(source)} --board NAME --out DIR --until synthesize"
        raise InputError(
            f"SOURCE must be a network, not the {design.kind} {source}: {build} shows its size on one board"
        )
    return design.image_cost


def _table(found: Sequence[BoardFit]) -> Table:
    heads = ["board", "fits", *_KINDS.values(), "images/s", "latency", "at", "fastest plan: images/s", "latency"]
    table = Table(*heads[:2], box=None, pad_edge=False)
    for head in heads[2:]:
        table.add_column(head, justify="right")
    for fit in found:
        sizes = [_of_room(fit, kind) for kind in _KINDS]
        table.add_row(fit.board.name, _verdict(fit), *sizes, *_speed(fit.speed), *_speed(fit.fastest)[:2])
    return table


def _verdict(fit: BoardFit) -> str:
    if fit.fits is None:
        return "?"
    return ("maybe" if fit.is_tight else "yes") if fit.fits else "no"


def _of_room(fit: BoardFit, kind: str) -> str:
    share = fit.share(kind)
    return "" if share is None else f"{fit.needed[kind]:,} ({share:.0%})"


def _speed(speed: Speed | None) -> tuple[str, str, str]:
    """Return images a second, the latency, and the clock."""
    if speed is None:
        return "", "", ""
    time = speed.microseconds
    latency = f"{time / 1000:,.1f} ms" if time >= 1000 else f"{time:,.0f} us"
    return f"{speed.images:,.0f}", latency, f"{speed.mhz:.0f} MHz{'*' if speed.assumed else ''}"


def _answer(
    source: str, cost: ImageCost, found: Sequence[BoardFit], *, quantized: bool
) -> Iterator[tuple[str, str]]:  # fmt: skip
    fits = [fit.board.name for fit in found if fit.fits and not fit.is_tight]
    word = shlex.quote(source)
    if fits:
        yield "smallest board", f"{fits[0]}; systoliq has no prices"
    yield from cost.rows()
    first = "" if quantized else f"systoliq quantize {word} --data X.npz --out INT8.onnx; "
    explored = word if quantized else "INT8.onnx"
    yield "accuracy", f"at 8, 6 and 4 bits: {first}systoliq explore {explored} --data X.npz --bits 8,6,4"
    if fits:
        yield "next", f"systoliq build {word} --board {fits[0]} --out DIR"


def _notes(found: Sequence[BoardFit], *, random: bool) -> Iterator[str]:
    if random:
        yield "calibrated with random numbers, which changes the sizes little: for the accuracy, give --data"
    if any(fit.speed and fit.speed.assumed for fit in found):
        yield "* the clock is assumed: there is no clock model for this part"
    if any(fit.fits and fit.is_tight for fit in found):
        yield "maybe: the estimate is above the part by less than its error; systoliq build synthesizes for it"
    if any(fit.fits is None for fit in found):
        yield "? the planner estimates only multiplier cells for this part; systoliq build synthesizes for it"
