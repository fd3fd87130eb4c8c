"""Campaign: mutants of golden or hw, one after the other in a copy of the tree, each with the tests that matter."""

from __future__ import annotations

import random
import resource
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from choice import FIRST, chosen_tests
from forked import failing_test
from mutation import Mutation, mutations

__all__ = ["ROOT", "Mutant", "Outcome", "copied_tree", "drawn", "of_module", "tried"]

ROOT = Path(__file__).resolve().parents[2]
_COPIED = ("golden", "hw", "sim", "build", "tests", "docs", "examples", "pyproject.toml", "README.md")


_RUNS = (FIRST, 12)
"""After so many files of tests another run begins: to find all their tests takes longer than most mutants live."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A mutation of the module at `path`, below the tree."""

    path: Path
    mutation: Mutation

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.mutation.old, self.mutation.new))
        return f"{self.path}:{self.mutation.line}: {old[:70]}  ->  {new[:70]}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """`killer`: the test that failed, "time" where one does not end, None where the mutant survived."""

    mutant: Mutant
    killer: str | None


def drawn(part: str, count: int, seed: int) -> list[Mutant]:
    """So many of all mutants of a part, golden or hw; the same for the same seed and sources."""
    paths = sorted((ROOT / part / "systoliq" / part).rglob("*.py"))
    every = [mutant for path in paths for mutant in of_module(path.relative_to(ROOT))]
    return random.Random(f"{part} {seed}").sample(every, min(count, len(every)))


def of_module(path: Path, line: int | None = None) -> list[Mutant]:
    """All of the module at `path`, below the tree, or those that begin in one line of it."""
    every = [Mutant(path=path, mutation=mutation) for mutation in mutations((ROOT / path).read_bytes())]
    return [mutant for mutant in every if line in (None, mutant.mutation.line)]


@contextmanager
def copied_tree() -> Iterator[Path]:
    """A copy of what tests read, in a folder that goes again."""
    # what a test that is killed had started may still write there
    with tempfile.TemporaryDirectory(prefix="systoliq-python-mutants-", ignore_cleanup_errors=True) as folder:
        for name in _COPIED:
            source, target = ROOT / name, Path(folder) / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
        yield Path(folder)


def tried(tree: Path, mutant: Mutant, *, seconds: float, hangs: float) -> Outcome:
    """What becomes of `mutant` in the copy `tree`, which is as before when it ends; times as of `failing_test`."""
    file = tree / mutant.path
    source = file.read_bytes()
    _write(file, mutant.mutation.applied(source))
    try:
        tests, begun = chosen_tests(tree, mutant.path), _seconds()
        for first, last in pairwise((0, *_RUNS, None)):
            left = seconds - (_seconds() - begun)
            some = tests[first:last]
            if some and left > 0 and (killer := failing_test(tree, some, seconds=left, hangs=hangs)):
                return Outcome(mutant=mutant, killer=killer)
        return Outcome(mutant=mutant, killer=None)
    finally:
        _write(file, source)


def _seconds() -> float:
    """Processor time of all test runs so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _write(file: Path, source: bytes) -> None:
    """The file, without the bytecode of another of its size and age."""
    file.write_bytes(source)
    for old in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        old.unlink()
