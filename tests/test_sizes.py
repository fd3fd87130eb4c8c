"""Sizes of source files: small enough to read in one sitting."""

from __future__ import annotations

import statistics
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = sorted(path for part in ("golden", "hw", "sim", "build") for path in (ROOT / part).rglob("*.py"))
MEDIAN_LINES, FILE_LINES = 150, 400


def test_files_are_short() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert len(lines) > 100
    assert statistics.median(lines.values()) < MEDIAN_LINES
    assert {path: count for path, count in lines.items() if count > FILE_LINES} == {}
