from .checks import (
    layer_digest,
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
    "layer_digest",
    "verify_package",
]
