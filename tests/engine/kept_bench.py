"""The bench of the engine, whose receiver looks only at bytes that `tkeep` marks: the others may be undefined."""

from __future__ import annotations

from typing import Any

from cocotb.types import LogicArray
from cocotbext.axi import AxiStreamSink

from systoliq.sim import engine_bench


class KeptBytes:
    """A bus's `tdata`, the bytes that do not count as zeros."""

    def __init__(self, data: Any, keep: Any) -> None:
        self.data = data
        self.keep = keep

    @property
    def value(self) -> LogicArray:
        data, keep = str(self.data.value), str(self.keep.value)
        return LogicArray("".join(data[8 * i : 8 * i + 8] if kept == "1" else "0" * 8 for i, kept in enumerate(keep)))


class Receiver(AxiStreamSink):
    def __init__(self, bus: Any, *arguments: Any) -> None:
        super().__init__(bus, *arguments)
        self.bus.tdata = KeptBytes(bus.tdata, bus.tkeep)


engine_bench.AxiStreamSink = Receiver
engine = engine_bench.engine
