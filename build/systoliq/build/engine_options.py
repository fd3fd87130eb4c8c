"""How much hardware an engine has: its options on the command line, and the configuration that they ask for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.config import DATAFLOWS

from .bench_engine import OWN, choose_dataflow, read_workloads
from .choose import AUTO
from .errors import InputError
from .options import HardwareOptions

__all__ = ["ENGINE_OPTIONS", "engine_config", "refuse_engine_options"]

_LANES_LIMIT = 8  # of those that are chosen: each has a multiplier of 32 x 24 bits
_ONLY_ENGINE = ("lanes", "a_words", "b_words", "max_columns", "max_rows", "dataflow", "workload")
_NO_ENGINE = {
    "a_bits": "its operands are int8 or uint8, as each job says",
    "b_bits": "its operands are int8 or uint8, as each job says",
    "a_signed": "each job says whether A is signed",
    "b_signed": "each job says whether B is signed",
    "accumulator_bits": "its sums have 32 bits",
    "requantizer": "it rounds as the float32 formula does",
    "multiplier_bits": "its multipliers come with each job",
    "wrap": "its sums wrap as ONNX's int32 does",
}


def _size(option: str, text: str) -> Callable[[Any], Any]:
    default = getattr(EngineConfig, option.strip("-").replace("-", "_"))
    return click.option(option, type=int, metavar="N", help=f"engine: {text}  [{default}]")


ENGINE_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--lanes",
        type=int,
        metavar="N",
        help=f"engine: results a beat of Y; divides the columns.  [their largest divisor up to {_LANES_LIMIT}]",
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


def engine_config(options: HardwareOptions) -> EngineConfig:
    """The engine that `options` ask for: that of `EngineConfig` where nothing was said, but for `lanes`.

    These are the largest divisor of the columns that is at most 8.
    """
    for name, reason in _NO_ENGINE.items():
        if getattr(options, name) != getattr(HardwareOptions, name):
            raise InputError(f"{name} must be left out for the source engine: {reason}")
    if options.workload is not None and options.dataflow != AUTO:
        raise InputError("workload must be left out where dataflow is not auto")
    names = ("rows", "cols", "depth", "lanes", "a_words", "b_words", "max_columns", "max_rows")
    given: dict[str, Any] = {name: value for name in names if (value := getattr(options, name)) is not None}
    given.setdefault("lanes", _lanes(given.get("cols", EngineConfig.cols)))
    config = EngineConfig(**given, cells=options.cells)
    if options.dataflow == AUTO:
        return choose_dataflow(config, OWN if options.workload is None else read_workloads(options.workload))
    return config if options.dataflow is None else config.replace(dataflow=options.dataflow)


def refuse_engine_options(options: HardwareOptions, source: str) -> None:
    """An InputError where `options` ask for what an engine alone has; `source` is another."""
    for name in _ONLY_ENGINE:
        if getattr(options, name) is not None:
            raise InputError(f"{name} must be given for the source engine only, not for {source!r}")


def _lanes(cols: int) -> int:
    return next(lanes for lanes in range(min(_LANES_LIMIT, max(cols, 1)), 0, -1) if cols % lanes == 0)
