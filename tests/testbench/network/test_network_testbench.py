"""The testbench of a network's package finds what is wrong with the Verilog beside it, whatever it is."""

from __future__ import annotations

import json
import re
import subprocess
from unittest import mock

import pytest

from systoliq.design import NetworkDesign, NetworkOptions
from systoliq.hw.axi import AxiPipeline
from systoliq.hw.verilog import emit_verilog
from systoliq.package import describe
from systoliq.sim.tools import find, missing_text
from systoliq.testbench import testbench_of
from systoliq.testbench.network import stimulus, testbench

from ...hw.network import small_networks as small
from ...hw.network.faults import FAULTS, PARALLELISM, mutate, shallow
from ...support.testbenches import put, verilated

pytestmark = pytest.mark.skipif(not find("icarus").found, reason=missing_text(find("icarus")))


@pytest.fixture(scope="module")
def design(tmp_path_factory):
    """The network of `FAULTS` with their parallelism, by a plan in a file; its testbench has a third of its cycles."""
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    net = small.residual()
    first = NetworkDesign(net, NetworkOptions(multipliers=20))
    stages = [stage | {"cols": 1, "depth": 1} for stage in first.plan.as_json()]
    for stage in stages:
        if stage["node"] in PARALLELISM:
            chosen = PARALLELISM[stage["node"]]
            stage |= {"cols": chosen.cols, "depth": chosen.depth}
    path.write_text(json.dumps(stages))
    with (
        mock.patch.object(stimulus, "_CYCLES", 4_000),
        mock.patch.multiple(testbench, _RESET_CYCLES=4_000, _STOP_CYCLES=2_000, _FILL_CYCLES=2_000),
    ):
        yield NetworkDesign(net, NetworkOptions(plan=path), name="network")


def printed(design, verilog, folder, bench=None):
    """What the design's testbench, or another one, says of `verilog`."""
    (folder / "network.v").write_text(verilog)
    (folder / "network_tb.v").write_text(bench or testbench_of(design))
    subprocess.run(["iverilog", "-g2005", "-o", "t", "network.v", "network_tb.v"], cwd=folder, check=True)
    return subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True, timeout=300).stdout


@pytest.mark.simulator
@pytest.mark.parametrize("simulator", ["verilator", pytest.param("icarus", marks=pytest.mark.slow)])
def test_what_is_right_passes(simulator, design, tmp_path):
    if simulator == "icarus":
        said = printed(design, design.verilog, tmp_path)
    else:
        put(tmp_path / "net", {"network.v": design.verilog.encode(), "network_tb.v": testbench_of(design).encode()})
        said = verilated(tmp_path / "net", "network_tb")
    assert said.startswith("PASS")
    stated = describe(design)["latency"]["cycles"]["y"]
    assert re.findall(r"^Latency: .* (\d+) .* (\d+)$", said, re.MULTILINE) == [
        (str(stated["first_result"]), str(stated["last_result"]))
    ]


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("stated", ["Y_FIRST", "Y_LAST"])
def test_another_latency_is_found(stated, design, tmp_path):
    text, count = re.subn(rf"(localparam {stated} = )(\d+)", r"\g<1>1\2", testbench_of(design))
    assert count == 1
    said = printed(design, design.verilog, tmp_path, text)
    assert re.match(
        r"FAIL: expected result \d+ of the first image 1(\d+) cycles after it began, got it after \1\n", said
    )


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault, design, tmp_path):
    """Window, padding, stride, channel order, accumulation, tables, weights, forks."""
    assert "FAIL" in printed(design, mutate(design.verilog, *FAULTS[fault][1:]), tmp_path)


STAYS = {
    "tokens of a stage that no reset takes": (
        r"(?s)(network_s1_\w+_dense dense \(.*?\.rst\()rst",
        r"\g<1>1'h0",
    ),
    "a last result that stays where it is": (
        r"(?s)(module network_s5_\w+_result_buffer\(.*?)fetch \? (\w+ : complete_any;)",
        r"\g<1>1'h1 ? \2",
    ),
}


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("fault", STAYS)
def test_what_stays_is_found(fault, design, tmp_path):
    """After a reset, or at the end."""
    verilog, count = re.subn(*STAYS[fault], str(design.verilog), count=1)
    assert count == 1
    assert "FAIL" in printed(design, verilog, tmp_path)


@pytest.mark.simulator
def test_deadlock_is_reported(design, tmp_path):
    """FIFOs before a join that are too shallow."""
    top = AxiPipeline(shallow(design.assembly.pipeline), image_beats=design.top.image_beats)
    assert "FAIL: " in printed(design, emit_verilog(top, "network"), tmp_path)


@pytest.mark.slow
@pytest.mark.simulator
def test_windows_that_leave_the_image(tmp_path):
    """Their cycles are the least that an image takes, and the testbench takes them so."""
    net = small.Builder((2, 9, 3))
    net.depthwise((1, 1), strides=(2, 1), pads=(4, 0, 4, 0))
    design = NetworkDesign(net.network(), NetworkOptions(multipliers=20), name="network")
    assert not design.assembly.exact
    assert describe(design)["cycle_model"]["exact"] is False
    assert printed(design, design.verilog, tmp_path).startswith("PASS")


@pytest.mark.parametrize(("side", "images"), [(64, 3), (4, 40)])
def test_images_are_few_where_they_take_many_cycles(side, images):
    net = small.Builder((2, side, side))
    net.depthwise((1, 1))
    text = testbench_of(NetworkDesign(net.network(), NetworkOptions(multipliers=2), name="network")).replace(
        "\n// ", " "
    )
    assert f" {images} images are sent back to back" in text
    assert ("Phases 2 and up have the first 10 alone." in text) == (images > 10)
