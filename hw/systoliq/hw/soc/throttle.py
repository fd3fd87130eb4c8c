"""A throttle of a bus, for benches: it holds channels back, without breaking the protocol's rules."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from ..dma.axi4 import axi4_read, axi4_write
from .ports import slave

__all__ = ["CHANNELS", "Throttle"]

CHANNELS = {"read": ("ar", "r"), "write": ("aw", "w", "b")}
_BACK = ("r", "b")


class Throttle(wiring.Component):
    """Between a master, at ``s``, and a slave, at ``m``: a channel whose bit of ``stalls`` is 1 waits in this cycle.

    An offer that is shown stays. ``access`` is "read" or "write"; the bits follow `CHANNELS`.
    """

    def __init__(self, access: str, bus_bytes: int) -> None:
        self.access = access
        self.kind = f"{access}_throttle"
        members = (axi4_read if access == "read" else axi4_write)("m", bus_bytes)
        names = {name: slave({name: member})[name] for name, member in members.items()}
        super().__init__(
            members | {f"s{name[1:]}": member for name, member in names.items()} | {"stalls": In(len(CHANNELS[access]))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for index, channel in enumerate(CHANNELS[self.access]):
            source, sink = ("m", "s") if channel in _BACK else ("s", "m")
            shown, goes = Signal(name=f"{channel}_shown"), Signal(name=f"{channel}_goes")
            valid, ready = getattr(self, f"{sink}_{channel}valid"), getattr(self, f"{sink}_{channel}ready")
            m.d.comb += [
                goes.eq(shown | ~self.stalls[index]),
                valid.eq(getattr(self, f"{source}_{channel}valid") & goes),
                getattr(self, f"{source}_{channel}ready").eq(ready & goes),
            ]
            m.d.sync += shown.eq(valid & ~ready)
            for name in self.signature.members:
                field = name.removeprefix(f"{source}_{channel}")
                if name.startswith(f"{source}_{channel}") and field not in ("valid", "ready"):
                    m.d.comb += getattr(self, f"{sink}_{channel}{field}").eq(getattr(self, name))
        return m
