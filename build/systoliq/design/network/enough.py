"""Rate that is enough: how quick a network is made where no option says how large or how quick it shall be."""

from __future__ import annotations

import math

from systoliq.golden.network import Network

__all__ = ["enough_images"]

_ENOUGH = 1000.0  # images a second
_LINE_BITS = 10 / 8  # of a line for a bit of an operand or a result: a byte has a start and a stop bit
_SHARE_OF_LINE = 0.1  # of the time of an image on a board's line that its stages may take


def enough_images(network: Network, line_baud: int | None) -> float:
    """Return the images a second above which the default plan does not go: a thousand or, on a board with a serial line
    of `line_baud` bits a second, ten times as many as the line can transfer.
    """
    if line_baud is None:
        return _ENOUGH
    bits = sum(math.prod(x.shape) * x.format.bits for x in (*network.inputs, *network.outputs))
    return line_baud / (bits * _LINE_BITS) / _SHARE_OF_LINE
