"""Families of parts are data: the facts of one stand in the files that CONTRIBUTING.md lists, and in no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from systoliq.hw.cells import CELLS, family
from systoliq.synth.families import FAMILIES

ROOT = Path(__file__).resolve().parents[2]
NAMES_NEXUS = re.compile(r"\bnexus\b|LIFCL|MULTADDSUB9X9WIDE|PDPSC16K", re.IGNORECASE)


def test_the_files_of_nexus_are_those_that_contributing_lists():
    """Another family needs a line in no other file, either."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    listed = re.search(r"<!-- nexus: .*?-->(.*?)<!-- end -->", text, re.DOTALL)
    assert listed
    files = (path for part in ("build", "hw", "golden", "sim") for path in (ROOT / part).rglob("*"))
    sources = [path for path in files if path.suffix in (".py", ".pyi", ".v")]
    named = {str(path.relative_to(ROOT)) for path in sources if NAMES_NEXUS.search(path.read_text())}
    assert named == set(re.findall(r"`([\w/]+\.\w+)`", listed[1]))


@pytest.mark.parametrize("name", FAMILIES)
def test_each_file_has_one_family(name):
    found = FAMILIES[name]
    assert found.name == name
    assert {target.family for target in found.targets} == {name}
    assert found.sets_of_cells <= set(CELLS)
    assert {family(cells) for cells in found.sets_of_cells} <= {"", name, "dsp48e2"}
    assert (ROOT / "build/systoliq/synth/families" / f"{name}.py").is_file()
