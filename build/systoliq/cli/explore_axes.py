"""Axes of `systoliq explore` as options, for layers and for the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from systoliq.hw.dma.bus import BUS_BYTES

from ..explore.grid.subjects.engine import EngineSubject
from ..explore.grid.subjects.layer import LayerSubject
from ..explore.grid.subjects.network import NetworkSubject
from ..synth.targets import TARGETS
from .options import TargetName

__all__ = ["AXES_OPTIONS"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_LAYER: Mapping[str, str] = {axis.name: axis.default for axis in LayerSubject.axes}
_ENGINE: Mapping[str, str] = EngineSubject.defaults


def _axis(name: str, text: str, default: str, metavar: str = "RANGE") -> Callable[[_Command], _Command]:
    return click.option(f"--{name.replace('_', '-')}", name, metavar=metavar, help=f"{text}  [{default}]")


def _of_both(name: str, text: str) -> Callable[[_Command], _Command]:
    return _axis(name, text, f"{_LAYER[name]}; engine: {_ENGINE[name]}")


def _of_layer(name: str, text: str, metavar: str = "RANGE") -> Callable[[_Command], _Command]:
    return _axis(name, text, _LAYER[name], metavar)


def _of_engine(name: str, text: str, metavar: str = "RANGE") -> Callable[[_Command], _Command]:
    return _axis(name, f"engine: {text}", _ENGINE[name], metavar)


AXES_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    _of_both("rows", "Rows of the array."),
    _of_both("cols", "Columns of the array."),
    _of_both("depth", "Pairs that an element multiplies per cycle."),
    _of_layer("a_bits", "Widths of A."),
    _of_layer("b_bits", "Widths of B."),
    _of_layer("requantizer_bits", "Widths of the requantizer's multipliers, 1 to 24."),
    _of_layer("requantizer", "near-tie, nearest, floor, auto.", "WORDS"),
    _of_engine("lanes", "results per cycle; 0: the largest divisor of the columns up to 4."),
    _of_engine("a_words", "words in A's buffer, powers of two."),
    _of_engine("b_words", "words in B's buffer, powers of two."),
    _of_engine("max_columns", "largest N of a job."),
    _of_engine("max_rows", "largest M of a job with a zero point per row."),
    _of_engine("dataflow", "what stays in the array.", "WORDS"),
    _of_engine("bus", f"width of its AXI4 masters: {', '.join(str(8 * size) for size in BUS_BYTES)}; 0: streams."),
    click.option(
        "--multipliers",
        metavar="RANGE",
        help="network: budgets of multiplier cells; each is measured.  [standard cells: "
        f"{NetworkSubject.axes[0].default}]",
    ),
    click.option("--cells", metavar="WORDS", help="auto (those of the device), or as for emit.  [auto]"),
    click.option(
        "--target",
        type=TargetName(listed=True),
        metavar="WORDS",
        help=f"Devices: {', '.join(TARGETS)}.  [{_LAYER['target']}]",
    ),
)
