"""The command `systoliq prove` and its record."""

from __future__ import annotations

import pytest

from .refused import assert_refused

pytest.importorskip("bitwuzla", reason="pip install 'systoliq[formal]'")
pytest.importorskip("pyosys", reason="pip install 'systoliq[formal]'")

NAME = "replay buffer, 1 beats 2 times"


@pytest.mark.parametrize("content", ["[]", "not JSON", '{"a property": {"proof": {"digest": ""}}}', '{"a": 1}'])
def test_a_file_that_is_no_record_is_refused(call, tmp_path, content):
    file = tmp_path / "record.json"
    file.write_text(content)
    assert_refused(call("prove", NAME, "--record", file), f"{file} is not a record of proofs")
    assert file.read_text() == content


def test_a_record_in_no_folder_is_refused(call, tmp_path):
    assert_refused(call("prove", NAME, "--record", tmp_path / "no" / "record.json"), f"{tmp_path}/no must exist")


@pytest.mark.slow  # tests/prove/test_prove.py has it without the command
def test_what_is_recorded_is_not_proven_again(call, tmp_path):
    for recorded in (0, 2):
        result = call("prove", NAME, "--no-bugs", "--record", tmp_path / "record.json")
        assert result.exit_code == 0
        assert f"2 of 2 as expected; {recorded} already in {tmp_path}/record.json" in " ".join(result.stdout.split())
