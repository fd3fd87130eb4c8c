from .axi4 import axi4_read, axi4_write
from .bursts import (
    Bursts,
)
from .bus import BUS_BYTES
from .read_master import (
    ReadMaster,
)
from .runs import (
    Run,
    Walk,
    WalkSettings,
)

__all__ = [
    "BUS_BYTES",
    "Bursts",
    "ReadMaster",
    "Run",
    "Walk",
    "WalkSettings",
    "axi4_read",
    "axi4_write",
]
