"""Options of a bare array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from systoliq.golden.float8_matmul import sum_bits
from systoliq.golden.formats import INT8, IntFormat
from systoliq.hw import ArrayConfig

from ...errors import InputError
from ..options import ArraySize, parse_format

__all__ = ["ArrayOptions"]

_SUM_BITS = 32  # ONNX sums in int32
_LONGEST = 2048  # K that the sums of float8 have room for by default

_REFUSALS = dict.fromkeys(
    ("requantizer", "multiplier_bits"), "cannot be used with the source array: it has no requantizer"
)


@dataclass(frozen=True, kw_only=True, repr=False)
class ArrayOptions(ArraySize):
    """Options of a bare array; None selects the default.

    Parameters
    ----------
    rows, cols, depth
        elements down and across, and pairs that an element multiplies per cycle. Default: 8 x 8 x 1.
    a_bits, b_bits, a_signed, b_signed
        formats of integer operands, 2 to 16 bits. Default: int8.
    a_format, b_format
        float8 formats of both operands, such as "e4m3fn".
    accumulator_bits
        width of the accumulators. Default: 32; for float8, the width that K = 2048 needs.
    wrap
        let sums that exceed the accumulator wrap.
    cells
        cells that multiply and accumulate, one of `systoliq.hw.cells.CELLS`.
    """

    refusals: ClassVar[Mapping[str, str]] = _REFUSALS
    a_bits: int | None = None
    b_bits: int | None = None
    a_signed: bool | None = None
    b_signed: bool | None = None
    a_format: str | None = None
    b_format: str | None = None
    accumulator_bits: int | Literal["auto"] | None = None
    wrap: bool = False
    cells: str = "portable"

    def bare_array(self) -> ArrayConfig:
        """Return the configuration of the array."""
        formats = self._integers() if self.a_format is None and self.b_format is None else self._float8()
        return ArrayConfig(
            rows=8 if self.rows is None else self.rows,
            cols=8 if self.cols is None else self.cols,
            depth=1 if self.depth is None else self.depth,
            cells=self.cells,
            **formats,
        )

    def _integers(self) -> dict[str, Any]:
        """Return formats and accumulator width for integers."""
        return {
            "a": IntFormat(self.a_bits or INT8.bits, signed=self.a_signed is not False),
            "b": IntFormat(self.b_bits or INT8.bits, signed=self.b_signed is not False),
            "accumulator_bits": _SUM_BITS if self.accumulator_bits in (None, "auto") else self.accumulator_bits,
        }

    def _float8(self) -> dict[str, Any]:
        """Return formats and accumulator width for float8."""
        for name in ("a_bits", "b_bits", "a_signed", "b_signed"):
            if getattr(self, name) is not None:
                raise InputError(f"{name} cannot be used with a_format or b_format, which imply it")
        formats = []
        for name in ("a_format", "b_format"):
            if getattr(self, name) is None:
                raise InputError(f"{name} must be given too: operands are both float8 or both integers")
            formats.append(parse_format(name, getattr(self, name)))
        a, b = formats
        bits = self.accumulator_bits
        return {"a": a, "b": b, "accumulator_bits": sum_bits(a, b, _LONGEST) if bits in (None, "auto") else bits}
