"""Dependency: no pixel is made before those that it depends on; FIFOs of joins are deep enough, and halves not."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from systoliq.hw.network.dependency import Dependency, waiting_pixels
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.network.pipeline import Pipeline

from . import small_networks as small
from . import stage_bench as bench


def depended(node, before):
    """The last pixel of the source that each of the node's depends on, from 1 on, by numpy; `before`: of its input."""
    window = node.window
    image = node.inputs[0].shape[2:]
    return window.patches(before.reshape(1, 1, *image), 0).max(axis=(4, 5)).reshape(-1)


@pytest.mark.parametrize("seed", range(20))
def test_reach_covers_what_a_pixel_depends_on(seed):
    """Of two convolutions, one after the other."""
    rng = random.Random(f"reach {seed}")
    first = bench.convolution(rng)
    image = first.output.shape[2:]
    second = bench.convolution(rng, image=image, channels=first.output.shape[1])
    reach = Dependency.of_source(first.inputs[0])
    true = np.arange(1, np.prod(first.inputs[0].shape[2:]) + 1)
    for node in (first, second):
        reach, true = operator_of(node).dependency([reach]), depended(node, true)
        assert reach.line == node.output.shape[3]
        assert (reach.needed >= true).all()
        assert (np.diff(reach.needed) >= 0).all()


def test_lines_of_two_windows():
    """No more than the lines that it takes."""
    net = small.Builder((1, 4, 2))
    reach = Dependency.of_source(net.x)
    for _ in range(2):
        net.depthwise(pads=(1, 1, 1, 1))
    found = []
    for node in net.nodes:
        reach = operator_of(node).dependency([reach])
        found.append(reach.needed.tolist())
    assert found == [[4, 4, 6, 6, 8, 8, 8, 8], [6, 6, 8, 8, 8, 8, 8, 8]]


def test_whole_images():
    net = small.Builder((2, 3, 4))
    net.table()
    net.average()
    net.flatten()
    net.dense(2)
    table, mean, _, fc = net.nodes
    reach = operator_of(table).dependency([Dependency.of_source(net.x)])
    assert (reach.needed == np.arange(1, 13)).all()
    mean = operator_of(mean).dependency([reach])
    assert (mean.needed.tolist(), mean.line) == ([12], 1)
    assert operator_of(fc).dependency([mean]).needed.tolist() == [12]


def test_waiting_of_ways_that_are_alike():
    reach = Dependency(np.arange(1, 13), 4)
    assert waiting_pixels([reach, reach], 12) == [4 + 2 + 1, 4 + 2 + 1]


def gated():
    """A gate whose stages take nearly as long as an image; only the next images can fill that time."""
    net = small.Builder((2, 7, 7), seed=1)
    trunk = net.convolution(4)
    net.average()
    net.convolution(24)
    net.multiply(trunk, net.convolution(4))
    four = Parallelism(cols=4)
    parallelism = {"convolution0": Parallelism(cols=4, depth=2), "wholeaverage1": four, "multiplication4": four}
    whole = net.network()
    return whole, small.assembled(whole, parallelism)


@pytest.mark.slow
def test_what_waits_for_a_gate():
    """Images that come while it is made, so that the rate is that of the slowest stage; not with half of them."""
    rates = []
    for part in (1, 2):
        whole, assembly = gated()
        ((trunk, gate),) = [joint.waiting for joint in assembly.pipeline.joints if joint.waiting]
        ends = last_beats(whole, assembly, (trunk // part, gate), most=16)
        rates.append((ends[-1] - ends[1]) / 2 / assembly.image_cycles)
    assert rates[0] == 1
    assert rates[1] > 1


def join():
    """A shortcut around two convolutions, as fast as they are."""
    net = small.Builder((2, 9, 8), seed=1)
    trunk = net.table()
    net.convolution(2, (3, 3), pads=(1, 1, 1, 1))
    deep = net.convolution(2, (3, 3), pads=(1, 1, 1, 1))
    net.add(deep, trunk)
    whole = net.network()
    fast = Parallelism(cols=2, depth=2)
    parallelism = {node.name: fast for node in whole.nodes if node.name.startswith("conv")}
    return whole, small.assembled(whole, parallelism)


def last_beats(whole, assembly, waiting, *, most=8):
    """When images end, with so many beats that may wait before the join; [] after ``most`` images' time."""
    joints = [
        dataclasses.replace(joint, waiting=waiting) if joint.waiting else joint for joint in assembly.pipeline.joints
    ]
    old = assembly.pipeline
    pipeline = Pipeline(joints, inputs=old.inputs, outputs=old.outputs, cells=old.cells)
    given, wanted = small.traffic(assembly, whole, 4, 0)
    expected = wanted["o"]
    run = bench.Bench(pipeline)
    try:
        run.simulate({"given": given, "wanted": {"o": len(expected)}, "limit": most * assembly.image_cycles})
    except bench.StuckError:
        return []
    assert run.taken["o"] == expected
    return run.times["o"][len(expected) // 4 - 1 :: len(expected) // 4]


@pytest.mark.slow
def test_depth_of_a_join():
    """Enough for the rate of the slowest stage; with half of it that is lost, with a quarter nothing moves."""
    ends = []
    for part in (1, 2, 4):
        whole, assembly = join()
        ((short, long),) = [joint.waiting for joint in assembly.pipeline.joints if joint.waiting]
        ends.append(last_beats(whole, assembly, (short, long // part)))
    assert ends[0][-1] - ends[0][-2] == assembly.image_cycles
    assert ends[1][-1] - ends[1][-2] > assembly.image_cycles
    assert ends[2] == []
