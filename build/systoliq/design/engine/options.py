"""Options of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ..options import ArraySize

if TYPE_CHECKING:
    from ...synth.targets import Target

__all__ = ["EngineOptions"]

_REFUSALS = {
    name: f"cannot be used with the source engine: {reason}"
    for name, reason in {
        "a_bits": "its operands have 8 bits",
        "b_bits": "its operands have 8 bits",
        "a_signed": "each job of integers says whether A is signed",
        "b_signed": "each job of integers says whether B is signed",
        "accumulator_bits": "its sums have 32 bits, and as many as are exact of float8",
        "requantizer": "it rounds as the float32 formula does",
        "multiplier_bits": "its multipliers come with each job",
        "wrap": "its sums wrap as ONNX's int32 does",
    }.items()
}


@dataclass(frozen=True, kw_only=True, repr=False)
class EngineOptions(ArraySize):
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
    vector
        True adds a vector unit, which requires `bus`.
    row_length
        adds softmax and layer normalization of rows to the vector unit: the largest number of elements of a row, a
        power of two.
    part
        part to build for, as a `Target` or by name, such as "ecp5-85k". Without sizes of the array, and with the cells
        of the part, the engine is the `largest` that fits.
    """

    refusals: ClassVar[Mapping[str, str]] = _REFUSALS
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
    vector: bool = False
    row_length: int | None = None
    part: Target | None = None
