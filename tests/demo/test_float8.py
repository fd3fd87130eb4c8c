"""The digits' classifier in float8: how well golden does, and that formats are checked."""

from __future__ import annotations

import pytest

from systoliq.demo.float8 import parse_formats
from systoliq.errors import InputError
from systoliq.golden import E4M3FN, E5M2FNUZ


def test_formats_are_names():
    assert parse_formats("e4m3fn, float8_e5m2fnuz") == [E4M3FN, E5M2FNUZ]
    with pytest.raises(InputError, match="formats: format name must be one of"):
        parse_formats("e4m3fn,int8")


@pytest.mark.slow
@pytest.mark.simulator
def test_the_demo_in_float8(call, tmp_path):
    result = call("demo", "--formats", "e4m3fn", "--out", tmp_path / "demo")
    assert result.exit_code == 0, (result.output, result.exception)
    assert "PASS: RTL = golden on every output of every test image" in result.output
    assert (tmp_path / "demo" / "digits_e4m3fn" / "digits_e4m3fn_tb.v").is_file()
