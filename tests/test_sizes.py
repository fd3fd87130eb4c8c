"""Sizes of files and functions of the source: small enough to read at a sitting."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = sorted(path for part in ("golden", "hw", "sim", "build") for path in (ROOT / part).rglob("*.py"))
MEDIAN_LINES, FILE_LINES, FUNCTION_LINES = 150, 400, 60


def test_files_are_short() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert len(lines) > 100
    assert statistics.median(lines.values()) < MEDIAN_LINES
    assert {path: count for path, count in lines.items() if count > FILE_LINES} == {}


def test_functions_are_short() -> None:
    too_long = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno is not None:
                count = node.end_lineno - node.lineno + 1
                if count > FUNCTION_LINES:
                    too_long[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = count
    assert too_long == {}
