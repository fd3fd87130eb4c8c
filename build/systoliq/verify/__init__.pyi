from .boundary import (
    BASES,
    Ground,
    boundary_lines,
    without_regeneration,
)
from .checks import (
    layer_digest,
    verify_package,
)
from .package import (
    NotAPackageError,
)
from .report import (
    Report,
    StageReport,
)

__all__ = [
    "BASES",
    "Ground",
    "NotAPackageError",
    "Report",
    "StageReport",
    "boundary_lines",
    "layer_digest",
    "verify_package",
    "without_regeneration",
]
