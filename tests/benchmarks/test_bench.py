"""The benchmark measures what it says, on tiny arrays; how long things take is no matter of a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from systoliq.benchmarks.bare_loop import build_loop
from systoliq.benchmarks.layers import Case, layer_figures, layer_table
from systoliq.benchmarks.plain_grid import emit_plain_grid
from systoliq.benchmarks.sections import SECTIONS, Options, growth
from systoliq.hw import ArrayConfig, AxiBareArray, BareArray, emit_verilog
from systoliq.hw.packing import ArrayPacking


def test_growth_is_the_exponent_between_the_smallest_and_the_largest() -> None:
    assert growth((8, 16, 64), (3.0, 1e9, 3.0 * 64)) == pytest.approx(2)
    assert growth((8,), (3.0,)) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": ()}, r"sizes must be positive integers, at least one, not \(\)"),
        ({"sizes": (8, 0)}, r"sizes must be positive integers, at least one, not \(8, 0\)"),
        ({"repeat": 0}, "repeat must be at least 1, not 0"),
        ({"work": 0}, "work must be at least 1, not 0"),
    ],
)
def test_bad_options(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(**change)  # type: ignore[arg-type]


def test_plain_grid_has_a_module_for_each_element() -> None:
    assert emit_plain_grid(ArrayConfig(rows=2, cols=3)).count("\nmodule \\plain_grid.pe_") == 3 * 2 * 3


def test_emission_section(call: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    result = call("bench", "--sizes", "1,2", "--repeat", "1", "--section", "emission", "--json", file)
    assert result.exit_code == 0, result.output
    assert "Emission of a bare array" in result.output
    figures = json.loads(file.read_text())
    rows = figures["sections"]["emission"]["rows"]
    assert [row["size"] for row in rows] == [1, 2]
    text = emit_verilog(AxiBareArray(BareArray(ArrayConfig(rows=2, cols=2))), "array")
    assert rows[1]["bytes"] == len(text)
    assert rows[1]["plain_bytes"] == len(emit_plain_grid(ArrayConfig(rows=2, cols=2)))
    assert figures["options"] == {"sizes": [1, 2], "repeat": 1, "work": Options().work}


def test_sizes_must_be_integers(call: Callable[..., Result]) -> None:
    result = call("bench", "--sizes", "8x8")
    assert result.exit_code == 2
    assert "must be integers with commas between them, not '8x8'" in result.output


@pytest.mark.slow
@pytest.mark.simulator
def test_loop_computes_the_product() -> None:
    array = BareArray(ArrayConfig(rows=2, cols=3))
    loop = build_loop(emit_verilog(AxiBareArray(array), "array"), "array")
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (4, 9)), rng.integers(-128, 128, (9, 6))
    packing = ArrayPacking(array=array, m=4, k=9, n=6)
    run = loop.run(*packing.pack(a, b), expected=2 * 2 * 2, sums_bytes=packing.sums_bytes)
    valid = np.unpackbits(run.valid, axis=1, bitorder="little")[:, :3].astype(np.int64)
    sums, there, surplus = packing.unpack(valid, run.sums)
    assert there.all()
    assert not surplus.any()
    np.testing.assert_array_equal(sums, a @ b)
    assert run.cycles_per_second > 0


@pytest.mark.slow
@pytest.mark.simulator
def test_simulation_section() -> None:
    section = SECTIONS["simulation"](Options(sizes=(2,), repeat=1, work=5000), lambda text: None)
    (row,) = section.data["rows"]
    assert row["cycles"] > 1000
    assert row["ratio"] == pytest.approx(row["cycles_per_second"] / row["loop_cycles_per_second"])
    assert section.table.row_count == 1


@pytest.mark.slow
@pytest.mark.simulator
def test_builds_section() -> None:
    section = SECTIONS["builds"](Options(sizes=(1,), repeat=1), lambda text: None)
    (row,) = section.data["rows"]
    assert row["cold_cpu_seconds"] > row["runtime_cached_cpu_seconds"] > row["unchanged_cpu_seconds"]


def test_engine_section(call: Callable[..., Result], tmp_path: Path) -> None:
    file, products = tmp_path / "bench.json", tmp_path / "products.csv"
    products.write_text("workload,M,K,N,count\nfc,4,64,10,1\n")
    result = call("bench", "--quick", "--section", "engine", "--workload", products, "--json", file)
    assert result.exit_code == 0, result.output
    row = next(row for row in json.loads(file.read_text())["sections"]["engine"]["rows"] if row["engine"] == "8x8")
    assert (row["network"], row["jobs"]) == ("fc", 1)
    assert row["utilization"] == pytest.approx(4 * 64 * 10 / (8 * 8 * row["cycles"]))
    assert row["limit"] == 4 * 10 / (8 * 16)  # one tile of rows and two of columns, and what is used of them


@pytest.mark.slow
@pytest.mark.simulator
def test_layers() -> None:
    (figures,) = layer_figures([Case(k=160, n=112, depth=1)], lambda text: None)
    assert figures.memory_bytes == 3 * 160 * 112
    assert figures.memory_bytes + figures.verilog_bytes < figures.package_bytes
    assert figures.mismatches == 0
    assert list(figures.cpu_seconds) == ["emit", "verify", "first simulate", "simulate"]
    assert min(figures.cpu_seconds.values()) > 0
    assert layer_table([figures]).row_count == 1


def test_large_layers_are_left_out_of_quick_measurements() -> None:
    assert not SECTIONS["layers"](Options(work=1), lambda text: None).data["rows"]
