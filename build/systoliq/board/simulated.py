"""Simulated boards: the RTL of the link and its design in Verilator, behind a pseudo-terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from systoliq.hw.link.frame_receiver import TIMEOUT_BITS
from systoliq.hw.link.uart_receiver import LEAST_DIVISOR
from systoliq.sim.serial_line import build_serial_line

from ..design import Design
from .linked import LINK_TOP, linked_verilog

__all__ = ["simulated_board"]

_CYCLES_PER_MS = 4000


@contextlib.contextmanager
def simulated_board(
    design: Design,
    *,
    timeout_bits: int = TIMEOUT_BITS,
    progress: Callable[[str], None] | None = None,
) -> Iterator[str]:
    """The path of the simulated board's port, as long as the block lasts.

    Its line runs at the link's maximum, `LEAST_DIVISOR` cycles a bit, for any baud rate of the port.
    """
    verilog = linked_verilog(design, timeout_bits=timeout_bits) + design.models
    simulation = build_serial_line(verilog, LINK_TOP, progress=progress)
    with simulation.run(divisor=LEAST_DIVISOR, cycles_per_ms=_CYCLES_PER_MS) as port:
        yield port
