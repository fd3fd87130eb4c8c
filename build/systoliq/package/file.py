"""A file of a package, not yet written."""

from __future__ import annotations

__all__ = ["File"]

File = tuple[str, bytes]
"""Description and content of a file."""
