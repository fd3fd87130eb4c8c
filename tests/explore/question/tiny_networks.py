"""Networks that are quick to explore."""

from __future__ import annotations

from ...hw.network import small_networks as small


def tiny(seed=0):
    net = small.Builder((2, 3, 3), seed=seed)
    net.convolution(3, (3, 3), pads=(1, 1, 1, 1))
    net.flatten()
    net.dense(2)
    return net.network()
