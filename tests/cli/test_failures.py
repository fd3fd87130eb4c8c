"""Tools that fail: what they said, exit status 1, no traceback."""

from __future__ import annotations

import pytest

from systoliq.cli.main import cli
from systoliq.synth import SynthesisError


def test_errors_of_place_and_route_are_reported(monkeypatch, capsys):
    def fails(*_):
        raise SynthesisError("ECP5: L6MUX21 'x' has D1 driven by another cell")

    monkeypatch.setattr("systoliq.cli.bench_area.measure", fails)
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench-area", "--only", "engine 4 x 4 / 4"])
    said = capsys.readouterr()
    assert ended.value.code == 1
    assert said.err == "error: ECP5: L6MUX21 'x' has D1 driven by another cell\n"
    assert said.out == ""
