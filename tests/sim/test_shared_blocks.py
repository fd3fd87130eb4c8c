"""The Verilog that Icarus runs: one clocked block a module, the same registers, the same behaviour."""

from __future__ import annotations

import random
import re

import pytest

from systoliq.hw.verilog import Verilog
from systoliq.sim.cosimulation.network import cosimulate_network, network_verilog
from systoliq.sim.icarus import with_shared_blocks

from ..hw.network import small_networks as small
from ..hw.network import stage_bench as bench

ASSIGNED = re.compile(r"^\s+(\S+ <= .+;)$", re.MULTILINE)


@pytest.fixture(scope="module")
def design():
    net = small.NETWORKS["joined"](1)
    assembly = small.assembled(net, small.drawn_parallelism(net, 1))
    return net, assembly, network_verilog(assembly)


def test_every_register_is_assigned_in_its_module_as_before(design):
    _, _, text = design
    found = with_shared_blocks(text)
    before, after = (re.split(r"^module ", each, flags=re.MULTILINE) for each in (text, found))
    assert len(before) == len(after)
    for each, shared in zip(before, after, strict=True):
        assert sorted(ASSIGNED.findall(each)) == sorted(ASSIGNED.findall(shared))
        assert len(re.findall(r"always @\(posedge clk\)\n", shared)) <= 1
    lines = text.count("\n"), found.count("\n")
    assert lines[1] < lines[0]
    assert with_shared_blocks(found) == found


def test_other_blocks_stay():
    text = """module m(clk);
  always @(posedge clk) begin
    if (write)
      memory[at] <= data;
  end
  always @(posedge clk)
    a <= b;
  always @(posedge other)
    c <= d;
endmodule
"""
    assert with_shared_blocks(text) == text
    two = text.replace("endmodule", "  always @(posedge clk)\n    e <= f[3:0];\nendmodule")
    expected = text.replace("  always @(posedge clk)\n    a <= b;\n", "").replace(
        "endmodule", "  always @(posedge clk) begin\n    a <= b;\n    e <= f[3:0];\n  end\nendmodule"
    )
    assert with_shared_blocks(two) == expected


def test_the_files_of_memories_stay():
    files = {"weights.hex": b"1f"}
    assert dict(with_shared_blocks(Verilog("module m;\nendmodule\n", files)).files) == files


@pytest.mark.simulator
def test_a_wrong_register_is_still_found(design):
    """The text of a fault reaches the simulator."""
    net, assembly, text = design
    rng = random.Random(1)
    given = {x.name: bench.integers(x, 1, rng) for x in net.inputs}
    broken = re.sub(r"(conv\S*_lane_0[\s\S]*?always @\(posedge clk\)\n    \S+ <= )([^;]+);", r"\1~(\2);", text, count=1)
    assert broken != text
    assert not cosimulate_network(assembly, given, simulator="icarus", verilog=broken).passed
