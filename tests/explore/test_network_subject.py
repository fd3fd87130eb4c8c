"""Networks as subjects of a sweep: their points are plans, emitted as they were measured, and cosimulated."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from explore_fakes import InProcess, explored

from systoliq.cli.main import cli
from systoliq.design import NetworkDesign, NetworkOptions
from systoliq.design.sources import open_network


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr("systoliq.explore.grid.exploration._executor", lambda *_: InProcess)

    def made(source="digits-cnn", **options):
        options = {"cosimulate": False, "cache": tmp_path / "cache", "multipliers": "3,7,15,16", **options}
        return explored(source, tmp_path / "calls", **options)

    return made


def test_points_are_the_plans_of_budgets(run):
    exploration = run(synthesis=4, place=4, cells="portable", target="osu018", require="throughput=1e5")
    plans = {
        budget: NetworkDesign(open_network("digits-cnn")[0], NetworkOptions(multipliers=budget)).plan
        for budget in (3, 7, 15)
    }
    assert [row["multipliers"] for row in exploration.rows] == [plan.dsp for plan in plans.values()]  # 16: that of 15
    assert [row["cycles"] for row in exploration.rows] == [plan.image_cycles for plan in plans.values()]
    for row in exploration.rows:
        assert row["inferences_per_s"] == pytest.approx(row["fmax_mhz"] * 1e6 / row["cycles"])
        assert row["utilization"] == pytest.approx(8192 / (row["macs_per_cycle"] * row["cycles"]))
        assert row["latency_us"] == pytest.approx(row["latency_cycles"] / row["fmax_mhz"])
    assert exploration.chosen["multipliers"] == min(
        row["multipliers"] for row in exploration.rows if row["inferences_per_s"] >= 1e5
    )


def test_too_few_multipliers_are_reported(run):
    (row,) = run(multipliers="1").rows
    assert row["reason"].startswith("multipliers must be at least 3 for 3 stages, not 1; what may help: ")


@pytest.mark.slow
def test_a_network_given_in_python_is_emitted_from_its_file(run, tmp_path):
    network, _ = open_network("digits-cnn")
    exploration = run(NetworkDesign(network), multipliers="7")
    (row,) = exploration.rows
    subject = exploration.subject
    for name, content in subject.files([row]).items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(content)
    result = CliRunner().invoke(cli, ["emit", *subject.emit_arguments(row, tmp_path)])
    assert result.exit_code == 0, result.output
    (plan,) = (tmp_path / "points").glob("*/*_plan.json")
    assert json.loads(plan.read_text()) == exploration.design(row).stages


@pytest.mark.slow
def test_the_front_is_cosimulated(run):
    exploration = run(multipliers="15", cells="portable", cosimulate=True, simulator="icarus")
    (row,) = exploration.rows
    assert row["cosim"] == "equal", row["reason"]
    assert row["cosim_images"] == 3


def test_the_command_says_what_it_cannot(tmp_path):
    arguments = ["explore", "digits-cnn", "--out", str(tmp_path / "out"), "--target", "osu018,cmos4"]
    refused = CliRunner().invoke(cli, [*arguments, "--rows", "2"])
    assert refused.exit_code == 2
    assert "axes must be among multipliers, cells, target, not 'rows'" in refused.stderr
    refused = CliRunner().invoke(cli, [*arguments, "--place", "1"])
    assert refused.exit_code in (1, 2)
    assert "osu018" in refused.stderr or "place cannot be used with cmos4" in refused.stderr
