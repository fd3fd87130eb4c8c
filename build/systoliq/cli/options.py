"""Options that several commands share: how much hardware, which SOURCE, which simulator."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from systoliq.hw.cells import CELLS
from systoliq.hw.dma.bus import BUS_BYTES
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.config import DATAFLOWS

from ..design.choose import AUTO, REQUANTIZERS
from ..design.engine.configuration import LANES_LIMIT
from ..design.presets import PRESETS
from ..errors import InputError, meant
from ..synth.targets import TARGETS, Target

if TYPE_CHECKING:
    from ..board.description import Board

__all__ = [
    "BUS_OPTION", "CELLS_OPTION", "ENGINE_OPTIONS", "HARDWARE_OPTIONS", "NETWORK_OPTIONS", "OUT_OPTION",
    "PATH", "REPLACE_OPTION", "SHAPE_OPTION", "SIMULATOR_OPTION", "SOURCE_HELP", "SOURCE_OPTIONS", "TARGET_OPTION",
    "PositiveNumber", "TargetName", "add_options", "check_outside", "hardware_of",
]  # fmt: skip

_Command = TypeVar("_Command", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)

_SOURCES = "\n".join(f"  {name:<12}{text}" for name, text in PRESETS.items())
SOURCE_HELP = f"""\b
SOURCE is one of
{_SOURCES}
  FILE.npz    a layer file: b [K, N], a_scale, a_zero_point, b_scale, b_zero_point,
              y_scale, y_zero_point, the inputs of ONNX's QLinearMatMul; optionally bias,
              int32 [N]. The zero points have the types of A, B and Y (float8: the dtype
              of systoliq.golden.E4M3FN and so on). Without y_scale and y_zero_point (or
              without any scale), Y is int32 sums, as in MatMulInteger. a_format (such as
              uint8) may replace a_zero_point, which then arrives with A
  FILE.npz    a network file, from a package or from explore --bits
  FILE.onnx   a whole quantized ONNX model: a network, or a layer if the model is one
              matrix product
  FILE.onnx#NODE  one product of a model; systoliq layers FILE.onnx lists them"""


class _AccumulatorBits(click.ParamType[Any]):
    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "auto":
            return value
        try:
            return int(value)
        except ValueError:
            self.fail(f"must be an integer or auto, not {value!r}", param, ctx)


class PositiveNumber(click.ParamType[Any]):
    """A positive number of `unit`, or the `word`, if there is one, that stands for `limit`, 0 or infinity."""

    def __init__(self, unit: str, word: str | None = None, limit: float = math.inf) -> None:
        self.name = unit if word is None else f"{unit}|{word}"
        self._word = word
        self._limit = limit

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == self._word:
            return self._limit
        try:
            found = float(value)
        except ValueError:
            found = math.nan
        if not 0 < found < math.inf:
            words = "" if self._word is None else f" or {self._word}"
            self.fail(f"must be a positive number{words}, not {value!r}", param, ctx)
        return found


class TargetName(click.ParamType[Any]):
    """A target's name; that of a board is its part's. With `listed`, several separated by commas, of which the command
    checks the unknown ones.
    """

    name = "target"

    def __init__(self, *, listed: bool = False) -> None:
        self._listed = listed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if self._listed:
            return ",".join(self._part(word.strip()) or word for word in str(value).split(","))
        found = self._part(str(value))
        if found is None:
            near = meant(str(value), [*TARGETS, *_boards()])
            self.fail(f"must be one of {', '.join(TARGETS)}, or a board, not {value!r}{near}", param, ctx)
        return found

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in (*TARGETS, *_boards()) if name.startswith(incomplete)]

    @staticmethod
    def _part(word: str) -> str | None:
        if word in TARGETS:
            return word
        board = _boards().get(word)
        return None if board is None else board.target.name


def _boards() -> Mapping[str, Board]:
    from ..board.boards import BOARDS  # which few commands need

    return BOARDS


class _Shape(click.ParamType[Any]):
    """NAME=SIZE,SIZE...: an input's shape."""

    name = "shape"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, tuple[int, ...]]:
        if isinstance(value, tuple):
            return value
        name, _, sizes = str(value).rpartition("=")
        if not name or not re.fullmatch(r"[0-9]{1,9}(,[0-9]{1,9})*", sizes):
            self.fail(f"must be such as x=1,3,32,32, not {value!r}", param, ctx)
        return name, tuple(int(size) for size in sizes.split(","))


HARDWARE_OPTIONS = (
    click.option("--rows", type=int, metavar="N", help="Rows of the array.  [layer: 1, array: 8, engine: 4]"),
    click.option(
        "--cols",
        type=int,
        metavar="N",
        help="Columns of the array.  [layer: N, at most 16 and what fits the target; array: 8; engine: 4]",
    ),
    click.option("--depth", type=int, metavar="N", help="Pairs that an element multiplies per cycle.  [1]"),
    click.option("--a-bits", type=int, metavar="N", help="Width of A, 2 to 16.  [layer: its own; array: 8]"),
    click.option(
        "--b-bits", type=int, metavar="N", help="Width of the multipliers' B side.  [layer: its own; array: 8]"
    ),
    click.option("--a-signed/--a-unsigned", default=None, help="array: sign of A.  [signed]"),
    click.option("--b-signed/--b-unsigned", default=None, help="array: sign of B.  [signed]"),
    click.option(
        "--a-format", metavar="F", help="array, engine: float8 format of A: e4m3fn, e4m3fnuz, e5m2, e5m2fnuz."
    ),
    click.option("--b-format", metavar="F", help="array, engine: float8 format of B; requires --a-format."),
    click.option(
        "--accumulator-bits",
        type=_AccumulatorBits(),
        help="Maximum width of the accumulators; auto: what the layer's sums need.  [32]",
    ),
    click.option(
        "--requantizer",
        type=click.Choice(REQUANTIZERS),
        help="Rounding. near-tie equals the float32 formula for every accumulator. nearest and floor are smaller; they "
        "are refused if they cannot equal it for all reachable sums. auto selects the smallest.  [near-tie]",
    ),
    click.option(
        "--multiplier-bits",
        type=int,
        metavar="N",
        help="Round the multipliers to N bits, even if the result is not exact.  [as needed]",
    ),
    click.option(
        "--wrap",
        is_flag=True,
        callback=lambda _context, _option, value: value or None,
        help="Let sums that exceed the accumulator wrap, as int32 does in ONNX.",
    ),
)
CELLS_OPTION = click.option(
    "--cells",
    type=click.Choice([*CELLS, AUTO]),
    help="Cells that multiply and accumulate: portable logic, or cells of an FPGA family. auto selects cells and array "
    "for the fewest cycles per row within --multipliers and --luts (a layer with --target), or the cells of each stage "
    "(a network).  [portable; with --target and --netlist those of the family]",
)
TARGET_OPTION = click.option(
    "--target",
    type=TargetName(),
    metavar="T",
    help="Part to build for (see synth), or a board: sets the default of --cells; a network's plan must fit it. An "
    "engine without sizes is the largest that fits an ECP5 or UP5K.",
)
SOURCE_OPTIONS = (
    click.option(
        "--weights", type=PATH, metavar="FILE", help="resnet8-fc: an .npz file with b, and optionally bias and scales."
    ),
    click.option("--no-bias", is_flag=True, help="Omit the layer's bias (QLinearMatMul has none)."),
    click.option("--name", metavar="NAME", help="Name of the Verilog module.  [derived from SOURCE]"),
)
SHAPE_OPTION = click.option(
    "--shape", "shapes", multiple=True, type=_Shape(), metavar="NAME=N,N,...",
    help="Shape of an input with open sizes; may be repeated.",
)  # fmt: skip
SIMULATOR_OPTION = click.option(
    "--simulator",
    type=click.Choice(["auto", "verilator", "icarus"]),
    default="auto",
    show_default=True,
    help="Simulator; auto selects the one that ends sooner, its build included.",
)


def _size(option: str, text: str) -> Callable[[Any], Any]:
    default = getattr(EngineConfig, option.strip("-").replace("-", "_"))
    return click.option(option, type=int, metavar="N", help=f"engine: {text}  [{default}]")


ENGINE_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--y-format", metavar="F", help="engine: float8 format of Y; requires --a-format and --b-format."),
    click.option(
        "--lanes",
        type=int,
        metavar="N",
        help=f"engine: results per beat of Y; a divisor of the columns.  [the largest one up to {LANES_LIMIT}]",
    ),
    _size("--a-words", "words in A's buffer, at least ceil(K / depth)."),
    _size("--b-words", "words in B's buffer, at least ceil(K / depth) * ceil(N / cols)."),
    _size("--max-columns", "largest N of a job."),
    _size("--max-rows", "largest M of a job with a zero point per row."),
    click.option(
        "--dataflow",
        type=click.Choice([*DATAFLOWS, AUTO]),
        help="engine: what stays in the array; auto: the one with fewer cycles for --workload by the cycle model.  "
        f"[{DATAFLOWS[0]}]",
    ),
    click.option(
        "--workload",
        type=click.Path(path_type=Path),
        metavar="FILE.csv",
        help="engine: products for --dataflow auto, with the columns workload, M, K, N, count.  "
        "[ResNet8, BERT-base, ViT-Tiny]",
    ),
    click.option(
        "--vector",
        is_flag=True,
        callback=lambda _context, _option, value: value or None,
        help="engine with --bus: add a vector unit, for tables and additions from memory to memory.",
    ),
    click.option(
        "--row-length",
        type=int,
        metavar="N",
        help="engine with --vector: add softmax and layer normalization of rows of up to N elements, a power of two.  "
        "[0: none]",
    ),
)


OUT_OPTION = click.option(
    "--out",
    required=True,
    type=PATH,
    metavar="DIR",
    help="Output directory; must be new or empty, or contain a package of the same kind and name, which is "
    "overwritten, whatever its parameters are.",
)
REPLACE_OPTION = click.option(
    "--replace", is_flag=True, help="Also overwrite a systoliq package of another kind or name in DIR."
)


BUS_OPTION = click.option(
    "--bus",
    type=click.Choice([str(8 * size) for size in BUS_BYTES]),
    callback=lambda _context, _option, value: value and int(value),
    help="engine: width of AXI4 masters that fetch job lists and operands from memory.  [none: streams]",
)


NETWORK_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--throughput",
        type=PositiveNumber("N", "max", math.inf),
        help="network: required images per second at 100 MHz (UP5K: 24 MHz), or max for the most that fits the target.",
    ),
    click.option(
        "--latency",
        type=PositiveNumber("US", "min", 0.0),
        help="network: most microseconds from an image's first beat to its last result, at 100 MHz (UP5K: 24 MHz), or "
        "min for the fewest that are found for the target.",
    ),
    click.option(
        "--multipliers",
        type=int,
        metavar="N",
        help="network, and layer with --cells auto: budget of multiplier cells.  [network with --target: enough for "
        "1000 images per second; network with --board: enough to keep up with the line; other networks: those of "
        "ecp5-85k; layer: those of the target]",
    ),
    click.option(
        "--luts",
        type=int,
        metavar="N",
        help="network on ECP5 and iCE40: LUT sites for further products; layer with --cells auto: all LUT sites.  "
        "[network: 0; layer: half of the target's]",
    ),
    click.option(
        "--plan",
        type=PATH,
        metavar="FILE.json",
        help="network: file with cols, depth and cells of each stage, in the form of NAME_plan.json.",
    ),
)


def add_options(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """A decorator that gives a command all of `options`, shown in this order."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def check_outside(package: Path, output: Path) -> None:
    """Raise InputError if the file `output` of --out is in the folder of the package."""
    if output.resolve().parent == package.resolve():
        raise InputError("--out must be in another folder than DIR: a package holds only what emit writes")


def hardware_of(arguments: Mapping[str, Any], target: Target | None = None) -> dict[str, Any]:
    """Return the options that the user gave, by name, for the options of the kind of design that SOURCE is.

    `arguments` has the values of options such as `HARDWARE_OPTIONS`; None is an option that was not given. Raises
    InputError if `target` does not have the cells.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if target is None:
        return {"cells": "portable"} | given
    given = {"cells": target.cells} | given | {"part": target}
    suitable = ("portable", target.cells, *target.other_cells)
    if target.cells != "portable" and given["cells"] not in (AUTO, *suitable):
        raise InputError(f"cells must be one of {', '.join(suitable)} for {target.name}, not {given['cells']!r}")
    return given
