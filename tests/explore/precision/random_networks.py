"""Random networks and widths."""

from __future__ import annotations

import dataclasses
import random

import numpy as np

from systoliq.explore.precision.narrowing import (
    Widths,
    activations_of,
    products_of,
)
from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Convolution, Dense

from ...hw.network import small_networks as small


def random_widths(net, rng):
    return Widths(
        weights={node.name: rng.randint(2, 8) for node in products_of(net)},
        activations={
            name: bits for group in activations_of(net) for bits in [rng.randint(2, 8)] for name in group
        },
    )  # fmt: skip


def random_network(seed):
    """Convolutions, a pool, a move and dense layers; corners: one channel, one output."""
    rng = random.Random(f"narrow {seed}")
    net = small.Builder((rng.choice((1, 3)), 6, 6), seed=seed, form=rng.choice((INT8, UINT8)))
    net.convolution(rng.choice((1, 4)), (3, 3), pads=(1, 1, 1, 1))
    if rng.random() < 0.7:
        net.maximum((2, 2), strides=(2, 2))
    net.depthwise((3, 3), strides=(rng.choice((1, 2)),) * 2, pads=(1, 1, 1, 1))
    net.flatten()
    net.dense(rng.choice((1, 5)))
    net.dense(rng.choice((2, 10)))
    return dataclasses.replace(net.network(), nodes=tuple(map(with_signed_weights, net.nodes))), rng


def with_signed_weights(node):
    """The same numbers, for onnxruntime has no kernels for int8 activations with uint8 weights."""
    if not isinstance(node, Convolution | Dense) or node.layer.b_format.signed:
        return node
    arrays = {name: (getattr(node.layer, name).astype(int) - 128).astype(np.int8) for name in ("b", "b_zero_point")}
    return dataclasses.replace(node, layer=node.layer.replace(**arrays, b_format=INT8))
