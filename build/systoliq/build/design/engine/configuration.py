"""The engine that a `Hardware` asks for."""

from __future__ import annotations

from typing import Any

from systoliq.hw.engine import EngineConfig

from ...errors import InputError
from ..hardware import Hardware
from .workloads import OWN, choose_dataflow, read_workloads

__all__ = ["AUTO", "LANES_LIMIT", "engine_config"]

AUTO = "auto"  # of the dataflow: whichever takes fewer cycles
LANES_LIMIT = 4  # of those that are chosen: each has a multiplier of 32 x 24 bits
_NO_ENGINE = {
    "a_bits": "its operands are int8 or uint8, as each job says",
    "b_bits": "its operands are int8 or uint8, as each job says",
    "a_format": "it multiplies integers",
    "b_format": "it multiplies integers",
    "a_signed": "each job says whether A is signed",
    "b_signed": "each job says whether B is signed",
    "accumulator_bits": "its sums have 32 bits",
    "requantizer": "it rounds as the float32 formula does",
    "multiplier_bits": "its multipliers come with each job",
    "wrap": "its sums wrap as ONNX's int32 does",
}


def engine_config(hardware: Hardware) -> EngineConfig:
    """The engine that `hardware` asks for: that of `EngineConfig` where nothing was said, but for `lanes`.

    These are the largest divisor of the columns that is at most 4. A tile's results then leave in rows * cols / 4
    cycles, unseen where the next tile has as many beats; what more lanes cost is in docs/silicon.md.
    """
    for name, reason in _NO_ENGINE.items():
        if getattr(hardware, name) != getattr(Hardware, name):
            raise InputError(f"{name} must be left out for the source engine: {reason}")
    if hardware.workload is not None and hardware.dataflow != AUTO:
        raise InputError("workload must be left out where dataflow is not auto")
    names = ("rows", "cols", "depth", "lanes", "a_words", "b_words", "max_columns", "max_rows")
    given: dict[str, Any] = {name: value for name in names if (value := getattr(hardware, name)) is not None}
    given.setdefault("lanes", _lanes(given.get("cols", EngineConfig.cols)))
    config = EngineConfig(**given, cells=hardware.cells)
    if hardware.dataflow == AUTO:
        return choose_dataflow(config, OWN if hardware.workload is None else read_workloads(hardware.workload))
    return config if hardware.dataflow is None else config.replace(dataflow=hardware.dataflow)


def _lanes(cols: int) -> int:
    return next(lanes for lanes in range(min(LANES_LIMIT, max(cols, 1)), 0, -1) if cols % lanes == 0)
