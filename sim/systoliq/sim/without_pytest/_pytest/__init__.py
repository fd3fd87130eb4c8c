"""A stand-in for the inner part of pytest: what cocotb imports and does not call."""
