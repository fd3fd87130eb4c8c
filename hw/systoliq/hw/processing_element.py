"""The processing element: forwards its operands, accumulates, and shows its sum or hands it to the drain chain."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .config import ArrayConfig
from .delay import delay
from .hierarchy import place
from .mac import Mac, OperandSum, operand_layout

__all__ = ["ProcessingElement"]


class ProcessingElement(wiring.Component):
    """One element of the array, of one column or two.

    ``a`` leaves to the right and ``b`` to the bottom one cycle later, and so do ``clear``, ``capture`` and ``insert``
    to the right. ``clear`` starts a tile (see `Mac`). ``capture`` copies the sum to the shadow register, where it stays
    until the next capture. The drain chain moves down one element a cycle: ``drain_next`` shows the shadow register one
    cycle after ``insert``, and otherwise the last cycle's ``drain``. The top element has no ``drain``: its
    ``drain_next`` *is* the shadow register, from one cycle after ``capture``. If a sum comes in parts (see `Mac`), all
    this holds for part i `Part.late` cycles later. There is no reset: operands and tokens in flight move on, ahead of
    later ones.

    If the multiply-accumulate has two columns (see `Mac`), ``b`` and the sums hold both columns side by side, and
    signals to the right take two cycles. The second column's ``b`` comes a cycle after the first column's.

    A ``direct`` element has no drain: ``sum`` is its running sum.

    ``sums`` names the operand that the element adds up, as if the other operand were all ones; by default, the element
    adds products. With ``broadcast``, only ``insert`` is passed on a cycle later, all other signals in the same cycle.
    """

    def __init__(
        self,
        config: ArrayConfig,
        *,
        top: bool = False,
        direct: bool = False,
        sums: str | None = None,
        broadcast: bool = False,
    ) -> None:
        self.config = config
        self._broadcast = broadcast
        self._direct = direct
        self._sums = sums
        self.kind = ("pe_top" if top and not direct else "pe") + (f"_sum_{sums}" if sums else "")
        tokens = ["clear"] + ["capture"] * (not direct) + ["insert"] * (not direct and not top)
        self._sideways = ["a", "b", *tokens]
        a = operand_layout(config.a, config.depth)
        b = operand_layout(config.b, config.depth * Mac.columns_of(config))
        accumulator = signed(config.word_bits * Mac.columns_of(config))
        ports = {
            "a": In(a),
            "a_next": Out(a),
            "b": In(b),
            "b_next": Out(b),
        }
        for token in tokens:
            ports |= {token: In(1), f"{token}_next": Out(1)}
        ports["sum" if direct else "drain_next"] = Out(accumulator)
        if "insert" in tokens:
            ports["drain"] = In(accumulator)
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        mac = OperandSum(self.config, self._sums) if self._sums else Mac(self.config)
        m.submodules.mac = place(mac, platform)
        two = Mac.columns_of(self.config) == 2
        registers = {}
        for name in self._sideways:
            here, onward = getattr(self, name), getattr(self, f"{name}_next")
            if self._broadcast and name != "insert":
                m.d.comb += onward.eq(here)
                continue
            register = Signal(here.shape(), name=f"{name}_register", reset_less=True)
            m.d.sync += register.eq(here)
            registers[name] = register
            second = two and name != "b"
            onward_value = delay(m, register, int(second), name=f"{name}_second")
            m.d.comb += onward.eq(onward_value)
        m.d.comb += [mac.a.eq(registers["a"] if two else self.a), mac.b.eq(self.b), mac.clear.eq(self.clear)]
        if self._direct:
            m.d.comb += self.sum.eq(mac.sum)
            return m
        shadow = Signal(mac.sum.shape(), reset_less=True)
        chain = Signal(mac.sum.shape(), reset_less=True)
        for part in Mac.parts_of(self.config):
            with m.If(delay(m, self.capture, part.late, name=f"capture_{part.start}")):
                m.d.sync += part.of(shadow).eq(part.of(mac.sum))
            if "insert" in self._sideways:
                insert = delay(m, self.insert, part.late, name=f"insert_{part.start}")
                m.d.sync += part.of(chain).eq(Mux(insert, part.of(shadow), part.of(self.drain)))
        m.d.comb += self.drain_next.eq(chain if "insert" in self._sideways else shadow)
        return m
