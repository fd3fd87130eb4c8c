"""Options of an engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..options import Options

__all__ = ["EngineOptions"]


@dataclass(frozen=True, kw_only=True, repr=False)
class EngineOptions(Options):
    """Options of an engine; None selects the default of `EngineConfig`, and a choice of `lanes`.

    Parameters
    ----------
    rows, cols, depth
        elements down and across, and pairs that an element multiplies per cycle. Default: 4 x 4 x 1.
    a_format, b_format, y_format
        float8 formats, such as "e4m3fn": all three, or none for an engine of int8 and uint8.
    cells
        cells that multiply and accumulate, one of `systoliq.hw.cells.CELLS`.
    lanes, a_words, b_words, max_columns, max_rows
        see `EngineConfig`.
    dataflow, workload
        see `EngineConfig`; "auto" selects the one with fewer cycles for the products in the file `workload`.
    bus
        bits of AXI4 masters that fetch from memory: 32, 64 or 128. By default, the engine has streams.
    """

    rows: int | None = None
    cols: int | None = None
    depth: int | None = None
    a_format: str | None = None
    b_format: str | None = None
    y_format: str | None = None
    cells: str = "portable"
    lanes: int | None = None
    a_words: int | None = None
    b_words: int | None = None
    max_columns: int | None = None
    max_rows: int | None = None
    dataflow: str | None = None
    workload: Path | None = None
    bus: int | None = None
