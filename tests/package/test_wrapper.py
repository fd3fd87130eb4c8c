"""`systoliq wrap`: a wrapper with other widths or another reset passes the testbench of its package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from systoliq.api import LayerDesign, LayerOptions, write_package
from systoliq.cli.main import cli

from ..cli.refused import assert_refused
from ..support.layers import little_layer
from ..support.testbenches import one_round

pytestmark = pytest.mark.usefixtures("short_testbenches")


def wrap(folder, *options):
    return CliRunner().invoke(cli, ["wrap", *map(str, (folder, *options))])


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A small layer with beats of 24 bits in, and of 8 out."""
    design = LayerDesign(little_layer(), LayerOptions(depth=3), name="fc")
    return write_package(design, tmp_path_factory.mktemp("wrap") / "fc")


def widths(text):
    return {name: int(high) + 1 for high, name in re.findall(r"put \[(\d+):0\] (\w+_t(?:data|user))", text)}


@pytest.mark.sampled(3)
@pytest.mark.simulator
@pytest.mark.parametrize("options", [["--power-of-two"], ["--power-of-two", "--active-low-reset"]])
def test_the_wrapper_passes_the_testbench_of_the_package(options, package, tmp_path):
    if shutil.which("iverilog") is None:
        pytest.skip("Icarus is missing")
    made = wrap(package, *options, "--out", tmp_path / "top.v")
    assert made.exit_code == 0, (made.output, made.exception)
    text = (tmp_path / "top.v").read_text()
    assert widths(text) == {"s_axis_a_tdata": 32, "m_axis_y_tdata": 8}
    copy = one_round(shutil.copytree(package, tmp_path / "fc"))
    bench = (copy / "fc_tb.v").read_text().replace("  fc dut (", "  fc_top dut (")
    assert "fc_top dut" in bench
    if "--active-low-reset" in options:
        assert "input aresetn" in text
        assert "input rst" not in text
        bench = bench.replace(".rst(rst)", ".aresetn(!rst)")
    (tmp_path / "tb.v").write_text(bench)
    files = ["tb.v", "top.v", package / "fc.v"]
    subprocess.run(["iverilog", "-g2005", "-o", "t", *map(str, files)], cwd=tmp_path, check=True)
    said = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert re.search("^PASS", said, re.MULTILINE)


def test_widths_of_every_stream(package, tmp_path):
    """Inputs and outputs of all widths become the least power of two of bytes; padding of outputs is 0."""
    ports = [
        {"name": f"{role}_axis_{letter}_tdata", "direction": direction, "width": width, "meaning": ""}
        for role, direction in (("s", "input"), ("m", "output"))
        for letter, width in zip("abcdefg", (8, 16, 24, 40, 64, 72, 1032), strict=True)
    ]
    names = ("clk", "rst")
    ports = [{"name": name, "direction": "input", "width": 1, "meaning": ""} for name in names] + ports
    package = shutil.copytree(package, tmp_path / "fc")
    sidecar = json.loads((package / "fc.json").read_text())
    (package / "fc.json").write_text(json.dumps(sidecar | {"ports": ports}))
    assert wrap(package, "--power-of-two", "--out", tmp_path / "top.v").exit_code == 0
    text = (tmp_path / "top.v").read_text()
    assert list(widths(text).values()) == [8, 16, 32, 64, 64, 128, 2048] * 2
    assert "assign m_axis_c_tdata = {8'd0, block_m_axis_c_tdata};" in text
    assert ".s_axis_c_tdata(s_axis_c_tdata[23:0])" in text
    assert ".m_axis_b_tdata(m_axis_b_tdata)" in text


WRONG = {
    "nothing": ([], "--power-of-two or --active-low-reset must be given"),
    "name": (["--power-of-two", "--name", "a b"], "name must be a Verilog identifier"),
    "keyword": (["--power-of-two", "--name", "module"], "and no keyword, not 'module'"),
    "own name": (["--power-of-two", "--name", "fc"], "and not the block's own, not 'fc'"),
}


@pytest.mark.parametrize(("options", "text"), WRONG.values(), ids=WRONG)
def test_bad_input_leaves_nothing(options, text, package, tmp_path):
    assert_refused(wrap(package, *options, "--out", tmp_path / "top.v"), text)
    assert not (tmp_path / "top.v").exists()


def test_a_directory_without_a_package(package, tmp_path):
    bitstream = tmp_path / "bitstream"
    bitstream.mkdir()
    report = {"generator": "systoliq", "kind": "bitstream", "top": "fc", "name": "fc", "files": {}}
    (bitstream / "report.json").write_text(json.dumps(report))
    for folder in (tmp_path, tmp_path / "none", bitstream):
        made = wrap(folder, "--power-of-two", "--out", package.parent / "t.v")
        assert_refused(made, str(folder))
        assert "emit" in made.stderr
    inside = wrap(package, "--power-of-two", "--out", package / "t.v")
    assert_refused(inside, "out must be in another folder than DIR")
