"""The array of the weight-stationary dataflow: weights stay, rows of A pass over them, partial sums move down."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..adder_tree import adder_tree, adder_tree_latency
from ..config import ArrayConfig
from ..delay import delay
from ..hierarchy import place
from ..mac import operand_layout
from ..multiplier import Multiplier

__all__ = ["PARTIAL_BITS", "WeightStationaryArray", "WeightStationaryElement"]

PARTIAL_BITS = 32


class WeightStationaryElement(wiring.Component):
    """``partial_next = partial + sum(a[i] * weight[i])``; the weights of the next tile are loaded meanwhile.

    ``a``, ``swap`` and ``load`` move right, ``b`` moves down, one element a cycle. ``load`` keeps ``b`` as the next
    weights; ``swap`` makes them the current ones, from the ``a`` that comes with it on. ``partial_next`` shows the sum
    of the ``a`` of cycle t in cycle ``t + latency`` and takes in the ``partial`` of the cycle before.

    Weights are zero after reset: those that a chunk leaves out meet zeros of A, but must be numbers for that. With
    ``ones`` the element adds up ``a`` as if all its weights were one.
    """

    def __init__(self, config: ArrayConfig, *, top: bool, ones: bool = False) -> None:
        self.config = config
        self.top = top
        self._ones = ones
        self.kind = ("ws_pe_top" if top else "ws_pe") + ("_ones" if ones else "")
        a = operand_layout(config.a, config.depth)
        b = operand_layout(config.b, config.depth)
        ports = {
            "a": In(a),
            "a_next": Out(a),
            "b": In(b),
            "b_next": Out(b),
            "load": In(1),
            "load_next": Out(1),
            "swap": In(1),
            "swap_next": Out(1),
            "partial_next": Out(signed(PARTIAL_BITS)),
        }
        if not top:
            ports["partial"] = In(signed(PARTIAL_BITS))
        super().__init__(ports)

    @staticmethod
    def latency_of(config: ArrayConfig) -> int:
        """Operand register, product, a register per adder level, partial sum."""
        return 2 + Multiplier.latency_of(config.cells) + adder_tree_latency(config.depth)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        for name in ("a", "b", "load", "swap"):
            here, onward = getattr(self, name), getattr(self, f"{name}_next")
            register = Signal(here.shape(), name=f"{name}_register", reset_less=name in ("a", "b"))
            m.d.sync += register.eq(here)
            m.d.comb += onward.eq(register)
        coming = Signal(self.b.shape())
        weights = Signal(self.b.shape())
        with m.If(self.load):
            m.d.sync += coming.eq(self.b)
        with m.If(self.swap):
            m.d.sync += weights.eq(coming)

        terms: list[Value] = []
        for i in range(config.depth):
            if self._ones:
                wait = Multiplier.latency_of(config.cells)
                terms.append(delay(m, self.a_next[i], wait, name=f"operand_{i}").as_signed())
                continue
            multiplier = Multiplier(config.a.bits, config.b.bits, cells=config.cells)
            m.submodules[f"multiplier_{i}"] = place(multiplier, platform)
            m.d.comb += [multiplier.a.eq(self.a_next[i]), multiplier.b.eq(weights[i])]
            terms.append(multiplier.product)
        total = adder_tree(m, terms, len(terms[0]))
        partial = Signal(signed(PARTIAL_BITS), reset_less=True)
        m.d.sync += partial.eq(total if self.top else self.partial + total)
        m.d.comb += self.partial_next.eq(partial)
        return m


class _WeightStationaryRow(wiring.Component):
    """``cols`` elements side by side; the first one adds up ``a``."""

    def __init__(self, config: ArrayConfig, *, top: bool) -> None:
        self.config = config
        self.top = top
        self.kind = "ws_row_top" if top else "ws_row"
        b = data.ArrayLayout(operand_layout(config.b, config.depth), config.cols)
        partial = data.ArrayLayout(signed(PARTIAL_BITS), config.cols)
        ports = {
            "a": In(operand_layout(config.a, config.depth)),
            "b": In(b),
            "b_next": Out(b),
            "load": In(1),
            "swap": In(1),
            "partial_next": Out(partial),
        }
        if not top:
            ports["partial"] = In(partial)
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sideways = ("a", "load", "swap")
        left = {name: getattr(self, name) for name in sideways}
        for col in range(self.config.cols):
            element = WeightStationaryElement(self.config, top=self.top, ones=col == 0)
            m.submodules[f"pe_{col}"] = place(element, platform)
            m.d.comb += [getattr(element, name).eq(value) for name, value in left.items()]
            m.d.comb += [
                element.b.eq(self.b[col]),
                self.b_next[col].eq(element.b_next),
                self.partial_next[col].eq(element.partial_next),
            ]
            if not self.top:
                m.d.comb += element.partial.eq(self.partial[col])
            left = {name: getattr(element, f"{name}_next") for name in sideways}
        return m


class WeightStationaryArray(wiring.Component):
    """An array of weights, with ones in column 0; a fixed-latency pipeline without stall.

    Operands arrive skewed: what row 0 and column 0 see in cycle t, row r sees in ``t + r`` and column c in ``t + c``.
    ``load`` keeps the word of B in row ``load_row``; ``swap`` makes the words kept since the last one the weights, for
    the row of A that comes in the same cycle and those after it. Both are in step with row 0.

    ``sums[c]`` shows the partial sum of the row of A of cycle t in cycle ``t + latency + c``.
    """

    kind = "ws_array"

    def __init__(self, config: ArrayConfig) -> None:
        self.config = config
        super().__init__(
            {
                "a": In(data.ArrayLayout(operand_layout(config.a, config.depth), config.rows)),
                "b": In(data.ArrayLayout(operand_layout(config.b, config.depth), config.cols)),
                "load": In(1),
                "load_row": In(range(config.rows)),
                "swap": In(1),
                "sums": Out(data.ArrayLayout(signed(PARTIAL_BITS), config.cols)),
            }
        )

    @property
    def latency(self) -> int:
        """Cycles from a row of A to its sum at the bottom of column 0."""
        return WeightStationaryElement.latency_of(self.config) + self.config.rows - 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        load: Value = Cat(self.load, self.load_row)
        swap: Value = self.swap
        above = None
        for index in range(self.config.rows):
            row = _WeightStationaryRow(self.config, top=above is None)
            m.submodules[f"row_{index}"] = place(row, platform)
            m.d.comb += [row.a.eq(self.a[index]), row.load.eq(load[0] & (load[1:] == index)), row.swap.eq(swap)]
            if above is None:
                m.d.comb += row.b.eq(self.b)
            else:
                m.d.comb += [row.b.eq(above.b_next), row.partial.eq(above.partial_next)]
            if index < self.config.rows - 1:
                load = delay(m, load, 1, name=f"load_row_{index + 1}", reset_less=False)
                swap = delay(m, swap, 1, name=f"swap_row_{index + 1}", reset_less=False)
            above = row
        assert above is not None  # noqa: S101 - rows >= 1
        m.d.comb += self.sums.eq(above.partial_next)
        return m
