"""What the command says and how it ends."""

from __future__ import annotations

import errno
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli


@pytest.fixture
def source(layer, tmp_path):
    np.savez(tmp_path / "small.npz", **layer.arrays())
    return str(tmp_path / "small.npz")


def invoke(tmp_path, *arguments):
    cache = () if "--cache" in arguments else ("--cache", str(tmp_path / "cache"))
    jobs = () if "--jobs" in arguments else ("--jobs", "1")
    return CliRunner().invoke(cli, ["explore", *arguments, *jobs, *cache])


def arguments(source, tmp_path, *more):
    return [
        source, "--out", str(tmp_path / "out"), "--cols", "4", "--depth", "1,2", "--a-bits", "8", "--b-bits", "4,8",
        "--requantizer-bits", "24", "--batch", "5", "--simulator", "icarus", *more,
    ]  # fmt: skip


def test_explore(source, tmp_path):
    result = invoke(tmp_path, *arguments(source, tmp_path, "--require", "exactness=0"))
    assert result.exit_code == 0, result.output
    assert "Pareto front of throughput" in result.output
    assert "smallest with exactness=0: 1 x 4 x 1" in result.output
    assert "4 points of the grid" in result.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "points.csv", "points.json", "report.html", "front.png", "layers", "explore.log"
    }  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--rows", "4:1"], "rows must rise: '4:1' runs from 4 down to 1"),
        (["--rows", ""], "rows must be like"),
        (["--target", "virtex"], "target must be among"),
        (["--require", "speed=1"], "require must be NAME=NUMBER"),
        (["--require", "throughput=fast"], "require must give a number for throughput, not 'fast'"),
        (["--scheduler", "tcp://127.0.0.1:9"], "scheduler: no dask scheduler answers at 'tcp://127.0.0.1:9'"),
        (["--scheduler", "nonsense://"], "scheduler: no dask scheduler answers at 'nonsense://'"),
        (["--jobs", "0"], "jobs must be at least 1, not 0"),
        (["--memory", "0.1"], "memory must be at least 0.5 GiB"),
        (["--cols", "5"], "no point could be evaluated: cols must be at most 4"),
        (["--objective", "accuracy"], "objective must be measurable here, not 'accuracy': it needs --data"),
        (["--data", "/nowhere.npz"], "/nowhere.npz"),
        (["--cache", "/dev/null/x"], "the cache cannot be used"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(source, tmp_path, more, message, monkeypatch):
    monkeypatch.setattr("systoliq.explore.dask_cluster._PATIENCE", 1.0)
    result = invoke(tmp_path, *arguments(source, tmp_path, *more))
    assert result.exit_code == 2, result.output
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert message in errors[0]
    assert "Traceback" not in result.output


def test_a_directory_of_others_is_left_alone(source, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    result = invoke(tmp_path, *arguments(source, tmp_path))
    assert result.exit_code == 2
    assert "must be new, empty or written by systoliq explore" in result.stderr


@pytest.mark.slow  # tests/cli/test_in_the_wild.py limits the size of files
def test_a_disk_that_is_full_when_the_report_is_written(source, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("systoliq.explore.results.write_all", full)
    monkeypatch.setattr("systoliq.explore.run.Run.cosimulate", False)
    result = invoke(tmp_path, *arguments(source, tmp_path))
    assert result.exit_code == 2
    assert "the report cannot be written (No space left on device); finished points are kept" in result.stderr


def test_a_missing_package_is_reported_before_the_work(source, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    result = invoke(tmp_path, *arguments(source, tmp_path))
    assert result.exit_code == 1
    assert "plotly is not installed" in result.stderr
    assert "pip install 'systoliq[explore]'" in result.stderr
    assert not (tmp_path / "cache").exists()
