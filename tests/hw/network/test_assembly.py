"""Assemblies: whole small networks as pipelines against golden; moves that change an order; what is refused."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from systoliq.golden import INT8, UINT8
from systoliq.hw import emit_verilog
from systoliq.hw.network.parallelism import Parallelism

from . import small_networks as small
from . import stage_bench as bench

SMALL_FIRST = sorted(small.NETWORKS, key=lambda name: name != "hourglass")


def run(net, parallelism, *, images=3, seed=0, **more):
    assembly = small.assembled(net, parallelism)
    given, expected = small.traffic(assembly, net, images, seed)
    driven = bench.Bench(assembly.pipeline, seed=seed)
    phase = {"given": given, "wanted": {port: len(words) for port, words in expected.items()}, "limit": 60_000, **more}
    assert driven.simulate(phase) == expected
    port, words = next(iter(expected.items()))
    if not more:
        found = assembly.pipeline.timed([len(given[name]) for name in assembly.pipeline.input_ports])
        assert driven.times == {name: each.cycles.tolist() for name, each in found.items()}
    ends = driven.times[port][len(words) // images - 1 :: len(words) // images]
    return assembly, [after - before for before, after in itertools.pairwise(ends)]


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", SMALL_FIRST)
def test_networks(name):
    """Of images that stall, after resets in the middle of others."""
    net = small.NETWORKS[name](seed=1)
    assembly = small.assembled(net, small.drawn_parallelism(net, 1))
    rng, phases = random.Random(1), []
    for seed in range(9):
        given, expected = small.traffic(assembly, net, 2, seed)
        wanted = {port: len(words) for port, words in expected.items()}
        phases.append({"given": given, "wanted": wanted, "comes": 0.8, "goes": 0.7, "limit": 60_000})
        if seed < 8:
            phases[-1]["cycles"] = rng.randint(1, 3 * assembly.image_cycles)
    assert bench.Bench(assembly.pipeline).simulate(*phases) == expected


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", SMALL_FIRST)
def test_images_leave_at_the_rate_of_the_slowest_stage(name):
    net = small.NETWORKS[name](seed=4)
    assembly, gaps = run(net, small.drawn_parallelism(net, 4), images=6)
    assert gaps[-2:] == [assembly.image_cycles] * 2 or not assembly.exact
    assert assembly.exact == (len(net.inputs) == 1)


def test_rate_between_widths_that_do_not_divide_each_other():
    """Six channels, two at a time, then three."""
    net = small.Builder((6, 4, 5))
    net.table()
    net.table()
    assembly, gaps = run(net.network(), {"table0": Parallelism(cols=2), "table1": Parallelism(cols=3)}, images=4)
    assert gaps == [assembly.image_cycles] * 3 == [60] * 3


@pytest.mark.slow  # tests/emitted has networks
@pytest.mark.parametrize("name", small.NETWORKS)
def test_verilog_of_each(name):
    """Blocks of one name are one module."""
    net = small.NETWORKS[name]()
    assert emit_verilog(small.assembled(net).pipeline, "network").count("endmodule") > len(net.nodes)


@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
def test_orders_of_moves(form):
    """Dense after flatten of a map whose dimensions were exchanged before."""
    net = small.Builder((3, 2, 4), form=form)
    net.table()
    net.transpose(0, 2, 3, 1)
    net.flatten()
    net.dense(4)
    run(net.network(), {}, images=2)


def test_a_tensor_and_itself():
    net = small.Builder((2, 2, 3))
    twice = net.table()
    net.add(twice, twice)
    run(net.network(), {}, images=3)


def test_input_that_two_stages_take():
    net = small.Builder((2, 3, 3))
    net.add(net.x, net.table())
    run(net.network(), {}, images=3)


def test_both_ways_flattened():
    net = small.Builder((2, 2, 2))
    one = net.table()
    other = net.flatten(of=net.depthwise((1, 1)))
    net.add(net.flatten(of=one), other)
    refused(net, "its elements must come in raster order, channels last")


def test_one_way_flattened_of_a_single_pixel():
    net = small.Builder((4, 1, 1))
    one = net.flatten(of=net.table())
    net.add(net.flatten(of=net.x), one)
    run(net.network(), {}, images=3)


def refused(net, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        small.assembled(net.network())


def test_refused():
    net = small.Builder((2, 2, 2))
    net.table()
    net.flatten()
    refused(net, "output 't1': its elements must come in raster order, channels last")
    net = small.Builder((2, 2, 2))
    net.flatten()
    net.table()
    refused(net, "node 'table1': its elements must come in raster order, channels last")
    net = small.Builder((2, 3))
    net.average()
    refused(net, "'x' must have the shape [batch, channels, rows, columns], not [1, 2, 3]")
    net = small.Builder((2, 2, 2))
    net.flatten()
    refused(net, "output 't0' must be made by a stage, and is an input, moved at most")


@pytest.mark.parametrize(
    ("rows", "columns"), [((0, 1), (0, 2)), ((0, 0, 1, 1), (0, 1, 1, 2, 2, 2)), ((0, 0, 1), (0, 0, 1, 1, 2, 2))]
)
def test_pixels_left_out_or_repeated_unlike_others(rows, columns):
    net = small.Builder((2, 2, 3))
    net.table()
    net.nearest(rows, columns)
    run(net.network(), {}, images=3)


@pytest.mark.parametrize("cols", [4, 3])
def test_lanes_divide_the_channels(cols):
    net = small.Builder((2, 3, 3))
    net.table()
    with pytest.raises(ValueError, match=f"'table0': lanes must divide the 2 channels, not {cols}"):
        small.assembled(net.network(), {"table0": Parallelism(cols=cols)})
