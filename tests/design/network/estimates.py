"""Networks whose estimates are compared."""

from __future__ import annotations

from systoliq.design.network.estimate import LUT_ERROR, RAM_ERROR

from ...hw.network import small_networks as small

FEW_SITES = 150  # by which a small stage may be off


def check(found, lut_sites, ram):
    assert abs(found.ram - ram) <= RAM_ERROR, (found, ram)
    assert abs(found.lut_sites - lut_sites) <= max(LUT_ERROR * lut_sites, FEW_SITES), (found, lut_sites)


def mixed():
    """A stage of nearly every kind."""
    net = small.Builder((8, 8, 8), seed=3)
    trunk = net.convolution(12, (3, 3), pads=(1, 1, 1, 1))
    deep = net.depthwise((3, 3), pads=(1, 1, 1, 1))
    net.concat(net.multiply(trunk, deep), trunk)
    net.maximum((2, 2), strides=(2, 2))
    net.table()
    net.depthwise((3, 3), strides=(2, 2))
    net.resize(2, 2)
    net.convolution(96)
    net.average()
    net.flatten()
    net.dense(100)
    return net.network()
