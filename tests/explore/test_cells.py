"""Standard cells as a target of explorations: areas of their library, refusals before any work, OSU018 as a whole."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from explore_fakes import FakeSynthesizer, InProcess

from systoliq.cli.main import cli
from systoliq.design.engine.workloads import Product
from systoliq.errors import InputError, MissingPackageError
from systoliq.explore import Run, explore
from systoliq.explore.grid.subjects.layer import LayerPoint
from systoliq.explore.measured import MeasuredSynthesizer, measured_synthesizer

from ..support.standard_cells import liberty, needs_osu018, needs_sta

SMALLEST = LayerPoint(
    rows=1, cols=1, depth=1, a_bits=4, b_bits=4, requantizer_bits=6, cells="portable", target="generic"
)


class OfCells(FakeSynthesizer):
    """Gates where the device is of gates."""

    def area(self, design, target):
        figures = super().area(design, target)
        if target != "osu018":
            return figures
        return {"cell_area": 50.0 * figures["lut_sites"], "gates": figures["lut_sites"], "ff": figures["ff"]}


@pytest.fixture
def library(tmp_path):
    (tmp_path / "tiny.lib").write_text(liberty())
    return tmp_path / "tiny.lib"


@pytest.mark.slow  # tests/synth/test_standard_cells.py has the areas
def test_area_of_a_library(subject, library):
    synthesizer = measured_synthesizer(("generic",), timed=False, liberty=library)
    faster = measured_synthesizer(("generic",), timed=False, liberty=library, mhz=300.0)
    assert len({each.identity() for each in (synthesizer, faster, MeasuredSynthesizer())}) == 3
    figures = synthesizer.area(subject.design(SMALLEST), "generic")
    assert set(figures) == {"cell_area", "gates", "ff"}
    assert figures["gates"] < figures["cell_area"] < 6 * figures["gates"]
    counted = measured_synthesizer(("generic",), timed=False, liberty=None).area(subject.design(SMALLEST), "generic")
    assert counted["cell_area"] is None
    assert counted["gates"] > 0


def test_targets_without_a_frequency_are_refused_before_the_work(library, monkeypatch):
    with pytest.raises(InputError, match="place cannot be used with cmos4: gates have no delays, a --liberty has"):
        measured_synthesizer(("ecp5-25k", "cmos4"), timed=True, liberty=None)
    with pytest.raises(InputError, match=r"tiny.lib: must have delays for a frequency; without --place there is area"):
        measured_synthesizer(("generic",), timed=True, liberty=library)
    library.write_text(liberty().replace("area : 1;", "area : 1; /* cell_rise */"))
    monkeypatch.setattr("systoliq.explore.measured.find_sta", lambda: None)
    with pytest.raises(MissingPackageError, match="OpenSTA is not there, .*: apt-get install opensta"):
        measured_synthesizer(("generic",), timed=True, liberty=library)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "osu018"], "liberty must be given for the target generic alone, not for osu018"),
        (["--target", "generic,ecp5-25k"], "liberty must be given for the target generic alone"),
        (["--target", "generic", "--synthesis", "1"], "no.lib"),
        (
            ["--target", "generic", "--mhz", "-1"],
            "mhz must be positive, and given for standard cells alone, not -1 for",
        ),
    ],
)
def test_a_library_that_cannot_be_used(options, message, tmp_path):
    arguments = ["explore", "resnet8-fc", "--out", str(tmp_path / "out"), "--liberty", "no.lib", *options]
    refused = CliRunner().invoke(cli, arguments)
    assert refused.exit_code == 2
    assert message in refused.stderr
    assert not (tmp_path / "out").exists()


def test_each_device_has_its_own_area(subject, tmp_path, monkeypatch):
    monkeypatch.setattr("systoliq.explore.grid.exploration._executor", lambda *_: InProcess)
    space = {
        "cols": "1,2,4", "depth": "1,2", "a_bits": "8", "b_bits": "8", "requantizer_bits": "24",
        "target": "ecp5-25k,osu018",
    }  # fmt: skip
    synthesizer = OfCells(str(tmp_path / "calls"))
    run = Run(synthesizer=synthesizer, cache=tmp_path / "cache", cosimulate=False, synthesis=6, batch=4)
    exploration = explore(subject, space, run=run)
    by_target = {
        target: [row for row in exploration.rows if row["target"] == target] for target in ("ecp5-25k", "osu018")
    }
    assert [row["front"] for row in by_target["ecp5-25k"]] == [row["front"] for row in by_target["osu018"]]
    assert any(row["front"] for row in exploration.rows)
    assert {row["lut_sites"] for row in by_target["osu018"]} == {None}
    assert exploration.objectives["area"] == "lut_sites"
    only = [row for row in exploration.front_rows if row["target"] == "osu018"]
    assert [row["cell_area"] for row in only] == sorted(row["cell_area"] for row in only)
    with pytest.raises(
        InputError, match="require must be for parts or for standard cells, not for ecp5-25k and osu018"
    ):
        explore(subject, {"target": "ecp5-25k,osu018"}, require="throughput=1")


SMALL_ENGINE = {
    "rows": 1, "cols": 2, "depth": 1, "a_words": 8, "b_words": 16,
    "max_columns": 4, "max_rows": 4, "dataflow": "output-stationary",
}  # fmt: skip


@pytest.mark.slow
@needs_osu018
@needs_sta
@pytest.mark.parametrize(
    ("source", "axes", "workload"),
    [
        ("resnet8-fc", {"cols": "2", "depth": "1", "a_bits": "8", "b_bits": "8", "requantizer_bits": "24"}, None),
        ("engine", SMALL_ENGINE, [Product(network="x", m=5, k=7, n=3)]),
    ],
)
def test_osu018(source, axes, workload, tmp_path):
    run = Run(synthesis=1, place=1, simulator="icarus", cache=tmp_path, jobs=1)
    exploration = explore(source, {"target": "osu018", **axes}, workload=workload, run=run)
    (row,) = exploration.front_rows
    assert row["cosim"] == "equal", row["reason"]
    assert row["cell_area"] > 96 * row["ff"]  # a register is 96 um2
    assert 50 < row["fmax_mhz"] < 400
    assert (row["lut_sites"], row["dsp"], row["ram"]) == (None, None, None)
    assert row["critical_path"].endswith("routing")
    assert exploration.objectives["area"] == "cell_area"
