"""`systoliq verify DIR`: a package against its certificate, by a second method."""

from .checks import verify_package
from .network import TESTED
from .package import NotAPackageError
from .report import Report, StageReport

__all__ = ["TESTED", "NotAPackageError", "Report", "StageReport", "verify_package"]
