"""The command `systoliq explore`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network

from ..design.network.reasons import check_stages
from ..design.sources import open_layer, open_network
from ..errors import InputError
from ..explore.pareto import OBJECTIVES
from ..explore.requirements import parse_requirements
from ..synth.targets import TARGETS
from .explore_axes import AXES_OPTIONS
from .explore_questions import explore_bits, explore_grid, explore_narrowed, explore_smallest, tell_scales
from .options import add_options
from .shell import debug_option

__all__ = ["explore"]

_PATH = click.Path(path_type=Path)
_BITS = "4"  # where nothing is said: 8, 6, 4 and 3
_OF_BITS = ("mixed", "seconds")
_WITH_BITS = ("source", "data", "target", "objective", "jobs", "memory", "scheduler", "cache")
_WITH_QUESTION = (
    "source", "target", "objective", "place", "seeds", "data", "simulator", "jobs", "memory", "scheduler",
    "cache",
)  # fmt: skip


@click.command(
    "explore",
    help="""Measure the design space of SOURCE: digits, resnet8-fc, a layer FILE.npz or FILE.onnx#NODE, or engine
with a --workload. Reports cycles, area, frequency, accuracy and exactness of the points, and cosimulates each point of
the Pareto front.

\b
RANGE is 1,2,4 or 4:8 or 8:24:4 (by 4) or 1:16:x2 (doubling), or several with commas. Stages:
  cycle model, accuracy, exactness   every point       milliseconds
  synthesis                          --synthesis best  seconds
  place and route, or OpenSTA        --place best      minutes
  cosimulation                       the front         seconds

For a network (digits-cnn, FILE.onnx), or a layer with --smallest, finds the smallest plan for
--require throughput=X, by models first; --place N places only candidates. With standard cells
(osu018, or generic with --liberty) or --multipliers, measures a network like a layer.

--bits reports what narrower weights and activations cost a network in accuracy, layer by layer,
and save in hardware. --require accuracy=X finds the smallest mix of widths, and
--require throughput=X,accuracy=Y also the smallest plan for this mix.

Results are cached: after Ctrl-C or a crash, rerun the same command to resume.

\b
Examples
  systoliq explore digits --out out/explore
  systoliq explore digits --synthesis 24 --place 8 --target ecp5-85k --require throughput=1e6 --out out/e
  systoliq explore model.onnx --require throughput=1e6 --place 3 --out out/e
  systoliq explore model.onnx --data test.npz --bits 4
  systoliq explore digits-cnn --bits 8,6,4,3 --require accuracy=0.97 --objective weights --out out/e
  systoliq explore digits-cnn --require throughput=1e6,accuracy=0.96 --place 3 --out out/e
  systoliq explore layer.npz --data test.npz --a-bits 4:8 --b-bits 2:8 --requantizer-bits 8:24:4 --out out/e
  systoliq explore engine --workload model.onnx --rows 4:8 --cols 4:8 --synthesis 8 --place 3 --out out/e
  systoliq explore digits --target osu018 --synthesis 8 --place 8 --out out/e
  systoliq explore digits --scheduler tcp://10.0.0.2:8786 --out out/e
""",
)
@click.argument("source")
@click.option(
    "--out",
    type=_PATH,
    metavar="DIR",
    help="Directory for points.csv, points.json, report.html and PNG; optional with --bits.",
)
@click.option(
    "--bits",
    metavar="WIDTHS",
    help="network: widths of weights and activations to compare, such as 8,6,4,3; 4 alone means 8,6,4,3.",
)
@click.option(
    "--smallest", is_flag=True, help="layer: find the smallest plan for --require throughput=X, by models first."
)
@click.option(
    "--mixed", type=int, metavar="N", help="with --bits: number of mixed widths to try.  [0; 200 with accuracy=X]"
)
@click.option(
    "--seconds", type=float, metavar="S", help="Time limit for mixed widths, or for placing plans.  [no limit]"
)
@add_options(*AXES_OPTIONS)
@click.option(
    "--workload",
    metavar="FILE",
    help="engine: products: FILE.csv (workload, M, K, N, count), FILE.csv#NAME, MODEL.onnx, resnet8, ...",
)
@click.option("--liberty", type=_PATH, metavar="FILE", help="Standard-cell library for the target generic.")
@click.option("--mhz", type=float, metavar="F", help="standard cells: clock for sizing the gates.  [the target's]")
@click.option(
    "--objective",
    metavar="WORDS",
    help=f"Objectives of the front: {', '.join(OBJECTIVES)}.  [throughput,area,accuracy; without data exactness; "
    "engine: throughput,area,ram]",
)
@click.option("--data", type=_PATH, metavar="X.npz", help="inputs [M, K] with labels [M] or outputs [M, N].")
@click.option(
    "--weights", type=_PATH, metavar="FILE", help="resnet8-fc: an .npz file with b, and optionally bias and scales."
)
@click.option(
    "--synthesis", type=int, default=0, metavar="N", help="Number of points of each target to synthesize.  [0]"
)
@click.option(
    "--place", type=int, default=0, metavar="N", help="Number of points of each target to place and route.  [0]"
)
@click.option("--seeds", type=int, default=3, metavar="N", help="Seeds of place and route.  [3]")
@click.option("--batch", type=int, default=64, metavar="N", help="Size of a batch of inputs.  [64]")
@click.option(
    "--budget", type=int, default=2000, metavar="N", help="Maximum number of points; a larger grid is sampled.  [2000]"
)
@click.option(
    "--require",
    multiple=True,
    metavar="NAME=X",
    help="Select the smallest point that reaches this: throughput=1e6,accuracy=0.9.",
)
@click.option("--simulator", type=click.Choice(["verilator", "icarus"]), default="verilator", help="[verilator]")
@click.option("--jobs", type=int, metavar="N", help="Number of processes.  [as processors and memory allow]")
@click.option(
    "--memory", type=float, metavar="GIB", help="Memory limit of each process.  [its share of 3/4 of the memory]"
)
@click.option("--scheduler", metavar="ADDRESS", help="dask scheduler whose workers evaluate the points.")
@click.option("--cache", type=_PATH, metavar="DIR", help="Cache of finished points.  [~/.cache/systoliq/explore]")
@debug_option
def explore(
    out: Path | None,
    bits: str | None,
    smallest: bool,
    require: tuple[str, ...],
    **options: Any,
) -> int:
    """See `help`."""
    requirements = parse_requirements(require)
    source = options["source"]
    narrow = bits is not None or ("accuracy" in requirements and open_network(source) is not None)
    if narrow:
        tell_scales(_questioned(source, smallest=False))
        both = {"accuracy", "throughput"} <= set(requirements)
        if both:
            _refuse_others(
                options,
                (*_WITH_QUESTION, *_OF_BITS),
                "with an accuracy and a throughput, which only vary widths and plans",
            )
        else:
            _refuse_others(options, (*_WITH_BITS, *_OF_BITS), "with --bits, which only varies widths")
        return (explore_narrowed if both else explore_bits)(out, bits or _BITS, requirements, options)
    if options.pop("mixed") is not None:
        raise InputError("mixed must be given with --bits or an accuracy only")
    if smallest and source == "engine":
        raise InputError("smallest cannot be used with the engine: --require names the smallest that was measured")
    swept = options["multipliers"] is not None or _is_of_cells(options["target"])
    subject = _questioned(source, smallest) if smallest or not swept else None
    tell_scales(subject)
    if subject is not None:
        where = "with a network or with --smallest, which only vary plans"
        _refuse_others(options, (*_WITH_QUESTION, "seconds"), where)
        return explore_smallest(subject, out, requirements, options)
    if options["seconds"] is not None:
        raise InputError("seconds must be given with --bits, with --smallest or for a network only")
    if source == "engine":
        _refuse_others(options, tuple(name for name in options if name != "batch"), "with the engine")
    return explore_grid(out, requirements, options)


def _questioned(source: str, smallest: bool) -> Network | MatMulLayer | None:
    """The subject of a question for the smallest plan: a network, or a layer with --smallest; else None."""
    opened = open_network(source)
    if opened is not None:
        network, origin = opened
        try:
            check_stages(network)
        except InputError as error:
            raise InputError(f"{origin}: {error}") from error
        return network
    return open_layer(source, None)[0] if smallest else None


def _is_of_cells(target: str | None) -> bool:
    """True if all devices are standard cells or gates, for which there are no estimates of plans."""
    words = [] if target is None else [word.strip() for word in target.split(",")]
    return bool(words) and all(word in TARGETS and TARGETS[word].family == "generic" for word in words)


def _refuse_others(options: dict[str, Any], taken: tuple[str, ...], where: str) -> None:
    """An InputError where an option was given that means nothing there."""
    context = click.get_current_context()
    for name in options:
        if name not in taken and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(f"{name} cannot be used {where}")
