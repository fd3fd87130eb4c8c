"""What can go wrong on the user's side: errors that the command line tells in one line."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(ValueError):
    """What was asked for cannot be done; the message names the thing, what was expected and what was given."""
