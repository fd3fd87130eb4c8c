"""Results of a run: the tests that ran, and the messages of those that failed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from .process import SimulationError

__all__ = ["Failure", "Results", "read_results"]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A cocotb test that failed, with its message."""

    test: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Results:
    """Results of one run. `seconds` is wall time including Python's start; `log` is all output."""

    tests: tuple[str, ...]  # those that ran
    failures: tuple[Failure, ...]
    seconds: float
    log: Path

    @property
    def passed(self) -> bool:
        """True if every test that ran passed (at least one ran, or there are no results)."""
        return not self.failures

    def check(self) -> Results:
        """Return these results, or raise `SimulationError` with the messages of the failed tests."""
        if self.failures:
            said = "\n".join(f"{failure.test}: {failure.message}" for failure in self.failures)
            raise SimulationError(f"{len(self.failures)} of {len(self.tests)} tests failed (log: {self.log}):\n{said}")
        return self


def read_results(path: Path) -> tuple[tuple[str, ...], tuple[Failure, ...]]:
    """Read cocotb's xUnit file; skipped tests did not run."""
    tests, failures = [], []
    for case in ElementTree.parse(path).iter("testcase"):  # written by the simulation just run
        if case.find("skipped") is not None:
            continue
        name = f"{case.get('classname')}.{case.get('name')}"
        tests.append(name)
        for kind in ("failure", "error"):
            for element in case.iter(kind):
                message = element.get("error_msg") or element.get("message") or (element.text or "").strip()
                failures.append(Failure(test=name, message=message or kind))
    return tuple(tests), tuple(failures)
