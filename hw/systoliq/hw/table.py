"""Constant tables: the numbers that belong to an index, in the cheapest form that gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amaranth.hdl import Const, Module, Shape, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .delay import delay
from .hierarchy import place
from .rom import FEW, Rom

__all__ = ["ConstantTable"]


class ConstantTable(wiring.Component):
    """``columns[name][index]`` for each name, ``latency`` cycles after the ``index``, as the port ``name``.

    A number that is the same for all is a constant. Few entries are case statements, more are words of a `Rom`.
    """

    def __init__(
        self, columns: Mapping[str, Sequence[int]], shapes: Mapping[str, Shape], *, cells: str, kind: str
    ) -> None:
        self.columns = {name: list(values) for name, values in columns.items()}
        self.kind = kind
        entries = max(map(len, self.columns.values()))
        varying = {name: shape for name, shape in shapes.items() if len(set(self.columns[name])) > 1}
        self.latency = Rom.latency_of(entries, cells)
        self._rom: Rom | None = None
        if entries > FEW and varying:
            self._layout = data.StructLayout(varying)
            words = [
                self._layout.const({name: self.columns[name][index] for name in varying}).as_bits()
                for index in range(entries)
            ]
            self._rom = Rom(words, self._layout.size, cells=cells, kind=f"{kind}_rom")
        super().__init__({"index": In(range(max(entries, 2))), **{name: Out(shape) for name, shape in shapes.items()}})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        stored = None
        if self._rom is not None:
            m.submodules.rom = place(self._rom, platform)
            m.d.comb += self._rom.address.eq(self.index)
            stored = self._layout(self._rom.word)
        for name, values in self.columns.items():
            port = getattr(self, name)
            if len(set(values)) == 1:
                m.d.comb += port.eq(values[0])
            elif stored is not None:
                m.d.comb += port.eq(stored[name])
            else:
                m.d.comb += port.eq(delay(m, self._case(m, values, port.shape(), name), self.latency, name=name))
        return m

    def _case(self, m: Module, values: Sequence[int], shape: Shape, name: str) -> Value:
        entry = Signal(shape, name=f"{name}_entry")
        with m.Switch(self.index):
            for index, value in enumerate(values):
                with m.Case(index):
                    m.d.comb += entry.eq(Const(value, shape))
        return entry
