"""A stand-in: no assertion is rewritten."""

from __future__ import annotations

__all__ = ["install_importhook"]

install_importhook = None
