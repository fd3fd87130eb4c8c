"""The systolic array: rows of processing elements and the control that travels with A."""

from __future__ import annotations

from amaranth.hdl import Module, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .config import ArrayConfig
from .delay import delay
from .hierarchy import place
from .mac import Mac, operand_layout
from .processing_element import ProcessingElement

__all__ = ["ArrayRow", "SystolicArray"]


class ArrayRow(wiring.Component):
    """``cols`` processing elements side by side: A and control enter at the left, B and the drain chain from above."""

    def __init__(self, config: ArrayConfig, *, top: bool) -> None:
        self.config = config
        self.top = top
        self.kind = "row_top" if top else "row"
        b = data.ArrayLayout(operand_layout(config.b, config.depth), config.cols)
        drain = data.ArrayLayout(signed(config.accumulator_bits), config.cols)
        ports = {
            "a": In(operand_layout(config.a, config.depth)),
            "b": In(b),
            "b_next": Out(b),
            "clear": In(1),
            "capture": In(1),
            "drain_next": Out(drain),
        }
        if not top:
            ports |= {"drain": In(drain), "insert": In(1)}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sideways = ("a", "clear", "capture") + (() if self.top else ("insert",))
        left = {name: getattr(self, name) for name in sideways}
        for col in range(self.config.cols):
            pe = ProcessingElement(self.config, top=self.top)
            m.submodules[f"pe_{col}"] = place(pe, platform)
            m.d.comb += [getattr(pe, name).eq(value) for name, value in left.items()]
            m.d.comb += [pe.b.eq(self.b[col]), self.b_next[col].eq(pe.b_next), self.drain_next[col].eq(pe.drain_next)]
            if not self.top:
                m.d.comb += pe.drain.eq(self.drain[col])
            left = {name: getattr(pe, f"{name}_next") for name in sideways}
        return m


class SystolicArray(wiring.Component):
    """An output-stationary array with overlapping drain; a fixed-latency pipeline without stall or reset.

    Operands arrive skewed: what row 0 and column 0 see in cycle t, row r sees in ``t + r`` and column c in ``t + c``
    (see `Skew`). ``first`` and ``last`` mark the first and last beat of a tile, in step with row 0; a cycle without a
    beat carries ``a = 0`` and neither mark. Beats of a tile may be any number of cycles apart, and the last beats of two
    tiles must be at least ``rows * interval`` cycles apart.

    ``sums[c]`` shows the sum of row r, column c in cycle ``t + latency + r * interval + c``, where t is the cycle of
    the ``last`` beat, and with one row until ``rows * interval`` cycles later; else for that one cycle.
    """

    def __init__(self, config: ArrayConfig, *, interval: int = 1) -> None:
        self.config = config
        self.interval = interval
        self.kind = "array"
        super().__init__(
            {
                "a": In(data.ArrayLayout(operand_layout(config.a, config.depth), config.rows)),
                "b": In(data.ArrayLayout(operand_layout(config.b, config.depth), config.cols)),
                "first": In(1),
                "last": In(1),
                "sums": Out(data.ArrayLayout(signed(config.accumulator_bits), config.cols)),
            }
        )

    @property
    def latency(self) -> int:
        """Cycles from the ``last`` beat to the sum of row 0, column 0 at the bottom: MAC, capture, way down."""
        return Mac.latency_of(self.config) + 1 + (self.config.rows - 1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        clear = delay(m, self.first, Mac.clear_delay_of(self.config), name="clear")
        capture = delay(m, self.last, Mac.latency_of(self.config), name="capture")
        insert = capture
        above = None
        for index in range(self.config.rows):
            row = ArrayRow(self.config, top=above is None)
            m.submodules[f"row_{index}"] = place(row, platform)
            m.d.comb += [row.a.eq(self.a[index]), row.clear.eq(clear), row.capture.eq(capture)]
            if above is None:
                m.d.comb += row.b.eq(self.b)
            else:
                m.d.comb += [row.b.eq(above.b_next), row.drain.eq(above.drain_next), row.insert.eq(insert)]
            if index < self.config.rows - 1:
                clear = delay(m, clear, 1, name=f"clear_row_{index + 1}")
                capture = delay(m, capture, 1, name=f"capture_row_{index + 1}")
                insert = delay(m, insert, 1 + self.interval, name=f"insert_row_{index + 1}")
            above = row
        assert above is not None
        m.d.comb += self.sums.eq(above.drain_next)
        return m
