"""A row of the table: what is known about a point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Row"]

Row = Mapping[str, Any]
"""Value, or None, of a point for each column of `table.COLUMNS`."""
