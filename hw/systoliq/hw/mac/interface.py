"""The interface of the multiply-accumulate, and the choice of its form by the set of cells.

A form is in a file of this folder, which declares it in ``FORMS`` by the set of cells. If ``depth`` products take
another number of the part's multipliers, ``MULTIPLIERS`` has the function that counts them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from amaranth.hdl import Module, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.discovery import modules_of
from systoliq.golden.operand import Format

from ..config import ArrayConfig
from ..operand_shape import operand_shape
from .fabric import FabricForm
from .float8 import float8_form
from .form import Form
from .parts import Part

__all__ = ["Mac", "multipliers_of", "operand_layout"]


@functools.cache
def _declared(what: str) -> Mapping[str, Callable[..., Any]]:
    """Return the entries of all ``FORMS`` or ``MULTIPLIERS`` in the files of this folder, by set of cells."""
    found: dict[str, Callable[..., Any]] = {}
    for module in modules_of(__package__):
        found |= getattr(module, what, {})
    return found


def multipliers_of(cells: str, depth: int) -> int:
    """Return the multipliers of the part that ``depth`` products of operands of up to 8 bits take in a cycle."""
    count = _declared("MULTIPLIERS").get(cells)
    return depth if count is None else int(count(depth))


def _form(config: ArrayConfig) -> Form:
    if config.float8:
        return float8_form(config, config.float8)
    form: Form = _declared("FORMS").get(config.cells, FabricForm)(config)
    return form


def operand_layout(operand: Format, count: int) -> data.ArrayLayout:
    """``count`` numbers, or codes, of one format side by side, the first in the lowest bits."""
    return data.ArrayLayout(operand_shape(operand), count)


class Mac(wiring.Component):
    """``sum`` adds up ``a[0]*b[0] + ... + a[depth-1]*b[depth-1]``, modulo ``2**accumulator_bits``.

    Operands are sampled every cycle. In cycle ``t + latency`` ``sum`` includes those seen in cycle t and none later.
    ``clear`` in cycle ``t + clear_delay`` begins a new sum with the operands seen in cycle t: in cycle
    ``t + latency - 1`` ``sum`` still shows the one before. There is no reset: the first ``clear`` makes it known. Where
    ``skew`` is not 0, the pair i of operands of cycle t is the one seen in cycle ``t + i * skew``.

    Long sums come in ``parts``: the above holds for the first part, and for the others `Part.late` cycles later.

    With two ``columns``, ``b`` has the operands of one column after the operands of the other, and ``sum`` is the two
    sums side by side. The operands ``a``, and the second column's, then come a cycle after the first column's.

    If an operand is float8, ``sum`` is exact, in units of the product of both formats' least values. The bits above it
    are flags; once set, they stay until the next sum. Products with NaN or an infinity count as 0 and set flags: one
    flag means NaN; of two flags, the first means +infinity, the second -infinity, and both NaN
    (`ArrayConfig.flag_bits`).

    ``config.cells`` selects the implementation; implementations differ in latency and in cells, never in a bit.
    """

    kind = "mac"

    def __init__(self, config: ArrayConfig) -> None:
        self.config = config
        super().__init__(
            {
                "a": In(operand_layout(config.a, config.depth)),
                "b": In(operand_layout(config.b, config.depth * self.columns_of(config))),
                "clear": In(1),
                "sum": Out(signed(config.word_bits * self.columns_of(config))),
            }
        )

    @staticmethod
    def latency_of(config: ArrayConfig) -> int:
        """Cycles from operands to the sum that includes them, its first part."""
        return _form(config).latency

    @staticmethod
    def parts_of(config: ArrayConfig) -> list[Part]:
        """The parts in which ``sum`` comes, of both columns where there are two."""
        form = _form(config)
        bits = form.columns * config.word_bits
        if len(form.parts) == 1:
            return [Part(0, bits, 0)]
        starts = range(0, bits, config.word_bits)
        return [Part(start + low, start + end, late) for start in starts for low, end, late in form.parts]

    @staticmethod
    def spread_of(config: ArrayConfig) -> int:
        """Cycles from the first part of a sum to its last."""
        return max(part.late for part in _form(config).parts)

    @staticmethod
    def clear_delay_of(config: ArrayConfig) -> int:
        """Cycles from the first operands of a sum to its ``clear``."""
        return _form(config).clear_delay

    @staticmethod
    def skew_of(config: ArrayConfig) -> int:
        """Cycles by which each pair of operands comes after the one before it."""
        return _form(config).skew

    @staticmethod
    def columns_of(config: ArrayConfig) -> int:
        """Columns of B that share ``a``."""
        return _form(config).columns

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.sum.eq(_form(self.config).elaborate(m, self.a, self.b, self.clear, platform).as_signed())
        return m
