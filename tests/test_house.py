"""The house keeps its rules: imports run one way, the namespace stays whole, each dependency says why it is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("golden", "hw", "sim", "build")  # each may import those before it
MODULES = [path for part in PARTS for path in sorted((ROOT / part / "systoliq" / part).rglob("*.py"))]
NUMPY_ONLY = "golden"


def imported_modules(path: Path) -> set[str]:
    """Full names of what a module imports, relative imports resolved."""
    package = path.relative_to(ROOT).parts[1:-1]  # ("systoliq", "hw", ...)
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {f"{module}.{alias.name}" for alias in node.names} if module == "systoliq" else {module}
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path):
    part = path.relative_to(ROOT).parts[0]
    allowed = PARTS[: PARTS.index(part) + 1]
    ours = {name.split(".")[1] for name in imported_modules(path) if name.startswith("systoliq.")}
    assert ours <= set(allowed), f"{part} may import {', '.join(allowed)}"


def test_no_code_asks_which_kind_a_design_is():
    for path in MODULES:
        text = path.read_text()
        assert not re.search(r"isinstance\([^()]*, \(?\w*Design\b", text), f"{path}: a method of Design instead"


def test_golden_needs_numpy_only():
    import sys

    foreign = {
        name.split(".")[0]
        for path in MODULES
        if path.relative_to(ROOT).parts[0] == NUMPY_ONLY
        for name in imported_modules(path)
    } - sys.stdlib_module_names
    assert foreign <= {"numpy", "systoliq"}


@pytest.mark.parametrize("part", PARTS)
def test_the_namespace_stays_whole(part):
    assert not (ROOT / part / "__init__.py").exists()
    assert not (ROOT / part / "systoliq" / "__init__.py").exists()
    assert (ROOT / part / "systoliq" / part / "__init__.py").exists()
    assert (ROOT / part / "systoliq" / part / "py.typed").exists()
    scripts = {"resnet8_fc.py"} if part == "build" else set()  # the build script that the mission names
    assert {path.name for path in (ROOT / part).iterdir() if path.name != "__pycache__"} == {"systoliq"} | scripts


def test_git_ignores_no_folder_named_build():
    assert not re.search(r"^(\*\*)?/?build/?$", (ROOT / ".gitignore").read_text(), re.MULTILINE)


def test_each_dependency_has_its_reason():
    lists = re.findall(
        r"^(?:dependencies|demo|onnx|test|synth|formal) = \[\n(.*?)^\]", pyproject(), re.MULTILINE | re.DOTALL
    )
    assert lists
    for line in "".join(lists).splitlines():
        assert re.fullmatch(r'\s+"[^"]+",\s+# \S.*', line), f"no reason beside {line.strip()}"


def test_each_lint_exception_has_its_reason():
    for line in pyproject().splitlines():
        if re.match(r'\s+"[A-Z]+\d+",', line):
            assert re.search(r",\s+# \S", line), f"no reason beside {line.strip()}"


def pyproject() -> str:
    return (ROOT / "pyproject.toml").read_text()


def test_no_code_names_what_lies_beside_the_repository():
    for path in MODULES:
        text = path.read_text()
        assert "shared/" not in text, path
        assert "parents[" not in text, path
