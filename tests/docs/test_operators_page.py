"""docs/operators.md: each cell says yes or no and names tests, and each of these is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/operators.md").read_text()
COLUMNS = ["case", "golden", "layer", "engine", "ONNX SOURCE"]
KEY = r"[GLEO]\d+"
TESTS = dict(re.findall(rf"^\* ({KEY}): `(tests/\S+)`$", PAGE, re.MULTILINE))


def tables() -> list[list[list[str]]]:
    """The page's tables, as rows of cells, the head among them."""
    found = re.findall(r"^\|.*\|$(?:\n^\|.*\|$)+", PAGE, re.MULTILINE)
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()] for table in found]


ROWS = [row for head, _, *rows in tables() for row in rows]


def test_tables_have_their_columns():
    assert [head for head, *_ in tables()] == [COLUMNS] * 5
    assert len(ROWS) > 45


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_cell_says_yes_or_no_and_by_which_tests(row):
    assert len(row) == len(COLUMNS)
    for cell in row[1:]:
        assert re.fullmatch(rf"(yes\b|no: \S).*?( {KEY})+", cell), cell
        for key in re.findall(rf"\b{KEY}\b", cell):
            assert key in TESTS, f"{key} is not in the list of tests"


def test_each_test_of_the_list_is_named_once_and_used():
    listed = re.findall(rf"^\* ({KEY}): ", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(set(listed)) == sorted(TESTS)
    used = {key for row in ROWS for cell in row[1:] for key in re.findall(rf"\b{KEY}\b", cell)}
    assert used == set(TESTS)


@pytest.mark.parametrize("test", TESTS.values())
def test_each_test_is_there(test):
    path, name = test.split("::")
    functions = [node.name for node in ast.parse((ROOT / path).read_text()).body if isinstance(node, ast.FunctionDef)]
    assert functions.count(name) == 1
