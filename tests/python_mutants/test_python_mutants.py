"""A few of `make mutants-python` in every test run: mutants that a test is known to kill, and what is not mutated."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from campaign import drawn
from choice import chosen_tests
from mutation import mutations

from ..conftest import ROOT

SOURCE = b'''"""Text with 1 + 1."""
from typing import TYPE_CHECKING
__all__ = ["f"]
if TYPE_CHECKING:
    A = 1
def f(x: "int | 1" = 3) -> tuple[int, 2]:
    """Another: x < 1."""
    if x < 4:
        raise ValueError(f"x must be at least {5}, not {x + 6}")
    x -= 1
    with m.If(x):
        check(x is not None and not x)
    return zip(x, y, strict=True), dataclass(frozen=True, kw_only=True)
'''


def test_code_is_mutated_and_text_is_not():
    found = [(each.line, each.old, each.new) for each in mutations(SOURCE)]
    raised = 'raise ValueError(f"x must be at least {5}, not {x + 6}")'
    assert found == [
        (6, "3", "(3 + 1)"), (6, "3", "(3 - 1)"), (8, "x < 4", "(not (x < 4))"), (8, "<", "<="), (8, "4", "(4 + 1)"),
        (8, "4", "(4 - 1)"), (9, raised, "pass"), (10, "x -= 1", "pass"), (10, "1", "(1 + 1)"), (10, "1", "(1 - 1)"),
        (11, "x", "~(x).bool()"), (12, "check(x is not None and not x)", "pass"), (12, "is not", "is"),
        (12, "and", "or"), (12, "not x", "x"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_module_s_own_tests_come_first():
    chosen = chosen_tests(ROOT, Path("hw/systoliq/hw/mac/parts.py"))
    assert chosen[0] == Path("tests/hw/mac/test_parts.py")
    assert Path("tests/hw/mac/test_fabric.py") in chosen[1:]


@pytest.mark.slow
def test_draws_are_those_of_the_seed():
    one, again, other = (drawn("golden", 20, seed) for seed in (1, 1, 2))
    assert one == again != other


def run_py(*arguments: str, path: Path | None = None) -> str:
    """What the program says, in a process that has not imported systoliq; modules are also looked for in ``path``."""
    command = [sys.executable, Path(__file__).with_name("run.py"), *arguments]
    environment = {**os.environ, **({} if path is None else {"PYTHONPATH": str(path)})}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment).stdout


@pytest.mark.slow
def test_known_mutants_are_killed_by_their_own_tests(tmp_path):
    """Both of a line, whatever else is named ``tests``; the worktree stays as it is."""
    (tmp_path / "tests").mkdir()
    path = ROOT / "golden/systoliq/golden/archive.py"
    source = path.read_text()
    line = source[: source.index("if len(infos) > ARCHIVE_ARRAYS:")].count("\n") + 1
    said = run_py("--at", f"golden/systoliq/golden/archive.py:{line}", path=tmp_path).splitlines()
    assert [each.partition(" golden/")[0] for each in said[:2]] == ["killed", "killed"]
    assert all("  by tests/golden/test_archive.py::" in each for each in said[:2])
    assert said[-1] == "| all | 2 | 2 |"
    assert path.read_text() == source


@pytest.mark.slow
@pytest.mark.parametrize(("part", "count", "least"), [("golden", 4, 3), ("hw", 2, 1)])
def test_most_of_a_few_that_are_drawn_are_killed(part, count, least):
    said = run_py("--part", part, "--count", str(count), "--seed", "2").splitlines()
    assert sum(each.startswith("killed ") for each in said) >= least, said
