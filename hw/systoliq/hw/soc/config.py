"""Configuration of a system: its engine, its memory, its bus."""

from __future__ import annotations

import dataclasses

from ..dma.dma_engine import check
from ..engine import EngineConfig

__all__ = ["RAM_KIB", "SocConfig"]

RAM_KIB = (16, 1024)
"""Memory of a system at the least and at the most, in KiB."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SocConfig:
    """An ``engine`` behind masters of ``bus_bytes``, with ``ram_kib`` KiB of memory (a power of two).

    ``clock_hz`` over ``baud`` is the initial divisor of the UART; firmware may change it. A ``throttled`` system has
    the input ``stalls``, by which a bench holds each channel of the bus back.
    """

    engine: EngineConfig = dataclasses.field(default_factory=EngineConfig)
    bus_bytes: int = 4
    ram_kib: int = 64
    clock_hz: int = 25_000_000
    baud: int = 115_200
    throttled: bool = False

    def __post_init__(self) -> None:
        check(self.engine, self.bus_bytes)
        if self.engine.float8:
            raise ValueError("engine must be one of integers in a system: its firmware knows no float8")
        for name in ("ram_kib", "clock_hz", "baud"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name} must be an integer, not {value!r}")
        least, most = RAM_KIB
        if self.ram_kib & (self.ram_kib - 1) or not least <= self.ram_kib <= most:
            raise ValueError(f"ram_kib must be a power of two from {least} to {most}, not {self.ram_kib!r}")
        if not 1 <= self.clock_hz <= 1_000_000_000:
            raise ValueError(f"clock_hz must be from 1 to 1000000000, not {self.clock_hz!r}")
        if self.baud < 1 or not 2 <= self.uart_cycles < 1 << 16:
            raise ValueError(
                f"baud must make a bit of 2 to 65535 cycles of the clock of {self.clock_hz} Hz, not {self.baud!r}"
            )

    def replace(self, **changes: object) -> SocConfig:
        """A copy with ``changes`` made, validated again."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    @property
    def ram_bytes(self) -> int:
        """Bytes of memory."""
        return self.ram_kib * 1024

    @property
    def uart_cycles(self) -> int:
        """Cycles of a bit of the UART after a reset."""
        return round(self.clock_hz / self.baud)
