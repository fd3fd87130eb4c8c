"""System on a chip: a RISC-V, memory, a UART and the DMA engine, on one AXI4 bus."""

from .config import SocConfig
from .system import Soc

__all__ = ["Soc", "SocConfig"]
