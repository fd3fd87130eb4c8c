"""Key of the code that results come from: it changes with any edit that could change them."""

from __future__ import annotations

import ast
import functools
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import systoliq.golden
import systoliq.hw
import systoliq.sim
from systoliq.sim.cache import content_key

__all__ = ["code_files", "code_key"]

_WHOLE = [Path(part.__path__[0]) for part in (systoliq.golden, systoliq.hw, systoliq.sim)]
_BUILD = Path(__file__).parent.parent  # the part of the namespace `systoliq` that is in the folder build
_SUFFIXES = (".py", ".v")  # Verilog: models of vendor cells


@functools.cache
def code_key(*modules: str) -> str:
    """Hash of the names and contents of `code_files`."""
    return content_key(*(part for path in code_files(*modules) for part in (path.name, path.read_bytes())))


def code_files(*modules: str) -> list[Path]:
    """Sources of `modules`, of all modules of build that they import at any depth, and of the parts below build.

    Golden, hw and sim count whole: sim starts benches by their names, and hw reads models as files.
    """
    found: set[Path] = set()
    left = [path for module in modules for path in _files(module)]
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += _imports(path, path.read_bytes())
    whole = (path for part in _WHOLE for path in part.rglob("*") if path.suffix in _SUFFIXES)
    return sorted(found.union(whole))


@functools.cache
def _imports(path: Path, source: bytes) -> tuple[Path, ...]:
    """Files that the imports in `source`, the content of `path`, load, those within functions included."""
    return tuple(_imported(path, source))


def _imported(path: Path, source: bytes) -> Iterator[Path]:
    package = ".".join(("systoliq", *path.relative_to(_BUILD).parent.parts))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield from _files(name.name)
        elif isinstance(node, ast.ImportFrom):
            module = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            for name in node.names:  # a module, or an attribute of a module
                yield from _files(f"{module}.{name.name}")


def _files(name: str) -> Iterator[Path]:
    """Files that `name` loads: of the modules along it that are in build."""
    if not name.startswith("systoliq."):
        return
    place = _BUILD
    for part in [*name.split(".")[1:], "__init__"]:
        files = (place / "__init__.py", place / "__init__.pyi", place / f"{part}.py")  # .pyi: names loaded when used
        yield from (file for file in files if file.is_file())
        place /= part
