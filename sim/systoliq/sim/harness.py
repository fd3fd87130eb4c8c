"""The harness of a bulk run: a Verilog module around the design that moves beats from and to files.

Python's part is to start a run and to wait for its end; the beats, and the pauses, are files that the host wrote.
"""

from __future__ import annotations

import dataclasses

from systoliq.hw import BareArray, Dense
from systoliq.hw.axi import axi_bits

__all__ = ["PATTERN_CYCLES", "TOP", "Ports", "harness_verilog"]

TOP = "harness"
PATTERN_CYCLES = 1 << 15  # cycles after which a pattern of pauses repeats


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ports:
    """The streams of a design: sources by letter with their data bits, and what takes the results.

    `sums` is the number of columns of a bare array, and 0 for a layer, which has `m_axis_y`.
    """

    a_bits: int
    b_bits: int
    out_bits: int
    sums: int

    @classmethod
    def of_dense(cls, dense: Dense) -> Ports:
        """Those of `systoliq.hw.AxiDense`."""
        config = dense.config
        a_bits, y_bits = config.rows * config.depth * config.a.bits, dense.schedule.lanes * dense.requantization.output.bits
        return cls(a_bits=axi_bits(a_bits), b_bits=0, out_bits=axi_bits(y_bits), sums=0)

    @classmethod
    def of_array(cls, array: BareArray) -> Ports:
        """Those of `systoliq.hw.AxiBareArray`."""
        config = array.config
        return cls(
            a_bits=axi_bits(config.rows * config.depth * config.a.bits),
            b_bits=axi_bits(config.cols * config.depth * config.b.bits),
            out_bits=config.cols * config.accumulator_bits,
            sums=config.cols,
        )


def harness_verilog(design: str, ports: Ports, *, own_clock: bool) -> str:
    """Not there yet."""
    raise NotImplementedError
