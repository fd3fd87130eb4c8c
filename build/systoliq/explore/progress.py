"""Progress: the interface to which work reports how far it is."""

from __future__ import annotations

from typing import Protocol

__all__ = ["NoProgress", "Progress"]


class Progress(Protocol):
    """Receiver of reports on how far a stage has come."""

    def start(self, stage: str, total: int, cached: int) -> None:
        """`cached` of `total` points were in the store."""

    def advance(self, stage: str, points: int) -> None:
        """Report `count` more finished points."""

    def end(self, stage: str) -> None:
        """The stage is over."""

    def note(self, text: str) -> None:
        """Report one line about the work that begins."""


class NoProgress:
    """No reports."""

    def start(self, stage: str, total: int, cached: int) -> None:
        """Say nothing."""

    def advance(self, stage: str, points: int) -> None:
        """Say nothing."""

    def end(self, stage: str) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""
