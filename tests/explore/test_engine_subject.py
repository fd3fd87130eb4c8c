"""Engines as subjects: their model is the engine's own, their workloads are read, their points are emitted and run."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner
from explore_fakes import InProcess, explored, in_browser

from systoliq.cli.main import cli
from systoliq.design import DmaEngineDesign, EngineDesign
from systoliq.design.digits_cnn import INT8_MODEL
from systoliq.design.engine.largest import engine_cost
from systoliq.design.engine.workloads import Product, jobs_of
from systoliq.errors import InputError
from systoliq.explore import EngineSubject, Run, Workload, explore, open_workload
from systoliq.explore.grid.settings import Settings
from systoliq.explore.results import write_result
from systoliq.explore.synthesizer import NoSynthesizer
from systoliq.hw.engine import AxiEngine, EngineConfig
from systoliq.hw.hierarchy import mark_used
from systoliq.package import write_package

SMALL = [Product(network="x", m=9, k=20, n=6, count=2), Product(network="x", m=1, k=33, n=5)]
AXES = {"rows": "2", "cols": "2,4", "depth": "1,2", "a_words": "16", "b_words": "32", "max_columns": 8, "max_rows": 8}
CSV = "workload,layer,M,K,N,count\nx,conv,9,20,6,2\nx,fc,1,33,5,1\ny,fc,4,4,4,1\n"
SETTINGS = Settings(synthesizer=NoSynthesizer(), simulator="icarus")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr("systoliq.explore.grid.exploration._executor", lambda *_: InProcess)

    def made(source="engine", **options):
        options = {"cosimulate": False, "cache": tmp_path / "cache", "workload": SMALL, **AXES, **options}
        return explored(source, tmp_path / "calls", **options)

    return made


@pytest.mark.parametrize("seed", range(12))
def test_the_model_is_the_engines_own(seed):
    draw = random.Random(seed)
    products = [
        Product(
            network="x", m=draw.randint(1, 70), k=draw.randint(1, 90), n=draw.randint(1, 50), count=draw.randint(1, 3)
        )
        for _ in range(3)
    ]
    cols = draw.choice([1, 2, 3, 6])
    config = EngineConfig(
        rows=draw.choice([1, 2, 5]), cols=cols, depth=draw.choice([1, 2, 3]),
        lanes=draw.choice([lanes for lanes in range(1, cols + 1) if cols % lanes == 0]),
        a_words=draw.choice([4, 64, 1024]), b_words=draw.choice([4, 128, 4096]), max_columns=draw.choice([2, 16, 64]),
        max_rows=draw.choice([2, 32]), dataflow=draw.choice(["output-stationary", "weight-stationary"]),
    )  # fmt: skip
    subject = EngineSubject(workload=Workload(name="x", products=tuple(products)), config=config)
    point = subject.point({axis.name: axis.parse(axis.default)[0] for axis in subject.axes})
    engine = AxiEngine(config)
    mark_used(engine)
    assert subject.design(point).config == config
    found = subject.model(point, SETTINGS)
    jobs = [job for product in products for job in jobs_of(config, product)]
    assert found["cycles"] == sum(count * engine.turn(shape) for shape, count in jobs)
    assert found["jobs"] == sum(count for _, count in jobs)
    assert sum(count * shape.macs for shape, count in jobs) == subject.work
    assert found["utilization"] == subject.work / (found["cycles"] * config.rows * config.cols * config.depth)
    assert 0 < found["utilization"] <= found["edge_limit"] <= 1


def test_a_bus_makes_jobs_as_long_as_its_beats_take():
    subject = EngineSubject(workload=Workload(name="x", products=(Product(network="x", m=64, k=16, n=64),)))
    values = {axis.name: axis.parse(axis.default)[0] for axis in subject.axes} | {"rows": 8, "cols": 8, "lanes": 8}
    streams, wide, narrow = (
        subject.model(subject.point(values | {"bus": bus, "dataflow": "output-stationary"}), SETTINGS)["cycles"]
        for bus in (0, 128, 32)
    )
    assert streams <= wide < narrow
    assert narrow == (64 * 16 + 16 * 64 + 64 * 64) // 4  # bytes of A, B and Y


def test_a_workload_file(tmp_path):
    (tmp_path / "w.csv").write_text(CSV)
    both = open_workload(str(tmp_path / "w.csv"))
    assert (both.name, both.count, both.macs) == ("w.csv", 4, 2 * 9 * 20 * 6 + 33 * 5 + 64)
    assert open_workload(f"{tmp_path / 'w.csv'}#y") == Workload(
        name="y", products=(Product(network="y", m=4, k=4, n=4),)
    )
    assert open_workload("resnet8").macs == 12_501_632  # MLPerf Tiny's, by its own count


def test_a_model_as_workload():
    found = open_workload(str(INT8_MODEL))
    assert found.name == "digits_cnn"
    assert [(each.m, each.k, each.n) for each in found.products] == [(64, 9, 4), (16, 36, 8), (1, 128, 10)]


def test_resnet8_by_model_by_file_and_by_name(shared):
    found = [
        sorted((each.m, each.k, each.n, each.count) for each in open_workload(text).products)
        for text in (
            str(shared / "data" / "mlperf_resnet8_qdq.onnx"),
            f"{shared / 'data' / 'workloads_mkn.csv'}#resnet8",
            "resnet8",
        )
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("resnet9", "workload must be FILE.csv, FILE.csv#NETWORK, MODEL.onnx, or one of resnet8, .*, not 'resnet9'"),
        ("w.csv#z", "w.csv: must hold one of x, y, not 'z'"),
        ("no.csv", "no.csv"),
        ("m.onnx#fc", "workload must be the model as a whole, m.onnx, not 'm.onnx#fc'"),
        ("zero.csv", "zero: M must be at least 1, not 0"),
        ("deep.csv", "deep: K must be 1 to 65535, not 70000"),
        ("none.csv", "none.csv: must hold at least one product"),
        ("words.csv", "words.csv: must have the columns workload, M, K, N and count"),
    ],
)
def test_bad_workloads_are_named(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("w.csv").write_text(CSV)
    head = "workload,M,K,N,count\n"
    rows = {"zero": "zero,0,1,1,1\n", "deep": "deep,1,70000,1,1\n", "none": "", "words": "x,a,b,c,d\n"}
    for name, row in rows.items():
        Path(f"{name}.csv").write_text(head + row)
    with pytest.raises((InputError, OSError), match=message):
        open_workload(text)


def test_points_of_an_engine(run, tmp_path):
    exploration = run(synthesis=6, place=4, dataflow="output-stationary,weight-stationary", require="throughput=1e5")
    assert len(exploration.rows) == 8
    assert exploration.objectives == {"throughput": "inferences_per_s", "area": "lut_sites", "ram": "ram"}
    assert {row["lanes"] for row in exploration.rows if row["cols"] == 4} == {4}  # the default, as it is
    for row in exploration.front_rows:
        assert row["inferences_per_s"] == pytest.approx(row["fmax_mhz"] * 1e6 / row["cycles"])
        assert row["products_per_s"] == pytest.approx(3 * row["inferences_per_s"])
        assert row["macs_per_s"] == pytest.approx(row["inferences_per_s"] * (2 * 9 * 20 * 6 + 33 * 5))
    fitting = [row for row in exploration.rows if (row["inferences_per_s"] or 0) >= 1e5]
    assert exploration.chosen["lut_sites"] == min(row["lut_sites"] for row in fitting)
    assert {"a_bits", "accuracy"}.isdisjoint(exploration.points.columns)
    assert {"a_words", "dataflow", "bus", "jobs"} <= set(exploration.points.columns)
    paths = write_result(exploration, tmp_path / "out")
    assert [path.name for path in paths] == ["points.json", "points.csv", "report.html", "front.png"]
    content = json.loads(paths[0].read_text())
    assert content["workload"]["products"][0] == {"network": "x", "m": 9, "k": 20, "n": 6, "count": 2}
    assert [row["dataflow"] for row in csv.DictReader(paths[1].read_text().splitlines())] == [
        row["dataflow"] for row in exploration.rows
    ]  # fmt: skip
    assert run(synthesis=6, place=4, dataflow="output-stationary,weight-stationary").computed == {}


@pytest.mark.slow
def test_the_report_works_in_a_browser(run, tmp_path):
    exploration = run(synthesis=6, place=4)
    write_result(exploration, tmp_path / "out")
    page = in_browser(tmp_path / "out" / "report.html")
    assert 'id="exactness"' not in page  # of layers
    assert "4 lanes" in page
    for column in ("dataflow", "a words", "utilization"):
        assert f">{column}</th>" in page


def test_a_row_of_the_table_is_a_design_that_can_be_written(run, tmp_path):
    config = EngineConfig(rows=2, cols=2, lanes=1, a_words=16, b_words=16, max_columns=8, max_rows=8)
    axes = dict.fromkeys(AXES)
    exploration = run(EngineDesign(config), space={"rows": "1,2"}, **axes | {"cells": "portable", "bus": "0,64"})
    assert {row["lanes"] for row in exploration.rows} == {1}
    row = exploration.front.row(0, named=True)
    design = exploration.design(row)
    assert (design.config.rows, design.config.cols, design.config.a_words) == (row["rows"], 2, 16)
    write_package(design, tmp_path / "package")
    assert (tmp_path / "package" / "engine.v").exists()
    kinds = {row["bus"]: type(exploration.design(row)) for row in exploration.rows}
    assert kinds == {0: EngineDesign, 64: DmaEngineDesign}


@pytest.mark.slow  # test_explore.py has it of a layer
@pytest.mark.parametrize("bus", [0, 64])
def test_the_emit_command_emits_the_point_that_was_measured(run, tmp_path, bus):
    exploration = run(cols="2", depth="2", lanes=1, bus=bus, max_columns=8, target="ice40-up5k")
    (row,) = (row for row in exploration.rows if row["dataflow"] == "output-stationary")
    assert row["reason"] == ""
    result = CliRunner().invoke(cli, ["emit", *exploration.subject.emit_arguments(row, tmp_path)])
    assert result.exit_code == 0, result.output
    (sidecar,) = (tmp_path / "points").glob("*/*engine.json")
    said = json.loads(sidecar.read_text())
    config = exploration.design(row).config
    assert said["engine"] | {"rows": 2, "depth": 2, "cells": "ice40"} == said["engine"]
    assert {name: said["engine"][name] for name in ("a_words", "b_words", "lanes")} == {
        "a_words": config.a_words, "b_words": config.b_words, "lanes": config.lanes
    }  # fmt: skip


@pytest.mark.parametrize(
    ("target", "cells", "lanes", "cols", "room"),
    [  # the most columns in one row: a multiplier each, or for two; four a lane; and one on ECP5, not counted for pairs
        ("ecp5-25k", "ecp5", 1, 23, 28), ("ecp5-25k", "ecp5", 3, 15, 28), ("ecp5-25k", "ecp5-pair", 1, 48, 28),
        ("ice40-up5k", "ice40", 1, 4, 8),
    ],
)  # fmt: skip
def test_engines_of_as_many_multipliers_as_the_device_has_are_not_refused(run, target, cells, lanes, cols, room):
    fixed = {"rows": "1", "depth": "1", "dataflow": "output-stationary", "target": target, "cells": cells}
    (row,) = run(**fixed, lanes=lanes, cols=cols).rows
    assert row["reason"] == ""
    (row,) = run(**fixed, lanes=lanes, cols=cols + lanes).rows
    assert row["reason"].startswith(f"dsp must be at most {room} on {target}, but this engine takes at least ")


def test_devices_that_are_too_small_are_refused_before_synthesis(run):
    exploration = run(rows="16", cols="16", depth="1", dataflow="output-stationary", target="ecp5-25k,osu018")
    reasons = {row["target"]: row["reason"] for row in exploration.rows}
    assert reasons["ecp5-25k"] == "dsp must be at most 28 on ecp5-25k, but this engine takes at least 273"
    exploration = run(rows="4", cols="4", depth="1", a_words=1024, dataflow="output-stationary", target="osu018")
    assert exploration.rows[0]["reason"].startswith("engine must have at most 16384 bits of memory for standard cells")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bus": "48"}, r"bus must be among 0, 32, 64, 128 \(0: streams\), not 48"),
        ({"dataflow": "row-stationary"}, "dataflow must be among output-stationary, weight-stationary, not 'row-"),
        ({"a_bits": "4"}, "axes must be among rows, .*, not 'a_bits'"),
        ({"workload": None}, "workload must be given for the engine"),
        ({"data": Path("x.npz")}, "data cannot be used with the engine"),
        ({"objective": "accuracy"}, "objective must be measurable here, not 'accuracy'"),
    ],
)
def test_bad_options_are_named(run, options, message):
    with pytest.raises((InputError, TypeError), match=message):
        run(**options)


def test_a_layer_has_no_workload(run):
    with pytest.raises(InputError, match="workload must be given for the source engine only, not for 'resnet8-fc'"):
        run("resnet8-fc", **dict.fromkeys(AXES))


@pytest.mark.slow  # test_explore.py has it of a layer
@pytest.mark.parametrize(
    ("dataflow", "bus"), [("output-stationary", 0), ("weight-stationary", 0), ("output-stationary", 32)]
)
def test_the_front_is_cosimulated(run, dataflow, bus):
    exploration = run(
        cols="2", depth="1", dataflow=dataflow, bus=bus, cells="portable", cosimulate=True, simulator="icarus"
    )
    (row,) = exploration.rows
    assert row["cosim"] == "equal", row["reason"]
    assert row["cosim_product"] == "9 x 20 x 6"  # the one that takes longest, whole
    assert row["cosim_mismatches"] == 0


@pytest.mark.slow
def test_a_point_is_placed_and_cosimulated(tmp_path):
    space = {
        "rows": 1, "cols": 2, "depth": 1, "a_words": 64, "b_words": 64, "max_columns": 8, "max_rows": 8,
        "dataflow": "output-stationary", "target": "ecp5-25k",
    }  # fmt: skip
    run = Run(synthesis=1, place=1, seeds=1, simulator="icarus", jobs=1, cache=tmp_path)
    exploration = explore("engine", space, workload=SMALL, require="throughput=1e4", run=run)
    (row,) = exploration.front_rows
    assert row["cosim"] == "equal", row["reason"]
    assert row is exploration.chosen
    assert row["dsp"] == 2 + 4 * 2 + 1  # products; 32 x 24 bits in each lane; K times the zero point
    assert row["dsp"] == engine_cost(exploration.design(row).config, None)["dsp"]  # by which points are refused
    assert 0 < row["lut_sites"] < 24288
    assert 60 < row["fmax_mhz"] < 300
    assert row["inferences_per_s"] == pytest.approx(row["fmax_mhz"] * 1e6 / row["cycles"])
    assert {"lane", "dataflow", "result_buffer"} <= set(exploration.blocks[exploration.points_of_rows[0]])


@pytest.mark.slow  # test_explore_command.py has it of a layer
def test_the_command(tmp_path):
    (tmp_path / "w.csv").write_text(CSV)
    arguments = [
        "explore", "engine", "--workload", f"{tmp_path / 'w.csv'}#x", "--rows", "1,2", "--cols", "2", "--depth", "1",
        "--lanes", "1", "--a-words", "64", "--b-words", "64", "--dataflow", "output-stationary",
        "--target", "ice40-up5k",
        "--jobs", "1", "--simulator", "icarus", "--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out"),
    ]  # fmt: skip
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    assert "Pareto front of throughput (inferences_per_kcycle)" in result.output
    assert "2 points of the grid, 2 on the front" in result.output
    for option, message in (
        (["--batch", "2"], "error: batch cannot be used with the engine"),
        (["--smallest"], "error: smallest cannot be used with the engine: --require names the smallest"),
    ):
        refused = CliRunner().invoke(cli, [*arguments, *option])
        assert refused.exit_code == 2
        assert message in refused.stderr
