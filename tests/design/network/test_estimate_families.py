"""Estimates for Nexus and GateMate against what Yosys made of the same stages, and parts that are refused by them."""

from __future__ import annotations

import dataclasses

import pytest

from systoliq.design import NetworkOptions
from systoliq.design.digits_cnn import digits_cnn
from systoliq.design.network import NetworkDesign
from systoliq.design.network.estimate import estimate
from systoliq.design.network.plan import plan_of, stages_of
from systoliq.errors import InputError
from systoliq.hw.network.parallelism import Parallelism
from systoliq.synth import open_target
from systoliq.synth.families import FAMILIES

from ...hw.network import small_networks as small
from .estimates import check, mixed

NETWORKS = {"digits-cnn": lambda: digits_cnn()[0], "mixed": mixed}
WAITING = {"multiplication2": (512, 512), "concatenation3": (512, 512)}

# By target and network, stages in netlists of Yosys 0.70: node, cols, depth, LUT sites, memory blocks, multipliers.
MEASURED = {
    ("nexus-40k", "digits-cnn"): [
        ("conv1", 1, 1, 387, 0, 1), ("conv2", 1, 1, 378, 2, 1),
        ("fc", 1, 1, 326, 2, 1),
    ],
    ("nexus-40k", "mixed"): [
        ("convolution0", 4, 2, 1690, 1, 19), ("convolution1", 1, 1, 834, 1, 5),
        ("concatenation3", 1, 1, 243, 3, 0), ("maxpool4", 1, 1, 187, 1, 0),
        ("table5", 1, 1, 316, 0, 0), ("convolution6", 1, 1, 1061, 1, 5),
        ("move7", 1, 1, 354, 0, 0), ("convolution8", 2, 1, 691, 4, 12),
        ("wholeaverage9", 1, 1, 363, 1, 5), ("dense11", 1, 1, 613, 8, 11),
    ],
    ("gatemate-a1", "digits-cnn"): [
        ("conv1", 1, 1, 1121, 1, 0), ("conv2", 1, 1, 1141, 2, 0),
        ("fc", 1, 1, 947, 2, 0),
    ],
    ("gatemate-a1", "mixed"): [
        ("convolution0", 4, 2, 5273, 2, 0), ("convolution1", 1, 1, 1877, 1, 0),
        ("multiplication2", 1, 1, 1011, 4, 0), ("concatenation3", 1, 1, 432, 4, 0),
        ("maxpool4", 1, 1, 484, 1, 0), ("table5", 1, 1, 472, 1, 0),
        ("convolution6", 1, 1, 2186, 1, 0), ("move7", 1, 1, 357, 2, 0),
        ("convolution8", 2, 1, 2560, 5, 0), ("wholeaverage9", 1, 1, 1176, 2, 0),
        ("dense11", 1, 1, 2483, 7, 0),
    ],
}  # fmt: skip


@pytest.mark.parametrize("measured", [(*key, *stage) for key, stages in MEASURED.items() for stage in stages], ids=str)
def test_stages_as_yosys_made_them(measured):
    target, network, name, cols, depth, lut_sites, ram, dsp = measured
    part, net = open_target(target), NETWORKS[network]()
    (node,) = (node for node in stages_of(net) if node.name == name)
    how = Parallelism(cols=cols, depth=depth)
    check(estimate(node, how, part.cells, WAITING.get(name, ()), family=part.family), lut_sites, ram)
    (stage,) = (s for s in plan_of(net, dict.fromkeys([n.name for n in stages_of(net)], how), cells=part.cells).stages
                if s.node is node)  # fmt: skip
    assert stage.dsp >= dsp  # what Yosys takes for constant factors is at most this


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.sizes])
def test_sizes_are_for_cells_that_parts_of_the_family_use(name):
    family = FAMILIES[name]
    assert {target.cells for target in family.targets} <= set(family.sizes.cells)


@pytest.mark.parametrize(
    ("target", "kind", "room", "short"),
    [
        ("nexus-40k", "dsp", 2, r"at least \d+ for 11 stages, .* not 2;.*a part that has them"),
        ("nexus-40k", "ram", 1, r"about \d+ memory blocks where there are 1"),
        ("nexus-40k", "lut_sites", 900, r"about \d+ LUT sites where there are 900"),
        ("gatemate-a1", "lut_sites", 900, r"about \d+ LUT sites where there are 900"),
        ("gatemate-a1", "ram", 1, r"about \d+ memory blocks where there are 1"),
    ],
)
def test_a_part_that_is_too_small_is_refused(target, kind, room, short):
    part = open_target(target)
    part = dataclasses.replace(part, capacity={**part.capacity, kind: room})
    with pytest.raises(InputError, match=short):
        NetworkDesign(mixed(), NetworkOptions(cells=part.cells, part=part))


def test_estimates_follow_the_part_where_cells_are_plain_logic():
    part = open_target("gatemate-a1")
    made = NetworkDesign(small.residual(), NetworkOptions(cells="portable", part=part))
    assert set(made.estimates) == {stage.node.name for stage in made.plan.stages}
    assert not NetworkDesign(small.residual(), NetworkOptions(cells="portable")).estimates
