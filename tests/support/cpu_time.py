"""CPU time by test, processes that it waited for included: it says the same on a busy machine, which a clock does not.

A test pays for its setup, so that the first test of a module pays for what the others share.
"""

from __future__ import annotations

import resource
from collections.abc import Generator
from typing import Any

import pytest

__all__ = ["CpuTime", "add_option"]

SHOWN = 15
EXEMPT = ("slow", "soak")


def add_option(parser: pytest.Parser) -> None:
    """Add the option `--cpu-limit`."""
    text = "fail the run if an unmarked test takes more CPU time than this, in seconds"
    parser.addoption("--cpu-limit", type=float, metavar="SECONDS", help=text)


def spent() -> float:
    """CPU seconds of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class CpuTime:
    """Measure each test, list the most expensive ones, and hold unmarked ones to `--cpu-limit`.

    With pytest-xdist a worker measures and the controller adds up: the time travels in the test's reports.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.last = spent()
        self.seconds: dict[str, float] = {}
        self.exempt: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Start with the test: what was spent between two tests belongs to neither."""
        self.last = spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, Any, Any]:
        """Note in each phase's report what the phase took."""
        report = yield
        now = spent()
        report.cpu_seconds, self.last = now - self.last, now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add up the phases of a test, wherever it ran."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + getattr(report, "cpu_seconds", 0.0)
        if any(mark in report.keywords for mark in EXEMPT):
            self.exempt.add(report.nodeid)

    def over(self) -> list[str]:
        """Unmarked tests that took more than the limit."""
        if self.limit is None:
            return []
        return [name for name, took in self.seconds.items() if took > self.limit and name not in self.exempt]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A run with a test over the limit has failed."""
        if session.exitstatus == pytest.ExitCode.OK and self.over():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """List the most expensive tests, and those over the limit."""
        if not self.seconds:
            return
        terminalreporter.section(f"CPU time: {sum(self.seconds.values()):.0f} s in {len(self.seconds)} tests")
        ordered = sorted(self.seconds.items(), key=lambda item: -item[1])
        for name, took in ordered[:SHOWN]:
            if took >= 1:
                terminalreporter.line(f"{took:7.1f} s  {name}")
        for name in self.over():
            took, limit = self.seconds[name], self.limit
            text = (
                f"over the limit of {limit:g} s of CPU time: {name} took {took:.1f} s; mark it slow or make it cheaper"
            )
            terminalreporter.line(text, red=True)
