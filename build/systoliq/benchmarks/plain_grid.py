"""A grid of processing elements as Amaranth itself writes it, each a separate module: the reference for emission."""

from __future__ import annotations

from amaranth.back import verilog
from amaranth.hdl import Module, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw import ArrayConfig
from systoliq.hw.mac import operand_layout
from systoliq.hw.processing_element import ProcessingElement

__all__ = ["PlainGrid", "emit_plain_grid"]


class PlainGrid(wiring.Component):
    """The processing elements of a `SystolicArray`, each a separate submodule; without skew and control."""

    def __init__(self, config: ArrayConfig) -> None:
        self.config = config
        super().__init__(
            {
                "a": In(data.ArrayLayout(operand_layout(config.a, config.depth), config.rows)),
                "b": In(data.ArrayLayout(operand_layout(config.b, config.depth), config.cols)),
                "clear": In(config.rows),
                "capture": In(config.rows),
                "insert": In(config.rows),
                "sums": Out(data.ArrayLayout(signed(config.accumulator_bits), config.cols)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Operands and control from the left and above, sums below."""
        m = Module()
        grid: dict[tuple[int, int], ProcessingElement] = {}
        for row in range(self.config.rows):
            for col in range(self.config.cols):
                up, left = grid.get((row - 1, col)), grid.get((row, col - 1))
                pe = ProcessingElement(self.config, top=up is None)
                m.submodules[f"pe_{row}_{col}"] = pe
                for name in ("a", "clear", "capture") + (() if up is None else ("insert",)):
                    value: Value = getattr(self, name)[row] if left is None else getattr(left, f"{name}_next")
                    m.d.comb += getattr(pe, name).eq(value)
                m.d.comb += pe.b.eq(self.b[col] if up is None else up.b_next)
                if up is not None:
                    m.d.comb += pe.drain.eq(up.drain_next)
                grid[row, col] = pe
        for col in range(self.config.cols):
            m.d.comb += self.sums[col].eq(grid[self.config.rows - 1, col].drain_next)
        return m


def emit_plain_grid(config: ArrayConfig) -> str:
    """Verilog by Amaranth's own emitter."""
    text: str = verilog.convert(PlainGrid(config), name="plain_grid", emit_src=False)
    return text
