"""Widths of the AXI4 bus, for those who choose one and need no hardware."""

__all__ = ["ADDRESS_BITS", "BUS_BYTES"]

ADDRESS_BITS = 32
BUS_BYTES = (4, 8, 16)
"""Widths of the data bus, in bytes."""
