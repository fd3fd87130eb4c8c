"""Operations on rows that the vector unit computes, as the words of its commands and tables in memory."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import network
from systoliq.golden.formats import IntFormat
from systoliq.golden.network.normalization import FRACTION

from ..engine.registers import Register
from ..network.softmax import SoftmaxTables
from .normalized_rows import DROP
from .registers import NORMALIZATION_REGISTERS, SOFTMAX_REGISTER
from .softmax_rows import BELOW

__all__ = ["NormalizationOperation", "RowOperation", "SoftmaxOperation"]

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class SoftmaxOperation:
    """The softmax of the rows of a tensor of bytes, as golden's `node` computes it, of tensors [1, length]."""

    node: network.Softmax
    registers = (SOFTMAX_REGISTER,)
    loads = True

    @classmethod
    def of(
        cls, length: int, form: IntFormat, x_scale: np.float32, y_scale: np.float32, zero_point: int
    ) -> SoftmaxOperation:
        """The softmax of rows of `length` elements; A and Y have one format. ValueError for scales that have none."""
        named = {"x": (x_scale, form.min), "y": (y_scale, zero_point)}
        x, y = (
            network.Tensor(name=name, shape=(1, length), format=form, scale=scale, zero_point=zero)
            for name, (scale, zero) in named.items()
        )
        return cls(node=network.Softmax(name="softmax", inputs=(x,), output=y))

    @property
    def length(self) -> int:
        """Elements of a row."""
        return self.node.length

    @cached_property
    def tables(self) -> SoftmaxTables:
        """Exponentials and numerators, as a stage of a network has them."""
        return SoftmaxTables.of(self.node)

    @cached_property
    def memory(self) -> tuple[bytes, ...]:
        """The table, as stored in memory."""
        tables = self.tables
        up = BELOW - (tables.fraction + tables.quotient_bits - 1)  # to where the unit's numerators have their point
        words = [
            (numerator << up) | mantissa << 64 | exponent << 88
            for numerator, mantissa, exponent in zip(
                tables.numerators, tables.mantissas, tables.exponents, strict=True
            )
        ]  # fmt: skip
        return (b"".join(word.to_bytes(16, "little") for word in words),)

    def words(self, *, load: bool = False) -> list[int]:
        """The words of the registers that start the command, or the reading of the table."""
        tables, output = self.tables, self.node.output
        fields = {
            "load": int(load),
            "unsigned": int(not output.format.signed),
            "quotient_bits": tables.quotient_bits,
            "zero_point": output.zero_point & 0xFF,
            "exponent": tables.exponents[0],
        }
        return [_word(SOFTMAX_REGISTER, fields)]

    def apply(self, x: Array) -> Array:
        """Y of rows [..., length]."""
        return self.node.apply(x.reshape(-1, self.length)).reshape(x.shape)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class NormalizationOperation:
    """The layer normalization of the rows of a tensor of bytes, as golden's `node` computes it, of tensors [1, length].

    Each row reads the records of its elements in memory again.
    """

    node: network.LayerNormalization
    registers = NORMALIZATION_REGISTERS
    loads = False

    @property
    def length(self) -> int:
        """Elements of a row."""
        return self.node.length

    @cached_property
    def memory(self) -> tuple[bytes, ...]:
        """Shift and gain of each element, as stored in memory."""
        steps = self.node.steps
        up = FRACTION - steps.gain_bits
        pairs = zip(steps.shifts, steps.gains, strict=True)
        return (b"".join(int(each << up).to_bytes(8, "little", signed=True) for pair in pairs for each in pair),)

    def words(self, *, load: bool = False) -> list[int]:
        """The words of the registers, of which the last one starts the command; there is no table."""
        steps, (x,), y = self.node.steps, self.node.inputs, self.node.output
        fields = {
            "epsilon": steps.offset & 0xFFFF_FFFF,
            "more_epsilon": steps.offset >> 32,
            "half": steps.half,
            "unsigned": int(not x.format.signed),
            "unsigned_y": int(not y.format.signed),
            "divide": steps.dividend + 1,
            "places": DROP - steps.drop,
            "zero_point": y.zero_point & 0xFF,
        }
        return [
            _word(register, {field.name: fields[field.name] for field in register.fields})
            for register in NORMALIZATION_REGISTERS
        ]

    def apply(self, x: Array) -> Array:
        """Y of rows [..., length]."""
        return self.node.apply(x.reshape(-1, self.length)).reshape(x.shape)


RowOperation = SoftmaxOperation | NormalizationOperation


def _word(register: Register, fields: dict[str, int]) -> int:
    """The register's word with these fields."""
    return sum(value << register.field(name).lsb for name, value in fields.items())
