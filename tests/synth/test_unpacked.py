"""Bitstreams of a small network, unpacked: for iCE40 the circuit that IceStorm reads from it passes the testbench.

What nextpnr wrote for iCE40 must come back from a packed bitstream bit by bit; what comes back on ECP5 must pack into
the same bytes. IceStorm's own description of the part (`icebox_vlog`, not on PyPI) then turns iCE40's bits into
Verilog: of pins, wires, tables, registers and memories.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from systoliq.api import NetworkOptions
from systoliq.design.network.design import NetworkDesign
from systoliq.package import write_package
from systoliq.synth import netlist_sources, open_target
from systoliq.synth.flow import synthesized
from systoliq.synth.tools import find_nextpnr, find_script

from ..hw.network.small_networks import Builder

pytest.importorskip("pyosys", reason="pip install 'systoliq[synth]'")

PINS = [  # some of the CT256's
    *(f"{row}{column}" for row in "FGH" for column in range(1, 6)),
    *(f"{row}{column}" for row in "BCDJM" for column in (1, 2)),
]
CLOCK = "J3"


def convolved():
    """A convolution, a pool and flattened results."""
    net = Builder((1, 3, 3), seed=1)
    net.convolution(2, (2, 2))
    net.maximum((2, 2))
    net.flatten()
    return NetworkDesign(net.network(), NetworkOptions(), name="net")


@pytest.fixture(scope="module")
def design():
    return convolved()


def placed(design, part, folder, *arguments):
    """Synthesize `design` for `part`, and place and route it in `folder` with nextpnr's `arguments`."""
    target = open_target(part)
    shutil.copy(synthesized(design.verilog, design.name, target) / "netlist.json", folder)
    common = ("--json", "netlist.json", "--seed", "1", "--freq", "12", "-q")
    run = find_nextpnr(target.family).run(*arguments, *common, cwd=folder)
    assert run.returncode == 0, run.stderr


def constraints(design) -> str:
    """Pins of an iCE40 HX8K for all bits of the ports, by the design's Verilog."""
    head, free = design.verilog.partition(");")[0], iter(PINS)
    ports = re.findall(r"(?:input|output) wire (?:\[(\d+):0\] )?(\w+)", head)
    bits = [f"{name}[{bit}]" if top else name for top, name in ports for bit in range(int(top or 0) + 1)]
    return "".join(f"set_io {bit} {CLOCK if bit == 'clk' else next(free)}\n" for bit in bits)


def tool(family, name, *arguments, folder):
    run = find_script(f"yowasp-nextpnr-{family}", f"yowasp-{name}").run(*arguments, cwd=folder)
    assert run.returncode == 0, run.stderr


def tiles(text: str) -> dict[str, str]:
    """The sections of an ASC file with bits in them; comments and names are not in a bitstream."""
    sections = re.findall(r"^\.(\w+(?: \d+)+)\n([0-9a-f\n]*)", text, re.M)
    return {name: bits.strip() for name, bits in sections if re.search("[1-9a-f]", bits)}


@pytest.fixture(scope="module")
def unpacked(design, tmp_path_factory):
    """A folder with what nextpnr wrote for an iCE40 HX8K (top.asc), and what came back (back.asc), with top.pcf."""
    folder = tmp_path_factory.mktemp("ice40")
    (folder / "top.pcf").write_text(constraints(design))
    part = ("--hx8k", "--package", "ct256", "--pcf", "top.pcf")
    placed(design, "ice40-hx8k", folder, *part, "--asc", "top.asc")
    tool("ice40", "icepack", "top.asc", "top.bin", folder=folder)
    tool("ice40", "iceunpack", "top.bin", "back.asc", folder=folder)
    return folder


@pytest.mark.slow
def test_what_was_placed_comes_back_from_the_bitstream(unpacked):
    given, back = (tiles((unpacked / name).read_text()) for name in ("top.asc", "back.asc"))
    assert given == back
    assert sum(name.startswith("logic_tile") for name in given) > 100


@pytest.mark.slow
def test_what_comes_back_on_ecp5_packs_into_the_same_bitstream(design, tmp_path):
    part = ("--25k", "--package", "CABGA256", "--lpf-allow-unconstrained")
    placed(design, "ecp5-25k", tmp_path, *part, "--textcfg", "top.config")
    tool("ecp5", "ecppack", "--input", "top.config", "--bit", "top.bit", folder=tmp_path)
    tool("ecp5", "ecpunpack", "--input", "top.bit", "--textcfg", "back.config", folder=tmp_path)
    text = (tmp_path / "back.config").read_text()
    wires = re.findall(r"^arc: .*\n", text, re.M)
    assert len(wires) > 1000
    (tmp_path / "less.config").write_text(text.replace(wires[500], "", 1))
    for name in ("back", "less"):
        tool("ecp5", "ecppack", "--input", f"{name}.config", "--bit", f"{name}.bit", folder=tmp_path)
    given, back, less = ((tmp_path / f"{name}.bit").read_bytes() for name in ("top", "back", "less"))
    assert given == back
    assert given != less


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
@pytest.mark.skipif(shutil.which("icebox_vlog") is None, reason="icebox_vlog is not installed: IceStorm")
def test_the_circuit_in_the_bitstream_passes_the_testbench(unpacked, design):
    command = ["icebox_vlog", "-s", "-c", "-n", "net", "-d", "ct256", "-p", "top.pcf", "back.asc"]
    text = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, check=True).stdout
    (unpacked / "chip.v").write_text(text)
    _, models = netlist_sources(design.top, design.name, "ice40")
    (unpacked / "models.v").write_text(models)
    write_package(design, unpacked / "package")
    files = ["chip.v", "models.v", "package/net_tb.v"]
    subprocess.run(["iverilog", "-g2005", "-DNETLIST", "-o", "t", *files], cwd=unpacked, check=True)
    log = subprocess.run(["vvp", "t"], cwd=unpacked, capture_output=True, text=True, check=True).stdout
    assert log.startswith("PASS: "), log
