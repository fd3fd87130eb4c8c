"""Resources of boards: the package amaranth-boards, which is needed only where a bitstream is made."""

from __future__ import annotations

from types import ModuleType

from ..errors import need

__all__ = ["boards_module"]


def boards_module(name: str) -> ModuleType:
    """A module of amaranth-boards."""
    return need(f"amaranth_boards.{name}", "amaranth-boards", "the pins of boards", extra="board")
