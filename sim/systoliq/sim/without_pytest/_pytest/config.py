"""A stand-in: there is no configuration."""

from __future__ import annotations

__all__ = ["Config"]

Config = None
