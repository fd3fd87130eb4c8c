"""Syntax trees of source files, each parsed once: the tests of structure walk the same several hundred files."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

__all__ = ["syntax_tree"]


@functools.cache
def syntax_tree(path: Path) -> ast.Module:
    """Return the tree of a file; no test may change it."""
    return ast.parse(path.read_text(encoding="utf-8"))
