"""`systoliq bench-area` puts what place and route measures into the table of a document."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from systoliq.benchmarks.area import DESIGNS

NAME = "resnet8-fc 1 x 2 x 2, auto requantizer"


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed")
def test_the_table_of_a_document(call: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("systoliq.cli.bench_area.DESIGNS", {NAME: DESIGNS[NAME]})
    document = tmp_path / "silicon.md"
    document.write_text("before\n<!-- table: make bench-area -->\nold\n<!-- end of table -->\nafter\n")
    result = call("bench-area", "--seeds", 1, "--update", document)
    assert result.exit_code == 0, result.output
    before, begin, head, _, row, _, measured, end, after = document.read_text().splitlines()
    assert (before, begin) == ("before", "<!-- table: make bench-area -->")
    assert (end, after) == ("<!-- end of table -->", "after")
    assert measured.startswith("Measured with ")
    names, figures = ([word.strip() for word in line.strip("|").split("|")] for line in (head, row))
    found = dict(zip(names, figures, strict=True))
    assert (found["design"], found["target"]) == (NAME, "ice40-up5k")
    assert found["MACs/cycle"] == found["DSP"] == "4"  # a multiplier for each element; the requantizer needs none
    assert 4 * 8 < int(found["LUT sites"]) < 5280  # the part has 5280
    assert 20 < float(found["MHz"]) < 200
