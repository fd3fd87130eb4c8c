"""`systoliq synth engine`: figures of a tiny engine, without place and route."""

from __future__ import annotations

import importlib.util
import json

import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed"),
]


def test_a_tiny_engine_in_gates(tmp_path):
    sizes = ["--a-words", "4", "--b-words", "4", "--max-columns", "2", "--max-rows", "2"]
    arguments = ["synth", "engine", "--target", "generic", "--rows", "1", "--cols", "2", "--lanes", "1", *sizes]
    result = CliRunner().invoke(cli, [*arguments, "--report", str(tmp_path / "r.json")])
    assert result.exit_code == 0, (result.output, result.exception)
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["macs_per_cycle"] == 2
    assert report["gates"] > 1000
    assert report["ff"] > 500
