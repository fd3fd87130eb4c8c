"""Integer formats: the values that an operand, a weight or an output can have.

Layers, requantization and hardware all describe their numbers by an `IntFormat`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

_NAME = re.compile(r"(u?)int([1-9][0-9]*)")
_CONTAINERS = (8, 16, 32)


@dataclass(frozen=True)
class IntFormat:
    """Integers of `bits` bits, two's complement or unsigned: 2 to 16 for operands and outputs, 32 for accumulators.

    `unit`, `max_shift`, `ends`, `nan_code` and `infinity_code` correspond to `Float8Format`, so that products of both
    kinds work: significands are never shifted, and every code is a number.
    """

    unit: ClassVar[int] = 0
    max_shift: ClassVar[int] = 0
    nan_code: ClassVar[None] = None
    infinity_code: ClassVar[None] = None
    bits: int
    signed: bool

    def __post_init__(self) -> None:
        if not isinstance(self.bits, int) or isinstance(self.bits, bool):
            raise TypeError(f"bits must be an int, not {self.bits!r}")
        if not isinstance(self.signed, bool):
            raise TypeError(f"signed must be a bool, not {self.signed!r}")
        if not (2 <= self.bits <= 16 or self.bits == 32):
            raise ValueError(f"bits must be 2 to 16, or 32 for accumulators, not {self.bits!r}")

    @classmethod
    def parse(cls, name: str) -> IntFormat:
        """The format called `name`: "int8", "uint5"."""
        if not isinstance(name, str):
            raise TypeError(f"format name must be a str such as 'int8' or 'uint5', not {name!r}")
        match = _NAME.fullmatch(name)
        if match is None:
            raise ValueError(f"format name must be like 'int8' or 'uint5', not {name!r}")
        return cls(int(match[2]), signed=not match[1])

    @classmethod
    def of(cls, dtype: np.dtype | type) -> IntFormat:
        """The format that fills the numpy integer type `dtype` (8, 16 or 32 bits)."""
        dtype = np.dtype(dtype)
        if dtype.kind not in "iu" or dtype.itemsize * 8 not in _CONTAINERS:
            raise TypeError(f"dtype must be an integer of 8, 16 or 32 bits, not {dtype.name}")
        return cls(dtype.itemsize * 8, signed=dtype.kind == "i")

    @property
    def min(self) -> int:
        """The least value."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def max(self) -> int:
        """The greatest value."""
        return (1 << (self.bits - self.signed)) - 1

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest value."""
        return self.min, self.max

    @property
    def name(self) -> str:
        """The name, which `parse` reads: "int8", "uint5"."""
        return f"{'int' if self.signed else 'uint'}{self.bits}"

    @property
    def dtype(self) -> np.dtype:
        """The smallest numpy integer type that holds the format."""
        container = next(bits for bits in _CONTAINERS if bits >= self.bits)
        return np.dtype(f"{'int' if self.signed else 'uint'}{container}")

    @property
    def type_name(self) -> str:
        """The name of `dtype`, and the format's own where it is narrower: "int8", "int16 (for int12)"."""
        return self.name if self.dtype.name == self.name else f"{self.dtype.name} (for {self.name})"

    def contains(self, values: np.ndarray | int) -> bool:
        """True if all integers in `values` are in the format's range."""
        return self.first_outside(values) is None

    def first_outside(self, values: np.ndarray | int) -> tuple[tuple[int, ...], int] | None:
        """Index and value of the first of `values`, in C order, out of range; None if all are in range."""
        values = np.asarray(values)
        outside = np.flatnonzero((values < self.min) | (values > self.max))
        if not outside.size:
            return None
        index = tuple(int(i) for i in np.unravel_index(outside[0], values.shape))
        return index, int(values[index])

    def saturate(self, values: np.ndarray) -> np.ndarray:
        """`values` clipped to the format, as `dtype`."""
        saturated: np.ndarray = np.clip(values, self.min, self.max).astype(self.dtype)
        return saturated

    def __str__(self) -> str:
        return self.name


def signed_bits(*values: int) -> int:
    """Bits, the sign included, of the narrowest two's complement numbers that hold all of `values`: 1 for 0 and -1."""
    return max((value if value >= 0 else ~value).bit_length() for value in values) + 1


INT8 = IntFormat(8, signed=True)
UINT8 = IntFormat(8, signed=False)
INT32 = IntFormat(32, signed=True)
