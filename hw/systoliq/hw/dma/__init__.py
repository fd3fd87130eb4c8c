"""Direct memory access: rows of matrices between memory on AXI4 and streams."""

from .axi4 import BUS_BYTES, axi4_read, axi4_write
from .bursts import Bursts
from .read_master import ReadMaster
from .runs import Run, Walk, WalkSettings

__all__ = ["BUS_BYTES", "Bursts", "ReadMaster", "Run", "Walk", "WalkSettings", "axi4_read", "axi4_write"]
