"""Configuration of a systolic array: its size, operand formats and accumulator width."""

from __future__ import annotations

import dataclasses

from systoliq.golden.float8 import Float8Format
from systoliq.golden.float8_matmul import flag_bits, sum_bits
from systoliq.golden.formats import INT8, IntFormat
from systoliq.golden.limits import ARRAY_MULTIPLIERS, ARRAY_SIDE
from systoliq.golden.operand import Format

from .cells import CELLS, OPERAND_BITS, PACKED_BITS

__all__ = ["ArrayConfig"]

_MOST_BITS = 48  # of an accumulator of integer products
_MOST_FLOAT8_BITS = 96  # K of 2^29 for the formats that need most


def _positive_integer(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be a positive integer, not {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be a positive integer, not {value!r}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArrayConfig:
    """An output-stationary array of ``rows`` x ``cols`` elements, each of ``depth`` multipliers.

    The array performs ``rows * cols * depth`` multiply-accumulates a cycle on operands of format ``a`` and ``b`` (2 to
    16 bits, signed or unsigned) and sums them modulo ``2**accumulator_bits``. ``cells`` names the cells that multiply:
    ``portable`` logic, or the cells of an FPGA family (`systoliq.hw.cells`). All compute the same sums.

    Either or both operands may be float8, of any format. Sums are then exact, in units of the product of both formats'
    least values (`systoliq.golden.sum_bits` returns the bits that they need), and have flags for NaN and infinities.
    """

    rows: int = 1
    cols: int = 1
    depth: int = 1
    a: Format = INT8
    b: Format = INT8
    accumulator_bits: int = 32
    cells: str = "portable"

    def __post_init__(self) -> None:
        for name in ("rows", "cols", "depth", "accumulator_bits"):
            _positive_integer(name, getattr(self, name))
        for name in ("rows", "cols", "depth"):
            if getattr(self, name) > ARRAY_SIDE:
                raise ValueError(f"{name} must be at most {ARRAY_SIDE}, not {getattr(self, name)}")
        if self.macs_per_cycle > ARRAY_MULTIPLIERS:
            raise ValueError(f"rows * cols * depth must be at most {ARRAY_MULTIPLIERS}, not {self.macs_per_cycle}")
        for name in ("a", "b"):
            operand = getattr(self, name)
            if not isinstance(operand, IntFormat | Float8Format):
                raise TypeError(f"{name} must be an IntFormat or a Float8Format, not {operand!r}")
            if not 2 <= operand.bits <= 16:
                raise ValueError(f"{name} must have 2 to 16 bits, not {operand.bits}")
        if self.accumulator_bits < self.product_bits:
            raise ValueError(
                f"accumulator_bits must be at least {self.product_bits}, the width of one {self.a.name} x "
                f"{self.b.name} product, not {self.accumulator_bits}"
            )
        most = _MOST_FLOAT8_BITS if self.float8 else _MOST_BITS
        if self.accumulator_bits > most:
            raise ValueError(f"accumulator_bits must be at most {most}, not {self.accumulator_bits}")
        if self.cells not in CELLS:
            raise ValueError(f"cells must be one of {', '.join(CELLS)}, not {self.cells!r}")
        most = 16 if self.float8 else OPERAND_BITS.get(self.cells, 16)
        for name in ("a", "b"):
            if getattr(self, name).bits > most:
                raise ValueError(
                    f"{name} must have at most {most} bits with cells {self.cells!r}, not {getattr(self, name).bits}"
                )
        if self.cells in PACKED_BITS and not self.float8:
            self._check_packing(*PACKED_BITS[self.cells])

    def replace(self, **changes: object) -> ArrayConfig:
        """A copy with ``changes`` made, validated again."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def _check_packing(self, factor_bits: int, most_overlap: int) -> None:
        """Check that products with ``a`` overlap by no more than the cells allow, if a factor holds two ``b``."""
        b_most = min(factor_bits, factor_bits + most_overlap - self.a.bits) // 2
        if self.b.bits > b_most:
            raise ValueError(
                f"b must have at most {b_most} bits with cells {self.cells!r} and {self.a.name} for a, two to a "
                f"multiplier, not {self.b.bits}"
            )

    @property
    def product_bits(self) -> int:
        """Bits of one product of an A and a B operand, as a signed number; of float8 in units of both least values."""
        if self.float8:
            return sum_bits(*self.float8, 1)
        return self.a.bits + self.b.bits + (not self.a.signed and not self.b.signed)

    @property
    def float8(self) -> tuple[Format, Format] | None:
        """The formats of A and B where one of them is float8; None where both are integers."""
        return (self.a, self.b) if any(isinstance(each, Float8Format) for each in (self.a, self.b)) else None

    @property
    def unit(self) -> int:
        """A sum counts 2^unit: 1 of integers."""
        return self.a.unit + self.b.unit

    @property
    def flag_bits(self) -> int:
        """Flags above a sum of float8 (see `Mac`); none for integers."""
        return flag_bits(self.a, self.b)

    @property
    def word_bits(self) -> int:
        """Bits of a sum as it leaves an element of the array: the accumulator's, and its flags."""
        return self.accumulator_bits + self.flag_bits

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates that the array does in a cycle."""
        return self.rows * self.cols * self.depth
