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
from systoliq.signoff.power_up import without_initial_values
from systoliq.sim.cosimulation import network as network_cosimulation
from systoliq.sim.cosimulation.network import Netlist, cosimulate_network, network_verilog
from systoliq.sim.process import SimulationError
from systoliq.sim.runner import SimulatorWarning
from systoliq.sim.tools import find, missing_text

from ..hw.network import small_networks as small
from ..hw.network import stage_bench as bench
from ..hw.network.faults import FAULTS, PARALLELISM, mutate, shallow


@functools.cache
def built(name, seed=0):
    """A network, its assembly with random parallelism, and its Verilog."""
    net = small.NETWORKS[name](seed)
    assembly = small.assembled(net, small.drawn_parallelism(net, seed))
    return net, assembly, network_verilog(assembly)


def images(net, count=2):
    rng = random.Random(9)
    return {x.name: bench.integers(x, count, rng) for x in net.inputs}


def check_every_tensor(name, stalls, simulator):
    net, assembly, text = built(name)
    given = images(net)
    result = cosimulate_network(assembly, given, simulator=simulator, stalls=stalls, verilog=text).check()
    golden = net.golden(given)
    assert set(result.tensors) == {node.output.name for node in net.nodes} - moved(net)
    for name, each in result.tensors.items():
        np.testing.assert_array_equal(each.array, golden[name])
    assert (result.passed, result.mismatches, result.report["images"]) == (True, 0, 2)
    assert result.macs == 2 * net.multiply_accumulates


STALLS = pytest.mark.parametrize("stalls", [(0.3, 0.5), (0.0, 0.0)])


@pytest.mark.sampled(99)
@STALLS
@pytest.mark.parametrize("name", small.NETWORKS)
def test_every_tensor_is_right(name, stalls, icarus):
    check_every_tensor(name, stalls, icarus)


@pytest.mark.slow  # Icarus has the same networks above
@STALLS
@pytest.mark.parametrize("name", small.NETWORKS)
def test_every_tensor_is_right_under_verilator(name, stalls, verilator):
    """Fewer: Verilator compiles a network for seven times as long as Icarus takes for all of it."""
    check_every_tensor(name, stalls, verilator)


@pytest.fixture
def icarus():
    if not (tool := find("icarus")).found:
        pytest.skip(missing_text(tool))
    return "icarus"


@pytest.fixture
def verilator():
    for name in ("verilator", "c++"):
        if not (tool := find(name)).found:
            pytest.skip(missing_text(tool))
    return "verilator"


def moved(net):
    return {node.output.name for node in net.nodes if type(getattr(node, "movement", None)) in (Reshape, Transpose)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("name", small.NETWORKS)
def test_other_weights_and_parallelism(name, seed, icarus):
    net, assembly, text = built(name, seed)
    cosimulate_network(assembly, images(net), simulator=icarus, stalls=(0.2, 0.2), verilog=text).check()


FIRST = re.compile(
    r"tensor '(\w+)', image (\d+), pixel (\d+), channel (\d+): expected (-?\d+), got (\S+)$", re.MULTILINE
)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_found_and_located(fault, icarus):
    tensor, *where = FAULTS[fault]
    net, assembly, text = fixed()
    given = images(net)
    result = cosimulate_network(assembly, given, simulator=icarus, stalls=(0.2, 0.3), verilog=mutate(text, *where))
    with pytest.raises(SimulationError) as caught:
        result.check()
    found = FIRST.search(str(caught.value))
    assert found[1] == tensor
    wrong = result.tensors[tensor]
    place = tuple(map(int, found.groups()[1:4]))
    golden = assembly.tensors[tensor].raster(net.golden(given)[tensor])
    assert int(found[5]) == golden[place]
    before = np.ravel_multi_index(place, golden.shape)
    np.testing.assert_array_equal(wrong.found.reshape(-1)[:before], golden.reshape(-1)[:before])
    assert found[6] == ("nothing" if not wrong.there[place] else str(wrong.found[place])) != found[5]


def test_braces_in_the_name_of_a_tensor_are_not_formatted():
    tensor = dataclasses.replace(small.residual().inputs[0], name="x{y}{}")
    expected = np.ones((1, tensor.pixels, tensor.channels), tensor.format.dtype)
    beats = network_cosimulation._read(np.zeros((0, 4), np.uint8), tensor.format.bits, tensor, expected)
    assert beats.differences[0] == "tensor 'x{y}{}', image 0, pixel 0, channel 0: expected 1, got nothing"


@pytest.mark.slow
@pytest.mark.parametrize("fault", [None, "stride"])  # a fault that the output shows
def test_without_names_of_stages_the_outputs_are_compared(fault, icarus):
    net, assembly, text = fixed()
    text = re.sub(r"\btap_", "wire_", text if fault is None else mutate(text, *FAULTS[fault][1:]))
    given = images(net)
    result = cosimulate_network(assembly, given, simulator=icarus, verilog=Netlist(text))
    (output,) = net.outputs
    assert list(result.tensors) == [output.name]
    same = np.array_equal(result.tensors[output.name].array, net.golden(given)[output.name])
    assert result.passed == same == (fault is None)
    assert bool(result.mismatches) == (fault is not None)


@functools.cache
def fixed():
    """The network of `FAULTS`."""
    net = small.residual()
    assembly = small.assembled(net, PARALLELISM)
    return net, assembly, network_verilog(assembly)


def test_a_stalled_simulation_names_a_tensor(icarus):
    """A FIFO before a join that is too shallow: the first tensor of which something is missing, and where."""
    net, assembly, _ = fixed()
    text = network_verilog(dataclasses.replace(assembly, pipeline=shallow(assembly.pipeline)))
    result = cosimulate_network(assembly, images(net), simulator=icarus, verilog=text)
    assert not result.passed
    with pytest.raises(SimulationError) as caught:
        result.check()
    found = FIRST.search(str(caught.value))
    assert (found[1], found[2], found[6]) == ("t0", "0", "nothing")


def check_without_initial_values(name, simulator):
    net, assembly, text = built(name)
    stripped = without_initial_values(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulatorWarning)
        result = cosimulate_network(assembly, images(net), simulator=simulator, stalls=(0.3, 0.4), verilog=stripped)
    result.check()


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", sorted(small.NETWORKS.keys() - {"attention"}))
def test_right_without_initial_values(name, icarus):
    """After reset no result depends on what registers and memories held: window buffers, forks, FIFOs, gearboxes."""
    check_without_initial_values(name, icarus)


@pytest.mark.slow  # tests/engine/test_no_initial_values.py starts the vector unit without them
def test_rows_right_without_initial_values(icarus):
    """Softmax and LayerNormalization, too."""
    check_without_initial_values("attention", icarus)


@pytest.mark.slow
@pytest.mark.parametrize("name", small.NETWORKS)
def test_right_without_initial_values_under_verilator(name, verilator):
    """Where they begin as 0 or 1, and not undefined: Icarus' undefined values show more."""
    check_without_initial_values(name, verilator)


@pytest.mark.slow
@pytest.mark.simulator
def test_a_register_without_reset_is_found(icarus):
    """Where a value is needed that no reset gives, what is undefined shows."""
    net, assembly, text = fixed()
    faulty = mutate(text, "fork_2_of_9", r"rst \? 1'h0 : (procmux_\w+);", r"\1;")
    cosimulate_network(assembly, images(net), simulator=icarus, verilog=faulty).check()
    result = cosimulate_network(assembly, images(net), simulator=icarus, verilog=without_initial_values(faulty))
    assert not result.passed
