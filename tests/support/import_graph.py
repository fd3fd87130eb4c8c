"""The graph of imports, those within functions and under TYPE_CHECKING included, and its circles."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .sources import syntax_tree

__all__ = ["circles", "import_graph"]

Graph = Mapping[str, set[str]]


def import_graph(root: Path, parts: Iterable[str]) -> dict[str, set[str]]:
    """Return the modules that each module of the namespace in ``root/part/systoliq`` imports, by full names.

    A name that a package takes from a module by a stub (`lazy_loader`) counts as an import of that module.
    """
    modules = {
        ".".join(path.relative_to(root / part).with_suffix("").parts).removesuffix(".__init__"): path
        for part in parts
        for path in (root / part / "systoliq").rglob("*.py")
    }
    homes = {name: dict(_homes(name, path.with_suffix(".pyi"))) for name, path in modules.items()}
    return {
        name: {_module(base, each, modules, homes) for base, each in _imported(name, path)} - {None, name}
        for name, path in modules.items()
    }


def _imported(name: str, path: Path) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each import of ours."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, ast.ImportFrom):
            base = _absolute(package, node)
            if base.startswith("systoliq"):
                yield from ((base, each.name) for each in node.names)


def _absolute(package: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    around = package.split(".")
    return ".".join([*around[: len(around) - node.level + 1], *([node.module] if node.module else [])])


def _homes(package: str, stub: Path) -> Iterator[tuple[str, str]]:
    """Yield each name that the stub of a package has, and the module that it comes from."""
    if stub.exists():
        package = package if stub.name == "__init__.pyi" else package.rpartition(".")[0]
        for node in syntax_tree(stub).body:
            if isinstance(node, ast.ImportFrom):
                yield from ((each.name, _absolute(package, node)) for each in node.names)


def _module(base: str, name: str, modules: Mapping[str, Path], homes: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return the module of ours that ``from base import name`` loads."""
    while f"{base}.{name}" not in modules and name in homes.get(base, ()):
        base = homes[base][name]
    return f"{base}.{name}" if f"{base}.{name}" in modules else base if base in modules else None


def circles(graph: Graph) -> set[frozenset[str]]:
    """Return the sets of modules that reach each other: the strongly connected components of more than one."""
    found, reach = set(), {name: _reached(graph, name) for name in graph}
    for name, others in reach.items():
        circle = frozenset({each for each in others if name in reach[each]})
        if len(circle) > 1:
            found.add(circle)
    return found


def _reached(graph: Graph, name: str) -> set[str]:
    seen, left = set(), [name]
    while left:
        for each in graph.get(left.pop(), ()):
            if each not in seen:
                seen.add(each)
                left.append(each)
    return seen
