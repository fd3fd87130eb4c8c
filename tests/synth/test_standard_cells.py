"""Standard cells: area, registers and the slowest path with OSU018, and Liberty files that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from systoliq.api import EngineConfig, EngineDesign, InputError, MissingPackageError
from systoliq.cli.main import cli
from systoliq.synth import open_target, synthesize
from systoliq.synth.standard_cells import check_memory, library_of, read_library
from systoliq.synth.tools import find_yosys
from systoliq.synth.yosys import memory_bits

from ..support.standard_cells import liberty, needs_osu018, needs_sta
from .bare_arrays import bare_array
from .small_designs import SMALL


@needs_osu018
def test_osu018() -> None:
    report = synthesize(bare_array("portable", **SMALL), "osu018")
    assert report.area is not None
    assert report.gates is not None
    assert 50 < report.ff < 200
    assert report.area > 96 * report.ff  # a register is 96 um2
    assert report.gates_per_mac == report.gates - report.ff
    blocks = report.blocks
    assert next(iter(blocks)) == "array"
    assert "array_mac" in blocks
    assert all(figures["instances"] >= 1 for figures in blocks.values())
    assert 0.8 < blocks["array"]["area"] / report.area < 1.25  # apart, nothing is shared between blocks


@needs_osu018
@needs_sta
def test_time_from_register_to_register() -> None:
    report = synthesize(bare_array("portable", **SMALL), "osu018", mhz=300)
    path = report.critical_path
    assert path is not None
    assert report.fmax_mhz is not None
    assert 100 < report.fmax_mhz < 600
    assert report.fmax_mhz == pytest.approx(1000 / path.nanoseconds, abs=0.06)
    assert "array." in path.start
    assert "sums" in path.end
    assert 3 < path.levels < 60
    assert any("OpenSTA" in tool for tool in report.tools)


@pytest.mark.slow
@needs_osu018
@needs_sta
def test_a_clock_that_is_asked_for_sizes_gates() -> None:
    array = bare_array("portable", **SMALL)
    slow, fast = (synthesize(array, "osu018", mhz=mhz) for mhz in (50, 400))
    assert slow.area is not None
    assert fast.area is not None
    assert slow.area < fast.area
    assert (slow.target_mhz, fast.target_mhz, slow.met) == (50, 400, True)


@needs_osu018
def test_without_opensta(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("systoliq.synth.flow.find_sta", lambda: None)
    report = synthesize(bare_array("portable", **SMALL), "osu018")
    assert (report.fmax_mhz, report.critical_path, report.met) == (None, None, None)
    assert report.area is not None


def test_gates_as_peers_are_counted() -> None:
    report = synthesize(bare_array("portable", rows=2, cols=2), "cmos4")
    assert report.area is None
    assert report.gates_per_mac is not None
    assert 900 < report.gates_per_mac < 1500
    assert 60 < report.ff / 4 < 160


def test_the_buffer_of_a_library_drives(tmp_path: Path) -> None:
    file = tmp_path / "small.lib"
    file.write_text(liberty())
    library = read_library(file, find_yosys())
    assert (library.buffer, library.timed) == ("BUF", False)
    file.write_text(liberty().replace('function : "A";', 'function : "!A";'))
    assert read_library(file, find_yosys()).buffer is None


def without_register(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if "(DFF)" not in line)


HEAD = "library (tiny) {"
UNITS = 'library (tiny) {{\n  time_unit : "{}";\n  capacitive_load_unit (1, {});'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_register, "must have a flip-flop among its 4 cells"),
        (
            lambda text: text.replace(HEAD, UNITS.format("1h", "pf")),
            "time_unit must be one of .*, not '1h'",
        ),
        (
            lambda text: text.replace(HEAD, UNITS.format("1ns", "Mf")),
            "capacitive_load_unit must be in ff",
        ),
        (lambda text: text[: len(text) // 2], "must be a Liberty file"),
        (lambda text: "module nothing; endmodule", "must be a Liberty file"),
        (lambda text: "\x00\xff" * 1000, "must be a Liberty file"),
        (lambda text: "", "must be a Liberty file"),
    ],
)
def test_libraries_that_cannot_be_used(change, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.lib"
    file.write_text(change(liberty()))
    with pytest.raises(InputError, match=message):
        read_library(file, find_yosys())


def test_a_library_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="liberty cannot be used with osu018: only the target generic uses it"):
        library_of(open_target("osu018"), tmp_path / "own.lib")
    monkeypatch.setattr(Path, "is_file", lambda self: False)
    with pytest.raises(MissingPackageError, match="osu018 needs it: apt-get install qflow-tech-osu018"):
        library_of(open_target("osu018"), None)


@pytest.mark.slow
@needs_osu018
def test_memories_beyond_the_limit() -> None:
    design = EngineDesign(EngineConfig())
    with pytest.raises(InputError, match="engine must have at most 16384 bits of memory for standard cells"):
        design.synthesize("osu018")


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "small.lib"
    file.write_text(liberty())
    options = ["--rows", "1", "--cols", "1", "--target", "generic", "--liberty", str(file), "--report"]
    result = CliRunner().invoke(cli, ["synth", "array", *options, str(tmp_path / "report.json")])
    assert result.exit_code == 0, result.output
    assert "area by block" in result.output
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["gates_per_mac"] == report["gates"] - report["ff"]
    assert f"{report['area']:.0f} in the library's unit" in result.output
    file.write_text("nothing")
    result = CliRunner().invoke(cli, ["synth", "array", *options, str(tmp_path / "other.json")])
    assert result.exit_code == 2
    assert "small.lib: must be a Liberty file" in result.output
    assert not (tmp_path / "other.json").exists()


def test_memories_that_are_written_and_constants_count_apart(tmp_path: Path) -> None:
    (tmp_path / "design.v").write_text(
        """
        module part(input clk, input [3:0] at, input [7:0] d, output [7:0] q, output [3:0] r);
          reg [7:0] ram [0:15]; reg [3:0] rom [0:9];
          initial begin rom[0] = 1; rom[9] = 3; end
          always @(posedge clk) ram[at] <= d;
          assign q = ram[at], r = rom[at];
        endmodule
        module top(input clk, input [3:0] at, input [7:0] d, output [15:0] q, output [7:0] r);
          part one(clk, at, d, q[7:0], r[3:0]);
          part two(clk, at, d, q[15:8], r[7:4]);
        endmodule
        """
    )
    assert memory_bits(find_yosys(), "top", tmp_path) == (2 * 16 * 8, 2 * 10 * 4)


def test_too_many_constants() -> None:
    with pytest.raises(
        InputError, match="net must have at most 131072 bits of constants for standard cells, gates then"
    ):
        check_memory("net", 0, 131073)
