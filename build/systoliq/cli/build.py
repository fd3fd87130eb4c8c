"""The command `systoliq build`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from systoliq.sim.runner import SimulatorName

from ..board.boards import board_lines, open_board
from ..board.linked import fingerprint
from ..board.record import keep_record
from ..design import Design
from ..design.presets import PRESETS
from ..errors import InputError
from ..files import write_file
from .board_design import DEFAULT_BAUD, board_design, board_record
from .options import NETWORK_OPTIONS, PATH, SHAPE_OPTION, SIMULATOR_OPTION, add_options
from .quantize import QUANTIZE_OPTIONS
from .rows import show_rows
from .shell import debug_option, tell_notes, warn_symlink
from .shown import shown

__all__ = ["build"]

_STEPS = ("quantize", "plan", "emit", "simulate", "verify", "synthesize", "bitstream")  # of systoliq.accelerate
_BOARDS = board_lines()


@click.command(
    help=f"""Go the whole way from SOURCE to a board: one command, one report.

\b
Steps
  quantize    a float model becomes int8 (see systoliq quantize)
  plan        the smallest plan that fits the board and keeps up with its serial line
  emit        the package DIR/package (see systoliq emit)
  simulate    images of --data; every integer is compared with golden
  verify      the package against its certificate (see systoliq verify)
  synthesize  the sizes against the part
  bitstream   place and route; DIR/bitstream (see systoliq bitstream)

\b
Boards
{_BOARDS}

DIR/report.html begins with the answer: whether it fits, images a second, latency, accuracy, sizes. The archive of
--data has an array [M, ...] for each input, and labels [M] for the accuracy. Without it, the presets digits,
digits-cnn and digits-vit use their own images; other sources use random ones.

The same command resumes where the last one stopped: steps whose inputs have not changed are kept. The last steps take
minutes; --until verify stops before them. Needs: pip install 'systoliq[demo,board]' (until verify: 'systoliq[demo]').

\b
SOURCE is one of
  FILE.onnx           a model: float, which is quantized first, or quantized
  FILE.onnx#NODE      one product of a quantized model
  FILE.npz            a layer file or a network file
  {", ".join(name for name in PRESETS if name not in ("array", "engine"))}
                      presets (see systoliq emit)

\b
Examples
  systoliq build digits-cnn --board icebreaker --out out/digits --until verify
  systoliq build float.onnx --board ulx3s-85f --data calibration.npz --out out/board
"""
)
@click.argument("source")
@click.option("--board", "name_of_board", required=True, metavar="NAME", help="The board; see above.")
@click.option("--out", required=True, type=PATH, metavar="DIR", help="Directory; new, empty or from the same build.")
@click.option("--data", type=PATH, metavar="X.npz", help="Archive of inputs, and labels.  [see above]")
@click.option("--until", type=click.Choice(_STEPS), default=_STEPS[-1], metavar="STEP", help="Last step.  [bitstream]")
@click.option("--replace", is_flag=True, help="Overwrite the build of another SOURCE in DIR.")
@click.option("--images", type=click.IntRange(min=1), metavar="N", help="Simulate the first N images.  [up to 16]")
@click.option("--mhz", type=float, metavar="F", help="Clock of the design.  [the frequency that is reached]")
@click.option(
    "--baud", type=int, default=DEFAULT_BAUD, show_default=True, metavar="N", help="Bits per second of the line."
)
@click.option(
    "--seed", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Seed of the placer."
)
@add_options(SIMULATOR_OPTION, *QUANTIZE_OPTIONS, SHAPE_OPTION, *NETWORK_OPTIONS, debug_option)
def build(
    source: str, name_of_board: str, out: Path, data: Path | None, until: str, replace: bool, images: int | None,
    mhz: float | None, baud: int, seed: int, simulator: SimulatorName, calibration: str, calibrate_with: int | None,
    weight_bits: str, power_of_two: bool, shapes: tuple[tuple[str, tuple[int, ...]], ...], **network: Any,
) -> None:  # fmt: skip
    """See `help`."""
    from ..accelerate.build import Build, Finished, Wanted
    from ..accelerate.report import REPORT_FILE, answer_rows, report_html

    board = open_board(name_of_board)
    warn_symlink(out)
    options = {"requantizer": "auto", **network, "baud": baud}

    def make_design(of: str, on: str) -> Design:
        return board_design(of, on, options)

    def record(of: str, design: Design) -> None:
        keep_record(fingerprint(design), board_record(of, board.name, options))

    def tell(step: Finished) -> None:
        click.echo(f"{step.step:<12}{'kept' if step.kept else f'{step.seconds:.1f} s'}")

    wanted = Wanted(
        source=source, board=board, out=out, data=data, until=until, images=images, simulator=simulator,
        calibration=calibration, weight_bits=int(weight_bits), power_of_two=power_of_two,
        calibrate_with=calibrate_with, shapes=dict(shapes),
        mhz=mhz, baud=baud, seed=seed, settings=_settings(options), replace=replace,
    )  # fmt: skip
    made = Build(wanted=wanted, make_design=make_design, record=record, tell=tell)
    try:
        made.run()
    finally:
        if made.done or made.failure:
            out.mkdir(parents=True, exist_ok=True)
            write_file(out / REPORT_FILE, report_html(made).encode())
    show_rows((label, shown(text)) for label, text in [*answer_rows(made), ("report", str(out / REPORT_FILE))])
    tell_notes(made.done["plan"].figures["notes"] if "plan" in made.done else ())


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options, ready for JSON: files by their content."""
    found = dict(options)
    for name, value in options.items():
        if isinstance(value, Path):
            try:
                found[name] = value.read_text()
            except (OSError, ValueError) as error:
                raise InputError(f"{name}: {value} must be a readable text file ({error})") from error
    return found
