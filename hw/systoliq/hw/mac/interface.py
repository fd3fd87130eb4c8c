"""The interface of the multiply-accumulate, behind which the vendors' cells stand."""

from __future__ import annotations

from collections.abc import Callable

from amaranth.hdl import Module, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.operand import Format

from ..config import ArrayConfig
from ..operand_shape import operand_shape
from .dsp48e2 import Dsp48E2Form
from .dsp48e2_pair import Dsp48E2PairForm
from .ecp5 import Ecp5Form
from .ecp5_alu import AluForm
from .ecp5_lut import Ecp5LutForm
from .ecp5_overlap import ecp5_pair_form
from .fabric import FabricForm
from .float8 import float8_form
from .form import Form
from .gowin import GowinForm
from .ice40 import ice40_form, ice40_multipliers
from .nexus import nexus_form, nexus_multipliers
from .parts import Part
from .xilinx import XilinxForm

__all__ = ["Mac", "multipliers_of", "operand_layout"]

_FORMS: dict[str, Callable[[ArrayConfig], Form]] = {
    "ecp5": Ecp5Form,
    "ecp5-alu": AluForm,
    "ecp5-pair": ecp5_pair_form,
    "ecp5-lut": Ecp5LutForm,
    "ice40": ice40_form,
    "gowin": GowinForm,
    "nexus": nexus_form,
    "xilinx": XilinxForm,
    "dsp48e2": Dsp48E2Form,
    "dsp48e2-pair": Dsp48E2PairForm,
}


_MULTIPLIERS: dict[str, Callable[[int], int]] = {"ice40": ice40_multipliers, "nexus": nexus_multipliers}


def multipliers_of(cells: str, depth: int) -> int:
    """Return the multipliers of the part that ``depth`` products of operands of up to 8 bits take in a cycle."""
    return _MULTIPLIERS[cells](depth) if cells in _MULTIPLIERS else depth


def _form(config: ArrayConfig) -> Form:
    return float8_form(config, config.float8) if config.float8 else _FORMS.get(config.cells, FabricForm)(config)


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
