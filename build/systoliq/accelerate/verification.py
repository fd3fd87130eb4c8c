"""Verification of a package, by the two parts of `systoliq verify`: its certificate, and every file regenerated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..generator import CERTIFICATE
from ..package.regenerate import Comparison, compare_regenerated
from ..verify import Ground, Report, verify_package

__all__ = ["Verification", "check_package"]


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Results of a verification: from the certificate (`report`, None if the package has none) and from comparing every
    file (`compared`, None if the certificate was already refused).
    """

    report: Report | None
    compared: Comparison | None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the package is refused; empty if it is not."""
        return (*(self.report.reasons if self.report else ()), *(self.compared.reasons if self.compared else ()))

    @property
    def boundary(self) -> Sequence[Ground]:
        """The basis of each result."""
        return self.report.boundary if self.report else ()

    def summary(self) -> str:
        """Return the verdict on a package that is not refused, in one line."""
        same = "" if self.compared is None else f"{self.compared.files} files equal those of a regenerated package"
        if self.report is None:
            return f"no certificate; {same}"
        certified, count = sum(not stage.tested for stage in self.report.stages), len(self.report.stages)
        what = f"{certified} of {count} stages" if count else f"{self.report.columns} columns"
        return f"{what} verified against {self.report.formula} from the Verilog; {same}"


def check_package(directory: Path, *, progress: Callable[[str], None] = lambda stage: None) -> Verification:
    """Check the package in `directory`."""
    report = verify_package(directory, progress) if (directory / CERTIFICATE).exists() else None
    if report is not None and report.reasons:
        return Verification(report=report, compared=None)
    progress("regenerate and compare")
    return Verification(report=report, compared=compare_regenerated(directory))
