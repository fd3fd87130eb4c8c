from .checks import (
    verify_package,
)
from .network import (
    TESTED,
)
from .package import (
    NotAPackageError,
)
from .report import (
    Report,
    StageReport,
)

__all__ = [
    "TESTED",
    "NotAPackageError",
    "Report",
    "StageReport",
    "verify_package",
]
