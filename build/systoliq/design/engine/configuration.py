"""The configuration of the engine that `EngineOptions` ask for."""

from __future__ import annotations

from typing import Any

from systoliq.golden.float8 import Float8Format
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.config import DATAFLOWS

from ...errors import InputError
from ..choose import AUTO
from ..options import parse_format
from .largest import LANES_LIMIT, SIZES, check_multipliers, is_known, largest
from .options import EngineOptions

__all__ = ["LANES_LIMIT", "chosen_lanes", "engine_config", "is_left_to_part"]


def engine_config(hardware: EngineOptions) -> EngineConfig:
    """The configuration for `hardware`, with the defaults of `EngineConfig` except for `lanes`.

    These are the largest divisor of the columns that is at most 4. A tile's results then leave in rows * cols / 4
    cycles, unseen where the next tile has as many beats; what more lanes cost is in docs/measurements/silicon.md.
    With a part and no size of the array, it is the `largest` engine that fits.
    """
    if hardware.workload is not None and hardware.dataflow != AUTO:
        raise InputError("workload can only be used with dataflow auto")
    names = ("rows", "cols", "depth", "lanes", "a_words", "b_words", "max_columns", "max_rows")
    given: dict[str, Any] = {name: value for name in names if (value := getattr(hardware, name)) is not None}
    if hardware.part is not None and is_left_to_part(hardware):
        return largest(hardware.part, hardware.bus, given | _of_memory(hardware))
    if hardware.part is not None and hardware.part.capacity.get("dsp") == 0 and not given.keys() & {*SIZES}:
        raise InputError(
            f"target must have room for an engine, not {hardware.part.name}: without multipliers, the smallest takes "
            f"more LUT sites than there are; choose a larger target"
        )
    given.setdefault("lanes", chosen_lanes(given.get("cols", EngineConfig.cols)))
    config = EngineConfig(**given | _formats(hardware), cells=hardware.cells, **_of_memory(hardware))
    if hardware.dataflow == AUTO:
        from .workloads import OWN, choose_dataflow, read_workloads  # with the engine's hardware; options need none

        return choose_dataflow(config, OWN if hardware.workload is None else read_workloads(hardware.workload))
    if hardware.dataflow is not None:
        config = config.replace(dataflow=hardware.dataflow)
    if hardware.part is not None and _is_plain(hardware):
        check_multipliers(config, hardware.part)
    return config


def _of_memory(hardware: EngineOptions) -> dict[str, Any]:
    """The fields of what only an engine with masters has."""
    return {"vector": hardware.vector, "row_length": hardware.row_length or 0}


def is_left_to_part(hardware: EngineOptions) -> bool:
    """True if the sizes of the array are chosen for the part."""
    return _is_plain(hardware) and all(getattr(hardware, name) is None for name in SIZES)


def _is_plain(hardware: EngineOptions) -> bool:
    """True if the cells that the engine takes of its part are known."""
    plain = hardware.a_format is None and hardware.dataflow in (None, DATAFLOWS[0])
    return plain and hardware.part is not None and is_known(hardware.part, hardware.cells)


def _formats(hardware: EngineOptions) -> dict[str, Float8Format]:
    """The formats of an engine of float8; none of one of integers."""
    texts = {name: getattr(hardware, name) for name in ("a_format", "b_format", "y_format")}
    if all(text is None for text in texts.values()):
        return {}
    for name, text in texts.items():
        if text is None:
            raise InputError(f"{name} must be given too: a, b and y of an engine are all float8 or all integers")
    if hardware.max_rows is not None:
        raise InputError("max_rows cannot be used with an engine of float8: it has no zero points, and no row table")
    return {name[0]: parse_format(name, text) for name, text in texts.items()}


def chosen_lanes(cols: int) -> int:
    """The largest divisor of `cols` that is at most `LANES_LIMIT`."""
    return next(lanes for lanes in range(min(LANES_LIMIT, max(cols, 1)), 0, -1) if cols % lanes == 0)
