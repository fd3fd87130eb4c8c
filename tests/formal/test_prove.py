"""A reduced set of the proofs, each with the seeded bug that must make it fail. All of them: `make prove`."""

from __future__ import annotations

import dataclasses

import pytest

pytest.importorskip("bitwuzla", reason="pip install 'systoliq[formal]'")
pytest.importorskip("pyosys", reason="pip install 'systoliq[formal]'")

from systoliq.build.prove.catalog import find, properties
from systoliq.build.prove.property import SeededBug, Verdict
from systoliq.build.prove.runner import Job, run_one

QUICK = [prop.name for prop in properties() if prop.quick]


@pytest.mark.parametrize("name", QUICK)
def test_property_is_proven(name):
    result = run_one(Job(find(name)))
    assert result.passed, f"{result.verdict.value}\n{result.detail}"


@pytest.mark.parametrize("name", QUICK)
def test_seeded_bug_is_caught(name):
    result = run_one(Job(find(name), seeded=True))
    assert result.verdict is Verdict.FAILED, f"{result.verdict.value}\n{result.detail}"


@pytest.mark.slow
@pytest.mark.parametrize("name", [prop.name for prop in properties() if not prop.quick])
def test_every_other_seeded_bug_is_caught(name):
    result = run_one(Job(find(name), seeded=True))
    assert result.verdict is Verdict.FAILED, f"{result.verdict.value}\n{result.detail}"


def test_names_are_unique():
    names = [prop.name for prop in properties()]
    assert len(set(names)) == len(names)


def test_bug_whose_text_is_gone_is_an_error():
    prop = dataclasses.replace(find(QUICK[0]), bug=SeededBug(module="mac", old="no such text", new=""))
    result = run_one(Job(prop, seeded=True))
    assert not result.passed
    assert "must hold the text of a seeded bug once, not 0 times" in result.detail


def test_unknown_name_is_refused():
    with pytest.raises(ValueError, match="name must be that of a property, not 'nothing'"):
        find("nothing")
