"""Import paths that are gone, and where they went: for one release an import of one says so.

Of no part, so that each part can announce its own: importing this imports nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["announce", "announced", "renamed"]

_UNTIL = "0.3"  # the version that knows no more of them


class _Gone(MetaPathFinder):
    """Asked last, when no other finder knows the module."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None, or an error where `fullname` is one of the modules."""
        if fullname in self.modules:
            raise ModuleNotFoundError(_text(fullname, self.modules[fullname]))  # with a name, `from` would hide it
        return None


def announce(modules: Mapping[str, str]) -> None:
    """From now on an import of a module that is gone says where its contents are; both by their full names."""
    sys.meta_path.append(_Gone(modules))


def announced() -> list[str]:
    """The modules that are gone, of all parts that were imported."""
    return sorted(name for finder in sys.meta_path if isinstance(finder, _Gone) for name in finder.modules)


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of `module`: for a name that is gone it says which full name it has now."""

    def look_up(name: str) -> object:
        if name in names:
            raise ImportError(_text(f"{module}.{name}", names[name]))
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return look_up


def _text(old: str, new: str) -> str:
    return f"{old} is gone since systoliq 0.2: import {new} instead (this hint ends with {_UNTIL})"
