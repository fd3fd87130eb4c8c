"""`systoliq verify DIR`: a package against its certificate, by a second method."""

from .checks import Report, verify_package
from .package import NotAPackageError

__all__ = ["NotAPackageError", "Report", "verify_package"]
