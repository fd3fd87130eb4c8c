"""Files of a layout, without its tools: extracted netlists, DEF, pictures, and errors that name what is missing."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.harden import tools
from systoliq.harden.extracted import cells_of, verilog_of
from systoliq.harden.flow import LayoutError, check_routes
from systoliq.harden.layout import read_layout, sizes_of
from systoliq.harden.picture import layout_png, png
from systoliq.harden.tools import check_tools
from systoliq.sim.tools import ToolError

SPICE = """* NGSPICE file
.subckt INVX1 A gnd Y vdd
.ends
.subckt FILL gnd vdd
.ends
.subckt top a[0] a[1]
+ y gnd vdd
XINVX1_1 a[1] gnd NOR2X1_1/A vdd INVX1
XFILL_1 gnd vdd FILL
XINVX1_2 NOR2X1_1/A gnd y vdd INVX1
.ends
"""
PORTS = ({"name": "a", "width": 2, "direction": "input"}, {"name": "y", "width": 1, "direction": "output"})

DEF = """UNITS DISTANCE MICRONS 100 ;
DIEAREA ( -100 0 ) ( 1900 1000 ) ;
COMPONENTS 2 ;
- INVX1_1 INVX1 + PLACED ( 0 0 ) N ;
- DFF_1 DFFPOSX1 + PLACED ( 160 0 ) FS ;
END COMPONENTS
NETS 1 ;
- n
  ( INVX1_1 Y )
+ ROUTED metal1 ( 100 200 ) ( * 700 ) M2_M1
  NEW metal2 ( 100 700 ) ( 900 * ) M3_M2
  NEW metal1 ( 900 700 ) M2_M1 ;
END NETS
"""


def test_extracted_netlist_as_verilog() -> None:
    assert cells_of(SPICE) == {"FILL": 1, "INVX1": 2}
    text = verilog_of(SPICE, "top", PORTS)
    assert "input wire [1:0] a" in text
    assert "output wire y" in text
    assert r"INVX1 \XINVX1_1 (.A(a[1]), .Y(\NOR2X1_1/A ));" in text
    assert "FILL" not in text


def test_a_port_that_the_layout_lacks_is_named() -> None:
    with pytest.raises(LayoutError, match=r"no port a\[2\]"):
        verilog_of(SPICE, "top", ({"name": "a", "width": 3, "direction": "input"},))


def test_layout_in_micrometres() -> None:
    layout = read_layout(DEF)
    assert layout.outline == (-1.0, 0.0, 19.0, 10.0)
    assert layout.area == pytest.approx(200)
    assert layout.wire_length == pytest.approx(5 + 8)
    assert [(cell.kind, cell.x) for cell in layout.cells] == [("INVX1", 0.0), ("DFFPOSX1", 1.6)]
    with pytest.raises(ValueError, match="DIEAREA"):
        read_layout("DESIGN top ;")


def test_sizes_of_macros() -> None:
    lef = "MACRO A\n  CLASS CORE ;\n  SIZE 9.600 BY 10.000 ;\nEND A\nMACRO B\n  SIZE 0.8 BY 10 ;\nEND B\n"
    assert sizes_of(lef) == {"A": (9.6, 10.0), "B": (0.8, 10.0)}


def test_picture_is_a_png_of_the_outline() -> None:
    data = layout_png(read_layout(DEF), {"INVX1": (1.6, 10.0), "DFFPOSX1": (9.6, 10.0)})
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", data[16:24]) == (1200, 600)


def test_png_holds_the_pixels() -> None:
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    data = png(image)
    size = struct.unpack(">I", data[33:37])[0]
    rows = np.frombuffer(zlib.decompress(data[41 : 41 + size]), np.uint8).reshape(2, 13)
    assert not rows[:, 0].any()
    assert np.array_equal(rows[:, 1:].reshape(image.shape), image)


def test_nets_without_wires_are_an_error() -> None:
    check_routes("Failed net routes: 3\nFinal: No failed routes!\n")
    with pytest.raises(LayoutError, match="7 nets without wires: .* lower --density"):
        check_routes("Final: Failed net routes: 7\n")
    with pytest.raises(LayoutError, match="did not say"):
        check_routes("Segmentation fault")


def test_missing_programs_are_named_with_their_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = {"netgen-lvs", "magic"}
    monkeypatch.setattr(tools.shutil, "which", lambda name: name if name in found else None)
    monkeypatch.setattr(tools, "CELLS", tmp_path)
    with pytest.raises(ToolError, match="apt-get install qflow yosys graywolf qrouter qflow-tech-osu018$") as error:
        check_tools()
    assert "magic" not in str(error.value)


@pytest.mark.parametrize(
    ("emit", "cause"),
    [
        (["array", "--rows", "1", "--cols", "1", "--cells", "ecp5"], "cells must be portable for a layout, not ecp5"),
        (None, "must be a directory that systoliq emit wrote"),
    ],
)
def test_what_cannot_be_laid_out(emit: list[str] | None, cause: str, tmp_path: Path) -> None:
    if emit is not None:
        assert CliRunner().invoke(cli, ["emit", *emit, "--out", str(tmp_path / "p")]).exit_code == 0
    result = CliRunner().invoke(cli, ["harden", str(tmp_path / "p"), "--out", str(tmp_path / "out")])
    assert result.exit_code != 0
    assert cause in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    emitted = ["emit", "array", "--rows", "1", "--cols", "1", "--out", str(tmp_path / "p")]
    assert CliRunner().invoke(cli, emitted).exit_code == 0
    result = CliRunner().invoke(cli, ["harden", str(tmp_path / "p"), "--out", str(tmp_path / "out")])
    assert "--out must be a new or empty folder, not" in result.stderr
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["mine"]
