"""Models for the vector unit."""

from __future__ import annotations

from ..onnx.network.networks import Builder


def residual() -> Builder:
    """Convolutions with a HardSwish and a Sigmoid between them, and a residual sum."""
    net = Builder([1, 3, 6, 5])
    start = net.conv(3, 8, (3, 3), pads=[1, 1, 1, 1])
    net.add("HardSwish")
    net.conv(8, 8, (3, 3), pads=[1, 1, 1, 1])
    net.add("Sigmoid")
    net.conv(8, 8, (1, 1))
    net.add("Add", net.last, start)
    net.conv(8, 5, (1, 1))
    return net
