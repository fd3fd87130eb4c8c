"""The choice between the dataflows: whichever takes fewer cycles, by hand and through the command line."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.design.engine.workloads import Product, choose_dataflow, study
from systoliq.hw.engine import EngineConfig

CONFIG = EngineConfig(rows=4, cols=4, lanes=4, a_words=256, b_words=256)


def product(m, k, n):
    return Product(network="x", m=m, k=k, n=n)


@pytest.mark.parametrize(
    ("shape", "dataflow"),
    [
        ((9, 64, 16), "weight-stationary"),  # two rows of the last group would be idle
        ((8, 64, 16), "output-stationary"),  # groups are full, and weights would be loaded for 8 rows only
    ],
)
def test_the_dataflow_with_fewer_cycles_is_chosen(shape, dataflow):
    chosen = choose_dataflow(CONFIG, [product(*shape)])
    assert chosen.dataflow == dataflow
    assert chosen == CONFIG.replace(dataflow=dataflow)
    cycles = {
        each: study([product(*shape)], each, CONFIG.replace(dataflow=each)).cycles
        for each in ("output-stationary", "weight-stationary")
    }
    assert cycles[dataflow] < min(value for each, value in cycles.items() if each != dataflow)


def test_auto_takes_a_workload(tmp_path):
    workload = tmp_path / "workload.csv"
    workload.write_text("workload,M,K,N,count\nx,17,256,64,1\n")
    arguments = ["emit", "engine", "--out", str(tmp_path / "out"), "--dataflow", "auto", "--workload", str(workload)]
    result = CliRunner().invoke(cli, [*arguments, "--rows", "4", "--cols", "4", "--lanes", "4"])
    assert result.exit_code == 0, result.output
    assert "dataflow: weight-stationary" in result.output
    assert "ws_pe" in (tmp_path / "out" / "engine.v").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workload,M,K,N\nx,1,2,3\n", "must have the columns workload, M, K, N and count"),
        ("workload,M,K,N,count\nx,1,two,3,1\n", "must have the columns"),
        ("workload,M,K,N,count\n", "must hold at least one product"),
    ],
)
def test_a_bad_workload_is_named(tmp_path, text, message):
    workload = tmp_path / "workload.csv"
    workload.write_text(text)
    arguments = ["emit", "engine", "--out", str(tmp_path / "out"), "--dataflow", "auto", "--workload", str(workload)]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert not (tmp_path / "out").exists()


def test_a_column_table_must_fit_the_address_space():
    with pytest.raises(ValueError, match="max_columns must leave the column table at most 65536 entries"):
        EngineConfig(rows=3, cols=3, lanes=3, max_columns=65536)
