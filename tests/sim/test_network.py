"""Whole networks in Verilog: every tensor golden's, under both simulators with stalls; faults are found and located."""

from __future__ import annotations

import dataclasses
import functools
import random
import re
import warnings

import numpy as np
import pytest

from systoliq.golden.network import Reshape, Transpose
from systoliq.hw.network.pipeline import Pipeline
from systoliq.hw.network.rate import Parallelism
from systoliq.sim.cosimulation.network import cosimulate_network, network_verilog
from systoliq.sim.process import SimulationError
from systoliq.sim.runner import SimulatorWarning
from systoliq.sim.tools import find, missing_text

from ..engine.initial_values import without_initial_values
from ..hw.network import small_networks as small
from ..hw.network import stage_bench as bench


@functools.cache
def built(name, seed=0):
    """A network, its assembly with random parallelism, and its Verilog."""
    net = small.NETWORKS[name](seed)
    assembly = small.assembled(net, small.drawn_parallelism(net, seed))
    return net, assembly, network_verilog(assembly)


def images(net, count=2):
    return {net.inputs[0].name: bench.integers(net.inputs[0], count, random.Random(9))}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("stalls", [(0.3, 0.5), (0.0, 0.0)])
@pytest.mark.parametrize("name", small.NETWORKS)
def test_every_tensor_is_right(name, stalls, simulator):
    net, assembly, text = built(name)
    given = images(net)
    result = cosimulate_network(net, assembly, given, simulator=simulator, stalls=stalls, verilog=text).check()
    golden = net.golden(given)
    assert set(result.tensors) == {node.output.name for node in net.nodes} - moved(net)
    for each in result.tensors.values():
        np.testing.assert_array_equal(each.array, golden[each.tensor.name])
    assert (result.passed, result.mismatches, result.images) == (True, 0, 2)
    assert result.macs == 2 * net.multiply_accumulates


def moved(net):
    return {node.output.name for node in net.nodes if type(getattr(node, "movement", None)) in (Reshape, Transpose)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("name", small.NETWORKS)
def test_other_weights_and_parallelism(name, seed, icarus):
    net, assembly, text = built(name, seed)
    cosimulate_network(net, assembly, images(net), simulator=icarus, stalls=(0.2, 0.2), verilog=text).check()


@pytest.fixture
def icarus():
    if not (tool := find("icarus")).found:
        pytest.skip(missing_text(tool))
    return "icarus"


FIRST = re.compile(r"tensor '(\w+)': .*: image (\d+), pixel (\d+), channel (\d+): expected (-?\d+), got (\S+)$")

# name: (tensor that is wrong first, module of the network, pattern, replacement)
FAULTS = {
    "row of padding": ("t1", "s1_convolution1_window", r"y >= 3'h5", "1'h0"),
    "value of padding": ("t1", "s1_convolution1_window", r"flags_2\[1\] \?", "1'h0 ?"),
    "window's columns": ("t0", "s0_convolution0_window", r"round_1 == 1'h1", "round_1 == 1'h0"),
    "channels within a pixel": ("t1", "s1_convolution1_window", r"(address_move = .*) : 5'h01;", r"\1 : 5'h03;"),
    "stride": ("t3", "s3_maxpool3_window", r": 6'h39;", ": 6'h37;"),
    "channels of a beat": (
        "t1",
        "pipeline",
        r"(s1_convolution1 \(\s*\.clk\(clk\),\s*\.i__payload\()(\w+)\)",
        r"\1{ \2[16], \2[7:0], \2[15:8] })",
    ),
    "accumulation": ("t1", "s1_convolution1_pe_top", r"\.clear\(clear\)", ".clear(clear_next)"),
    "greatest": ("t3", "s3_maxpool3_maximum_4_of_2xs8", r"first \| ", "1'h0 | "),
    "table of a sum": ("t2", "s2_addition2_lane_b_table", r"word <= read__data", "word <= read__data + 17'd4096"),
    "weights": ("t5", "s5_dense5_weights_1_rom", r"= 8'h", "= ~8'h"),
    "a beat to one way twice": ("t2", "fork_2_of_9", r"assign o_1__valid = .*?;", "assign o_1__valid = i__valid;"),
    "a beat to one way never": ("t1", "fork_2_of_9", r"assign took\[0\] = .*?;", "assign took[0] = 1'h1;"),
}


def mutate(text, module, pattern, replacement):
    """`text` with the pattern replaced everywhere in one module; it must be there."""
    found = re.search(rf"^module network_{module}\(.*?^endmodule$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no module {module}"
    mutated, count = re.subn(pattern, replacement, found[0])
    assert count, f"{pattern} is not in module {module}"
    assert mutated != found[0]
    return text[: found.start()] + mutated + text[found.end() :]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_found_and_located(fault, icarus):
    tensor, *where = FAULTS[fault]
    net, assembly, text = fixed()
    given = images(net)
    result = cosimulate_network(net, assembly, given, simulator=icarus, stalls=(0.2, 0.3), verilog=mutate(text, *where))
    with pytest.raises(SimulationError) as caught:
        result.check()
    found = FIRST.search(str(caught.value))
    assert found[1] == tensor
    wrong = result.tensors[tensor]
    place = tuple(map(int, found.groups()[1:4]))
    golden = wrong.tensor.raster(net.golden(given)[tensor])
    assert int(found[5]) == golden[place]
    before = np.ravel_multi_index(place, golden.shape)
    np.testing.assert_array_equal(wrong.streamed.reshape(-1)[:before], golden.reshape(-1)[:before])
    assert found[6] == ("nothing" if not wrong.there[place] else str(wrong.streamed[place])) != found[5]


@functools.cache
def fixed():
    """The residual network with a parallelism that gives each fault its text."""
    net = small.residual()
    fields = {"convolution0": (2, 2), "convolution1": (1, 2), "maxpool3": (2, 1), "dense5": (3, 1)}
    parallelism = {name: Parallelism(cols=cols, depth=depth) for name, (cols, depth) in fields.items()}
    assembly = small.assembled(net, parallelism)
    return net, assembly, network_verilog(assembly)


def test_simulation_that_stands_still_names_a_tensor(icarus):
    """A FIFO before a join that is too shallow: the first tensor of which something is missing, and where."""
    net, assembly, _ = fixed()
    joints = [dataclasses.replace(joint, waiting=tuple(2 for _ in joint.waiting)) for joint in assembly.pipeline.joints]
    old = assembly.pipeline
    shallow = Pipeline(joints, source=old.source, shape=old.shape, lanes=old.lanes, output=old.output, cells=old.cells)
    text = network_verilog(dataclasses.replace(assembly, pipeline=shallow))
    result = cosimulate_network(net, assembly, images(net), simulator=icarus, verilog=text)
    assert not result.passed
    with pytest.raises(SimulationError) as caught:
        result.check()
    found = FIRST.search(str(caught.value))
    assert (found[1], found[2], found[6]) == ("t0", "0", "nothing")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", small.NETWORKS)
def test_right_without_initial_values(name, simulator):
    """After reset no result depends on what registers and memories held: window buffers, forks, FIFOs, gearboxes."""
    net, assembly, text = built(name)
    stripped = without_initial_values(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulatorWarning)
        result = cosimulate_network(
            net, assembly, images(net), simulator=simulator, stalls=(0.3, 0.4), verilog=stripped
        )
    result.check()


@pytest.mark.simulator
def test_a_register_without_reset_is_found(icarus):
    """Where a value is needed that no reset gives, what is undefined shows."""
    net, assembly, text = fixed()
    faulty = mutate(text, "fork_2_of_9", r"rst \? 1'h0 : (procmux_\w+);", r"\1;")
    cosimulate_network(net, assembly, images(net), simulator=icarus, verilog=faulty).check()
    result = cosimulate_network(net, assembly, images(net), simulator=icarus, verilog=without_initial_values(faulty))
    assert not result.passed
