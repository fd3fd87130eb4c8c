"""Synthesis of designs whose memories' contents are in files: the netlist holds them, and is kept by their content."""

from __future__ import annotations

import subprocess

import pytest

from systoliq.hw.verilog import Verilog
from systoliq.package import make_package
from systoliq.sim.tools import find, missing_text
from systoliq.synth import SynthesisError, open_target
from systoliq.synth.flow import synthesized
from systoliq.synth.netlist import netlist_sources
from systoliq.synth.yosys import cell_figures

from ..package.big import FILES, big_design

pytest.importorskip("pyosys", reason="pip install 'systoliq[synth]'")


@pytest.fixture(scope="module")
def package():
    return make_package(big_design())


@pytest.mark.slow
@pytest.mark.simulator
def test_the_netlist_passes_the_testbench(package, tmp_path):
    if not find("icarus").found:
        pytest.skip(missing_text(find("icarus")))
    design = package.design
    for name in ("big_tb.v", *FILES):
        (tmp_path / name).write_bytes(package.files[name])
    for index, text in enumerate(netlist_sources(design.verilog, "big", "ice40")):
        assert FILES[0] not in text
        (tmp_path / f"netlist_{index}.v").write_text(text)
    subprocess.run(["iverilog", "-g2005", "-o", "t", *tmp_path.glob("*.v")], cwd=tmp_path, check=True)
    log = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert log.startswith("PASS: "), log


def test_the_weights_lie_in_block_ram(package):
    folder = synthesized(package.design.verilog, "big", open_target("ecp5-85k"))
    assert cell_figures(folder)["ram"] == len(FILES)


@pytest.mark.slow
def test_a_netlist_belongs_to_its_contents(package):
    verilog = package.design.verilog
    other = Verilog(verilog, dict.fromkeys(FILES, b"00\n" * 1056))
    target = open_target("ecp5-85k")
    folders = [synthesized(each, "big", target) for each in (verilog, other)]
    assert folders[0] != folders[1]
    with pytest.raises(SynthesisError, match="big_weights_[01]_rom.mem"):
        synthesized(Verilog(verilog, {}), "big", target)
