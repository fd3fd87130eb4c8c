"""Networks of narrow weights and activations in Verilog: every tensor golden's, under stalls; networks at random."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

from systoliq.explore.precision.narrowing import narrowed
from systoliq.sim.cosimulation.network import cosimulate_network
from systoliq.sim.runner import SimulatorWarning

from ..explore.precision.random_networks import random_network, random_widths
from ..hw.network import small_networks as small
from ..hw.network import stage_bench as bench


@pytest.mark.sampled(99)
@pytest.mark.parametrize("simulator", ["icarus"], indirect=True)
@pytest.mark.parametrize("seed", range(6))
def test_every_tensor_is_right(seed, simulator):
    net, rng = random_network(seed)
    narrow = narrowed(net, random_widths(net, rng))
    assembly = small.assembled(narrow, small.drawn_parallelism(narrow, seed))
    given = {narrow.inputs[0].name: bench.integers(narrow.inputs[0], 2, random.Random(seed))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulatorWarning)
        result = cosimulate_network(assembly, given, simulator=simulator, stalls=(0.3, 0.4)).check()
    golden = narrow.golden(given)
    for name, each in result.tensors.items():
        np.testing.assert_array_equal(each.array, golden[name])
