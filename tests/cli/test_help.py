"""The help of the commands: it teaches by examples."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("group", [[], ["board"]], ids=["systoliq", "board"])
def test_a_group_without_a_command_shows_its_help(group, call):
    result = call(*group)
    assert result.exit_code == 2
    assert result.stderr == call(*group, "--help").stdout


@pytest.mark.parametrize("command", ["emit", "simulate", "demo", "layers", "doctor"])
def test_help_teaches(command, call):
    result = call(command, "--help")
    assert result.exit_code == 0
    assert command == "doctor" or f"Examples\n    systoliq {command}" in result.output


@pytest.mark.parametrize("command", ["emit", "compile", "soc"])
def test_help_says_what_is_overwritten(command, call):
    text = " ".join(call(command, "--help").output.split())
    assert "contain a package of the same kind and name, which is overwritten, whatever its parameters are" in text
    assert "Also overwrite a systoliq package of another kind or name" in text
