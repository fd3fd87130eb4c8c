"""The table "Operator by operator" of docs/networks.md: the catalogue, golden's objects, verify and the tests."""

from __future__ import annotations

import re

import pytest

from systoliq.golden import network
from systoliq.onnx.catalogue import CATALOGUE
from systoliq.verify.stages import OPERATORS

from ..conftest import ROOT

PAGE = (ROOT / "docs/networks.md").read_text()
TABLE = PAGE.split("\n## Operator by operator\n")[1].split("\n## ")[0]
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in TABLE.splitlines() if line.startswith("|")][2:]


def test_it_has_every_operator_that_a_network_reads_and_no_other():
    read = {row.name for row in CATALOGUE if callable(row.network)}
    named = {word for row in ROWS for word in re.findall(r"\b[A-Z]\w+", row[0])}
    assert named == read


def test_it_has_every_object():
    nodes = {name for name in network.__all__ if (each := getattr(network, name)) is not network.Node
             and isinstance(each, type) and issubclass(each, network.Node)}  # fmt: skip
    assert {row[1].strip("`") for row in ROWS} == nodes


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:30])
def test_a_certificate_is_what_verify_derives(row):
    assert row[2].split(";")[0] in ("yes", "in part", "tested")
    assert (row[1].strip("`") in OPERATORS) == (row[2] != "tested")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:30])
def test_each_test_exists(row):
    for name in re.findall(r"`([^`]+)`", row[3]):
        file, _, function = name.partition("::")
        assert re.search(rf"^def {function}\b", (ROOT / "tests/onnx/network" / file).read_text(), re.MULTILINE), name
    for name in re.findall(r"`([^`]+)`", row[4]):
        assert (ROOT / "tests/hw/network" / name).is_file(), name
