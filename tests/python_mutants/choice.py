"""Choice of tests for a mutated module: its own, those that name what it has, those of its users, then the rest."""

from __future__ import annotations

import ast
import re
from pathlib import Path

__all__ = ["FIRST", "chosen_tests"]

_REST = {  # by what holds a module: folders of tests that hold it to something, whatever they are called after
    "golden/systoliq/golden/network": ("golden/network", "onnx/network"),
    "golden": ("golden",),
    "hw/systoliq/hw/engine/host": ("hw/engine/host", "engine"),
    "hw/systoliq/hw/engine": ("hw/engine", "engine"),
    "hw/systoliq/hw/dma": ("hw/dma", "engine"),
    "hw/systoliq/hw/network": ("hw/network",),
    "hw/systoliq/hw/mac": ("hw/mac",),
    "hw/systoliq/hw/cells": ("hw/cells", "hw/mac"),
    "hw": ("hw",),
}
FIRST = 3
"""So many files of tests come first, those that say what is wrong; then, for hw, the record of what it emits."""


def chosen_tests(root: Path, module: Path) -> list[Path]:
    """Files of tests for `module`, a path below `root`, as paths below it: those of its part of systoliq."""
    part = module.parts[0]
    users = _users(root, part)
    near, seen = [module], {module}
    for each in near:
        new = sorted(users.get(each, set()) - seen)
        near += new
        seen.update(new)
    folders = (folder for holder, rest in _REST.items() if module.is_relative_to(holder) for folder in rest)
    files = {  # the nearest folder first
        file: file.read_text() for folder in folders for file in sorted((root / "tests" / folder).rglob("test_*.py"))
    }
    chosen = [file for each in near for file in (*_own([*files], each), *_naming(files, root / each))]
    first = [*dict.fromkeys(chosen)][:FIRST]
    record = sorted((root / "tests/emitted").glob("test_*.py"))
    order = [*first, *record, *chosen, *files] if part == "hw" else [*chosen, *record, *files]
    return [file.relative_to(root) for file in dict.fromkeys(order)]


def _own(files: list[Path], module: Path) -> list[Path]:
    """The tests of `module`, by their names: test_MODULE.py and test_MODULE_MORE.py, below its own folder's name."""
    inner = module.parts[3:-1]
    return [
        file for file in files if f"{file.stem}_".startswith(f"test_{module.stem}_") and set(inner) <= set(file.parts)
    ]


def _naming(files: dict[Path, str], module: Path) -> list[Path]:
    """Tests in whose text is something that `module` hands out; first those of its name, in whatever folder."""
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            names = "|".join(map(re.escape, ast.literal_eval(node.value)))
            found = [file for file, text in files.items() if names and re.search(rf"\b({names})\b", text)]
            return sorted(found, key=lambda file: not f"{file.stem}_".startswith(f"test_{module.stem}_"))
    return []


def _users(root: Path, part: str) -> dict[Path, set[Path]]:
    """The modules of `part` that import each, below `root`."""
    users: dict[Path, set[Path]] = {}
    for path in (root / part / "systoliq" / part).rglob("*.py"):
        module = path.relative_to(root)
        if module.name == "__init__.py":  # it hands on, and has no tests of its own
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = module.parents[node.level - 1]
                named = folder.joinpath(*(node.module or "").split("."))
                for each in (named.with_suffix(".py"), *(named / f"{alias.name}.py" for alias in node.names)):
                    users.setdefault(each, set()).add(module)
    return users
