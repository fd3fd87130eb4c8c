"""AXI4 master ports: the channels of one that reads and of one that writes, addresses of 32 bits, all IDs 0.

Bursts are INCR of whole beats, of at most `BURST_BEATS`; they end where a multiple of as many beats does, so none
crosses 4 KiB. With one ID all answers come in order. ARM IHI 0022.
"""

from __future__ import annotations

from amaranth.lib.wiring import In, Out

from .bus import ADDRESS_BITS

__all__ = ["BURST_BEATS", "INCR", "MODIFIABLE", "axi4_read", "axi4_write"]

BURST_BEATS = 16
INCR = 1
MODIFIABLE = 0b0011
"""AxCACHE of normal memory that is not cached: an interconnect may cut and merge bursts."""


def axi4_read(name: str, bus_bytes: int) -> dict[str, object]:
    """Members of an AXI4 master that reads."""
    return _named(name, _address("ar") | _read(bus_bytes))


def axi4_write(name: str, bus_bytes: int) -> dict[str, object]:
    """Members of an AXI4 master that writes."""
    return _named(name, _address("aw") | _write(bus_bytes))


def _named(name: str, channels: dict[str, object]) -> dict[str, object]:
    return {f"{name}_{channel}": member for channel, member in channels.items()}


def _address(prefix: str) -> dict[str, object]:
    return {
        f"{prefix}id": Out(1),
        f"{prefix}addr": Out(ADDRESS_BITS),
        f"{prefix}len": Out(8),
        f"{prefix}size": Out(3),
        f"{prefix}burst": Out(2),
        f"{prefix}cache": Out(4),
        f"{prefix}prot": Out(3),
        f"{prefix}valid": Out(1),
        f"{prefix}ready": In(1),
    }


def _read(bus_bytes: int) -> dict[str, object]:
    return {"rdata": In(8 * bus_bytes), "rresp": In(2), "rlast": In(1), "rid": In(1), "rvalid": In(1), "rready": Out(1)}


def _write(bus_bytes: int) -> dict[str, object]:
    return {
        "wdata": Out(8 * bus_bytes),
        "wstrb": Out(bus_bytes),
        "wlast": Out(1),
        "wvalid": Out(1),
        "wready": In(1),
        "bresp": In(2),
        "bid": In(1),
        "bvalid": In(1),
        "bready": Out(1),
    }
