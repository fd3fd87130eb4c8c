"""Seeded bugs: the hardware with a defect in its source. Nothing on disk changes."""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType
from typing import Any

from .property import SeededBug

__all__ = ["BugNotApplicableError", "seed"]


class BugNotApplicableError(ValueError):
    """The source no longer has the text that the bug replaces, or has it more than once."""


class _Loader(SourceFileLoader):
    bug: SeededBug

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_source(fullname) or ""
        if source.count(self.bug.old) != 1:
            raise BugNotApplicableError(
                f"{fullname} must hold the text of a seeded bug once, not {source.count(self.bug.old)} times: "
                f"{self.bug.old!r}"
            )
        return compile(source.replace(self.bug.old, self.bug.new), self.get_filename(fullname), "exec")


class _Finder(MetaPathFinder):
    def __init__(self, bug: SeededBug) -> None:
        self.bug = bug

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != f"systoliq.hw.{self.bug.module}":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.origin is None:
            return None
        loader = _Loader(fullname, spec.origin)
        loader.bug = self.bug
        spec.loader = loader
        return spec


def seed(bug: SeededBug) -> None:
    """Put ``bug`` into this process; its module must not have been imported yet."""
    name = f"systoliq.hw.{bug.module}"
    if name in sys.modules:
        raise RuntimeError(f"{name} must not be imported before a bug is put into it")
    sys.meta_path.insert(0, _Finder(bug))
