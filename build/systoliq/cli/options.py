"""Options that several commands share: how much hardware, which SOURCE, which simulator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from systoliq.hw.cells import CELLS
from systoliq.hw.dma.bus import BUS_BYTES
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.config import DATAFLOWS

from ..design.choose import AUTO, REQUANTIZERS
from ..design.engine.configuration import LANES_LIMIT
from ..design.presets import PRESETS
from ..errors import InputError
from ..synth.targets import TARGETS, Target

if TYPE_CHECKING:
    from ..design import Hardware

__all__ = [
    "BUS_OPTION", "CELLS_OPTION", "ENGINE_OPTIONS", "HARDWARE_OPTIONS", "NETWORK_OPTIONS", "PATH", "SIMULATOR_OPTION",
    "SOURCE_HELP", "SOURCE_OPTIONS", "TARGET_OPTION",
    "add_options", "hardware_of",
]  # fmt: skip

_Command = TypeVar("_Command", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)

_SOURCES = "\n".join(f"  {name:<12}{text}" for name, text in PRESETS.items())
SOURCE_HELP = f"""\b
SOURCE is one of
{_SOURCES}
  FILE.npz    a layer file: b [K, N], a_scale, a_zero_point, b_scale, b_zero_point,
              y_scale, y_zero_point as ONNX's QLinearMatMul has them, optional bias
              int32 [N]; the types of the zero points are those of A, B and Y
              (float8 too: the dtype of systoliq.golden.E4M3FN and its like). Without
              y_scale and y_zero_point (or any scale) a MatMulInteger: Y is int32 sums;
              a_format, e.g. uint8, in place of a_zero_point, which then comes with A
  FILE.npz    a network file, as packages of networks and explore --bits have it
  FILE.onnx   a quantized ONNX model as a whole: a network, or a layer where the model
              is one matrix product
  FILE.onnx#NODE  one product of it: systoliq layers FILE.onnx lists them"""


class _AccumulatorBits(click.ParamType[Any]):
    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "auto":
            return value
        try:
            return int(value)
        except ValueError:
            self.fail(f"must be an integer or auto, not {value!r}", param, ctx)


HARDWARE_OPTIONS = (
    click.option("--rows", type=int, metavar="N", help="Rows of the array.  [layer: 1, array: 8, engine: 4]"),
    click.option(
        "--cols",
        type=int,
        metavar="N",
        help="Columns of the array.  [layer: as many as N, up to 16, and as the target has cells for; array: 8; "
        "engine: 4]",
    ),
    click.option("--depth", type=int, metavar="N", help="Pairs that an element multiplies in a cycle.  [1]"),
    click.option("--a-bits", type=int, metavar="N", help="Width of A, 2 to 16.  [layer: its own; array: 8]"),
    click.option(
        "--b-bits", type=int, metavar="N", help="Width of the multipliers' B side.  [layer: its own; array: 8]"
    ),
    click.option("--a-signed/--a-unsigned", default=None, help="Sign of A, for the source array.  [signed]"),
    click.option("--b-signed/--b-unsigned", default=None, help="Sign of B, for the source array.  [signed]"),
    click.option(
        "--a-format", metavar="F", help="A of the source array or engine in float8: e4m3fn, e4m3fnuz, e5m2, e5m2fnuz."
    ),
    click.option("--b-format", metavar="F", help="B of the source array or engine in float8; with --a-format."),
    click.option(
        "--accumulator-bits",
        type=_AccumulatorBits(),
        help="Width of the accumulators; auto: as few as the layer's sums need.  [32]",
    ),
    click.option(
        "--requantizer",
        type=click.Choice(REQUANTIZERS),
        default=REQUANTIZERS[0],
        help="Rounding. near-tie equals the float32 formula for every accumulator; nearest and floor are smaller, and "
        "refused where they cannot equal it on all that the layer reaches; auto takes the smallest.  [near-tie]",
    ),
    click.option(
        "--multiplier-bits",
        type=int,
        metavar="N",
        help="Round the multipliers to this width, exact or not.  [as needed]",
    ),
    click.option("--wrap", is_flag=True, help="Allow sums beyond the accumulator: they wrap, as ONNX's int32 does."),
)
CELLS_OPTION = click.option(
    "--cells",
    type=click.Choice([*CELLS, AUTO]),
    help="Cells that multiply and accumulate: portable logic, or those of an FPGA family; auto, for a layer with "
    "--target: cells and array with the fewest cycles a row within --multipliers and --luts; for a network: of each "
    "stage.  [portable; with --target and --netlist the family's own]",
)
TARGET_OPTION = click.option(
    "--target",
    type=click.Choice(list(TARGETS)),
    metavar="T",
    help="The part that it is for, as synth has them: sets --cells, and a network's plan must fit it.",
)
SOURCE_OPTIONS = (
    click.option(
        "--weights", type=PATH, metavar="FILE", help="resnet8-fc: an .npz whose b (and bias, scales) to take."
    ),
    click.option("--no-bias", is_flag=True, help="Leave the layer's bias out, as QLinearMatMul has none."),
    click.option("--name", metavar="NAME", help="Name of the Verilog module.  [after the source]"),
)
SIMULATOR_OPTION = click.option(
    "--simulator", type=click.Choice(["verilator", "icarus"]), default="verilator", show_default=True, help="Simulator."
)


def _size(option: str, text: str) -> Callable[[Any], Any]:
    default = getattr(EngineConfig, option.strip("-").replace("-", "_"))
    return click.option(option, type=int, metavar="N", help=f"engine: {text}  [{default}]")


ENGINE_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--y-format", metavar="F", help="engine: Y in float8; with --a-format and --b-format."),
    click.option(
        "--lanes",
        type=int,
        metavar="N",
        help=f"engine: results a beat of Y; divides the columns.  [their largest divisor up to {LANES_LIMIT}]",
    ),
    _size("--a-words", "words of A's buffer, at least ceil(K / depth)."),
    _size("--b-words", "words of B's buffer, at least ceil(K / depth) * ceil(N / cols)."),
    _size("--max-columns", "N of a job at the most."),
    _size("--max-rows", "M of a job with a zero point per row at the most."),
    click.option(
        "--dataflow",
        type=click.Choice([*DATAFLOWS, AUTO]),
        help="engine: what stays in the array; auto: whichever takes fewer cycles for --workload, by the cycle model.  "
        f"[{DATAFLOWS[0]}]",
    ),
    click.option(
        "--workload",
        type=click.Path(path_type=Path),
        metavar="FILE.csv",
        help="engine: for --dataflow auto, products as columns workload, M, K, N, count.  "
        "[ResNet8, BERT-base, ViT-Tiny]",
    ),
)


BUS_OPTION = click.option(
    "--bus",
    type=click.Choice([str(8 * size) for size in BUS_BYTES]),
    callback=lambda _context, _option, value: value and int(value),
    help="engine: bits of its AXI4 masters; they fetch lists of jobs and operands from memory.  [none: streams]",
)


NETWORK_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--throughput",
        type=float,
        metavar="N",
        help="network: images a second that it must reach at 100 MHz (UP5K: 24).",
    ),
    click.option(
        "--multipliers",
        type=int,
        metavar="N",
        help="network, and layer with --cells auto: multiplier cells that it may take.  [network: "
        "with --target as few as give 1000 images a second, with --board as few as keep up with the line, else those "
        "of ecp5-85k; layer: those of the target]",
    ),
    click.option(
        "--luts",
        type=int,
        metavar="N",
        help="network on ECP5 and iCE40: sites of lookup tables that products beyond them may take; layer with "
        "--cells auto: all that it may take.  [0; half of the target's]",
    ),
    click.option(
        "--plan",
        type=PATH,
        metavar="FILE.json",
        help="network: each stage's cols and depth, as in NAME_plan.json.",
    ),
)


def add_options(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """A decorator that gives a command all of `options`, shown in this order."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def hardware_of(arguments: dict[str, Any], target: Target | None = None) -> Hardware:
    """Take the options of `HARDWARE_OPTIONS` out of `arguments`; the cells must suit `target`, where there is one."""
    from ..design import Hardware

    names = Hardware.__dataclass_fields__
    given = {name: arguments.pop(name) for name in names if name in arguments}
    if given.get("cells", "") is None:
        given["cells"] = "portable" if target is None else target.cells
    options = Hardware(**given, part=target)
    if target is not None and target.cells != "portable" and options.cells != AUTO:
        suitable = ("portable", target.cells, *target.other_cells)
        if options.cells not in suitable:
            raise InputError(f"cells must be one of {', '.join(suitable)} for {target.name}, not {options.cells!r}")
    return options
