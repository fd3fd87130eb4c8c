"""Scope within which each model file is parsed once: a command of the command line.

A Python program that opens a file twice reads it twice, since the file or the data beside it may have changed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Any

__all__ = ["once", "parsed_once"]

_HELD: ContextVar[dict[Hashable, Any] | None] = ContextVar("models", default=None)


@contextlib.contextmanager
def parsed_once() -> Iterator[None]:
    """Keep the models that are opened in this block, until it ends."""
    token = _HELD.set({})
    try:
        yield
    finally:
        _HELD.reset(token)


def once(key: Hashable, make: Callable[[], Any]) -> Any:
    """Return the result of `make`; in a block of `parsed_once`, its result for the first call with this `key`."""
    held = _HELD.get()
    if held is None:
        return make()
    if key not in held:
        held[key] = make()
    return held[key]
