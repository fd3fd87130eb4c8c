"""Netlists of whole networks, by the models of a family's cells: each passes the testbench of its package."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from systoliq.api import NetworkOptions
from systoliq.design.network.design import NetworkDesign
from systoliq.package import write_package
from systoliq.synth import netlist_sources
from systoliq.testbench.network import stimulus, testbench

from ..hw.network.small_networks import Builder

pytest.importorskip("pyosys", reason="pip install 'systoliq[synth]'")


def residual():
    """A convolution, one in series with it whose results are added to its own, and a pool."""
    net = Builder((1, 3, 4), seed=5)
    trunk = net.convolution(2, (2, 3), pads=(0, 1, 1, 1))
    net.residual(trunk, (2, 2), pads=(0, 1, 1, 0))
    net.maximum((2, 2), strides=(1, 2))
    return net.network()


def gated():
    """A table, the average of its channels that weighs them, a dense layer."""
    net = Builder((2, 2, 2), seed=6)
    trunk = net.table()
    net.average()
    net.multiply(trunk, net.convolution(2))
    net.flatten()
    net.dense(3)
    return net.network()


BUDGETS = (
    (stimulus, "_CYCLES"), (testbench, "_STOP_CYCLES"), (testbench, "_FILL_CYCLES"), (testbench, "_RESET_CYCLES"),
)  # fmt: skip
NETWORKS = {each.__name__: each for each in (residual, gated)}


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
@pytest.mark.parametrize("family", ["ecp5", "ice40"])
@pytest.mark.parametrize("network", NETWORKS)
def test_the_netlist_passes_its_testbench(network, family, tmp_path, monkeypatch):
    for module, name in BUDGETS:  # a tenth of the cycles, which a netlist takes long for
        monkeypatch.setattr(module, name, getattr(module, name) // 10)
    design = NetworkDesign(NETWORKS[network](), NetworkOptions(cells=family), name="net")
    assert ("serial" in design.verilog) == ((network, family) == ("gated", "ecp5"))
    write_package(design, tmp_path / "package")
    files = [tmp_path / "package" / "net_tb.v"]
    for index, text in enumerate(netlist_sources(design.top, design.name, family)):
        files.append(tmp_path / f"netlist_{index}.v")
        files[-1].write_text(text)
    subprocess.run(["iverilog", "-g2005", "-DNETLIST", "-o", "t", *files], cwd=tmp_path, check=True)
    log = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert log.startswith("PASS: "), log
