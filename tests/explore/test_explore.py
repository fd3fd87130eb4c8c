"""The whole way in one process or two, with a fast synthesizer."""

from __future__ import annotations

import csv
import dataclasses
import errno
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from explore_fakes import FakeSynthesizer, InProcess, explored, in_browser

from systoliq.cli.main import cli
from systoliq.errors import InputError
from systoliq.explore import Run, explore
from systoliq.explore.cache import Store, StoreError
from systoliq.explore.finding import Finding
from systoliq.explore.grid import keys
from systoliq.explore.grid.evaluate import Task, run_task
from systoliq.explore.grid.settings import Settings
from systoliq.explore.results import write_result
from systoliq.explore.synthesizer import NoSynthesizer
from systoliq.golden.requantization import Requantization
from systoliq.golden.rescale import requantize_float32

SMALL = {"cols": "2,4,5", "depth": "1,2", "a_bits": "4,8", "b_bits": "4,8", "requantizer_bits": "6,24"}


@pytest.fixture
def in_process(monkeypatch):
    monkeypatch.setattr("systoliq.explore.grid.exploration._executor", lambda *_: InProcess)


@pytest.fixture
def run(subject, tmp_path, in_process):
    def made(**options):
        options = {"cosimulate": False, "cache": tmp_path / "cache", "batch": 8, **SMALL, **options}
        return explored(subject, tmp_path / "calls", **options)

    return made


def calls(tmp_path):
    return len(list((tmp_path / "calls").iterdir())) if (tmp_path / "calls").exists() else 0


def test_every_point_has_its_row(run):
    exploration = run()
    assert len(exploration.rows) == 48
    assert exploration.computed == {"model": 48}
    impossible = [row for row in exploration.rows if row["status"] == "impossible"]
    assert {row["cols"] for row in impossible} == {5}
    assert impossible[0]["reason"].startswith("cols must be at most 4, the layer's N, not 5")
    assert exploration.points.height == 48
    assert exploration.points["inexact"].dtype.is_integer()
    assert exploration.front["front"].all()


def test_exactness_is_what_counting_every_accumulator_gives(run, subject):
    for row in run(cols="4", depth="1").rows:
        layer = subject.at(row["a_bits"], row["b_bits"])
        form = Requantization.from_scales(
            layer.scale, layer.y_zero_point, layer.y_format, multiplier_bits=row["requantizer_bits"]
        )
        low, high = layer.accumulator_range()
        differing = 0
        for n in range(layer.n):
            acc = np.arange(low[n], high[n] + 1)
            wanted = requantize_float32(acc[:, np.newaxis], layer.scale[n : n + 1], layer.y_zero_point, layer.y_format)
            differing += np.count_nonzero(form.column(n).apply(acc[:, np.newaxis]) != wanted)
        assert row["inexact"] == differing
        assert row["reachable"] == (high - low + 1).sum()
        assert (row["inexact"] == 0) == (row["inexact_share"] == 0)
        if row["requantizer_bits"] == 24:
            assert row["inexact"] == 0


def test_accuracy_is_that_of_the_integer_form(run, subject):
    row = run(cols="4", depth="1", a_bits="4", b_bits="4", requantizer_bits="24").rows[0]
    layer = subject.at(4, 4)
    y = layer.golden(subject.operands(layer))
    assert row["accuracy"] == np.mean(y.argmax(axis=1) == subject.labels)


def test_the_best_go_deeper(run, tmp_path):
    exploration = run(synthesis=6, place=3)
    depths = [row["stage"] for row in exploration.rows if row["status"] == "done"]
    assert (depths.count("place"), depths.count("synthesis")) == (3, 3)
    assert calls(tmp_path) == 9
    assert exploration.objectives == {"throughput": "inferences_per_s", "area": "lut_sites", "accuracy": "accuracy"}
    for row in exploration.front_rows:
        assert row["stage"] == "place"
        assert row["inferences_per_s"] == pytest.approx(row["fmax_mhz"] * 1e6 / row["cycles_per_inference"])
        assert row["macs_per_s_per_lut"] == pytest.approx(row["inferences_per_s"] * 48 / row["lut_sites"])
        assert row["fmax_min_mhz"] == min(row["fmax_mhz_per_seed"])


def test_nothing_is_computed_twice(run, tmp_path):
    first = run(synthesis=6, place=3)
    again = run(synthesis=6, place=3)
    assert again.computed == {}
    assert again.rows == first.rows
    assert calls(tmp_path) == 9
    more = run(synthesis=8, place=3)
    assert more.computed["synthesis"] == 2


def test_other_code_and_other_data_are_other_points(run, subject, monkeypatch):
    run(cols="4")
    assert run(cols="4", batch=9).computed == {"model": 16}
    monkeypatch.setattr(keys, "version", lambda name: "99")
    assert run(cols="4").computed == {"model": 16}


def test_a_damaged_record_is_computed_again(run, tmp_path):
    run(cols="4")
    records = sorted((tmp_path / "cache").rglob("*.json"))
    records[0].write_text("{")
    records[1].write_text('{"status": "done"}')
    assert run(cols="4").computed == {"model": 2}


def test_a_full_disk_loses_nothing(run, monkeypatch, tmp_path):
    replace = Path.replace
    left = [10]

    def full(self, target):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match="No space left on device.*make room and run the same command again"):
        run()
    monkeypatch.setattr(Path, "replace", replace)
    assert not list((tmp_path / "cache").rglob(".writing-*"))
    assert run().computed == {"model": 38}


def test_failures_are_not_kept(tmp_path, subject):
    store = Store(tmp_path)
    store.put("ab" * 16, Finding(status="failed", values={}, reason="no power"), {})
    assert store.get("ab" * 16) is None


def test_a_tool_that_fails_leaves_the_other_points(subject, run, monkeypatch):
    def fail_sometimes(self, design, target):
        if design.dense.config.depth == 2:
            raise RuntimeError("yosys: out of luck")
        return {"lut_sites": 1, "ff": 1, "dsp": 1, "ram": 1}

    monkeypatch.setattr(FakeSynthesizer, "area", fail_sometimes)
    exploration = run(cols="4", synthesis=16)
    assert {row["reason"] for row in exploration.rows if row["depth"] == 2} == {"synthesis: yosys: out of luck"}
    assert all(row["stage"] == "synthesis" for row in exploration.rows if row["depth"] == 1)


def test_past_the_budget_it_samples_and_always_the_same(run, subject):
    exploration = run(budget=10)
    assert exploration.sampled
    assert len(exploration.rows) == 10
    again = run(budget=10)
    assert again.points_of_rows == exploration.points_of_rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "beauty"}, "objective must be among throughput, .*, not 'beauty'"),
        ({"objective": "error"}, "objective must be measurable here, not 'error': it needs --data"),
        ({"budget": 0}, "budget must be at least 1, not 0"),
        ({"synthesis": -1}, "synthesis must be at least 0, not -1"),
        ({"rows": "2:1"}, "rows must rise"),
    ],
)
def test_bad_options_are_named(run, options, message):
    with pytest.raises(InputError, match=message):
        run(**options)


def test_unknown_axes_are_named(run):
    with pytest.raises(TypeError, match="axes must be among rows, .*, not 'columns'"):
        run(columns="1")


def test_the_emit_command_emits_the_point_that_was_measured(run, subject, tmp_path):
    np.savez(tmp_path / "small.npz", **subject.layer.arrays())
    exploration = run(synthesis=8, place=8)
    out = tmp_path / "out"
    for name, content in subject.files(exploration.rows[:32]).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(content)
    for index in (0, 31):
        row, point = exploration.rows[index], exploration.points_of_rows[index]
        arguments = subject.emit_arguments(row, out)
        arguments[0] = str(tmp_path / "small.npz") if arguments[0] == "small.npz" else arguments[0]
        result = CliRunner().invoke(cli, ["emit", *arguments])
        assert result.exit_code == 0, result.output
        (verilog,) = [path for path in Path(arguments[2]).glob("*.v") if not path.stem.endswith(("_tb", "_models"))]
        design = subject.design(point)
        assert strip(verilog.read_text()) == strip(design.verilog.replace(design.name, verilog.stem))


def strip(verilog: str) -> str:
    return re.sub(r"(/\*.*?\*/|//[^\n]*|\(\*.*?\*\)|\s+)", " ", verilog, flags=re.DOTALL).replace(" ", "")


@pytest.mark.slow
def test_the_front_is_cosimulated(subject, tmp_path, in_process):
    space = {"cols": "2,4", "depth": "2", "a_bits": "4", "b_bits": "4", "requantizer_bits": "6"}
    exploration = explore(subject, space, run=Run(cache=tmp_path, batch=7, simulator="icarus"))
    assert exploration.passed
    for row in exploration.front_rows:
        assert row["cosim_cycles"] == row["cycles"]
        assert (row["cosim_mismatches"], row["cosim_rows"]) == (0, 7)


def test_files(run, tmp_path):
    exploration = run(synthesis=8, place=6)
    exploration = dataclasses.replace(exploration, requirements={"throughput": 1e6})
    paths = write_result(exploration, tmp_path / "out")
    assert [path.name for path in paths][:2] == ["points.json", "points.csv"]
    rows = list(csv.DictReader((tmp_path / "out" / "points.csv").read_text().splitlines()))
    assert [int(row["cols"]) for row in rows] == [row["cols"] for row in exploration.rows]
    content = json.loads((tmp_path / "out" / "points.json").read_text())
    assert content["points"] == [{name: row[name] for name in content["columns"]} for row in exploration.rows]
    assert all(shlex.split(row["emit"])[:2] == ["systoliq", "emit"] for row in content["front"])
    report = (tmp_path / "out" / "report.html").read_text()
    assert not re.search(r"""<(script|link|img)[^>]+(src|href)=["']?http""", report)
    assert "Plotly" in report
    assert "\\u003ca> & b" in report  # nothing of the data can end the script
    assert (tmp_path / "out" / "front.png").read_bytes()[:4] == b"\x89PNG"
    write_result(exploration, tmp_path / "out")  # may be written again


def test_the_report_works_in_a_browser(run, tmp_path):
    exploration = run(synthesis=8, place=6)
    write_result(dataclasses.replace(exploration, requirements={"throughput": 1e6}), tmp_path / "out")
    page = in_browser(tmp_path / "out" / "report.html")
    for chart in ("scatter", "accuracy", "exactness", "blocks"):
        assert re.search(rf'id="{chart}"[^>]*class="[^"]*js-plotly-plot', page) or re.search(
            rf'class="[^"]*js-plotly-plot[^"]*"[^>]*id="{chart}"', page
        )
    (front, points) = re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL)
    assert front.count("<tr") == len(exploration.front_rows)
    assert points.count("<tr") == len(exploration.rows)


def test_the_smallest_that_meets_the_requirements(run):
    exploration = run(synthesis=32, place=32)
    chosen = exploration.choose({"throughput": 3e6, "accuracy": 0.9})
    fitting = [
        row for row in exploration.rows
        if row["status"] == "done" and row["inferences_per_s"] >= 3e6 and row["accuracy"] >= 0.9
    ]  # fmt: skip
    assert chosen in fitting
    assert chosen["lut_sites"] == min(row["lut_sites"] for row in fitting)
    assert exploration.choose({"throughput": 1e12}) is None


def test_reference_outputs_give_an_error(layer, tmp_path, in_process):
    np.savez(tmp_path / "layer.npz", **layer.arrays())
    a = np.random.default_rng(0).integers(-128, 128, (20, layer.k)).astype(np.int8)
    np.savez(tmp_path / "data.npz", a=a, y=layer.golden(a))
    options = {"cols": "4", "depth": "1", "a_bits": "8,4", "b_bits": "8,4", "requantizer_bits": "24"}
    exploration = explored(
        str(tmp_path / "layer.npz"), tmp_path / "calls", data=tmp_path / "data.npz", cache=tmp_path / "cache",
        cosimulate=False, objective="throughput,area,error", **options,
    )  # fmt: skip
    errors = {(row["a_bits"], row["b_bits"]): row["rms_error"] for row in exploration.rows}
    assert errors[8, 8] == 0
    assert 0 < errors[8, 4] < errors[4, 4]
    assert {row["accuracy"] for row in exploration.rows if row["rms_error"] == 0} == {1.0}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"labels": np.zeros(3, int)}, "must have the key 'inputs' .or 'a'.; it has labels"),
        ({"inputs": np.zeros((3, 12), np.float32)}, "must have 'labels' or reference 'outputs'"),
        ({"inputs": np.zeros((3, 5), np.float32), "labels": np.zeros(3, int)}, r"inputs must have the shape \[M, 12\]"),
        ({"inputs": np.zeros((3, 12), np.float32), "labels": np.full(3, 4)}, "labels must be integers 0 to 3"),
        ({"inputs": np.zeros((3, 12), np.float32), "y": np.zeros((3, 3))}, r"outputs must have the shape \[3, 4\]"),
        ({"inputs": np.full((3, 12), np.nan), "labels": np.zeros(3, int)}, "inputs must be finite"),
    ],
)
def test_bad_data_is_named(layer, tmp_path, arrays, message):
    np.savez(tmp_path / "layer.npz", **layer.arrays())
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(InputError, match=f"data.npz: {message}"):
        explore(str(tmp_path / "layer.npz"), data=tmp_path / "data.npz")


def test_tasks_go_to_processes_and_come_back(subject, tmp_path):
    pickled = Task(
        stage="model", points=(), subject=subject, subject_key="k", settings=Settings(synthesizer=NoSynthesizer())
    )  # fmt: skip
    assert run_task(pickled) == []
