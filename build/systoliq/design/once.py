"""Values that belong to a design and are computed once: its stimulus, for the testbench and all that describes it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from .design import Design

__all__ = ["once"]

_Kind = TypeVar("_Kind", bound=Design)
_Value = TypeVar("_Value")


def once(function: Callable[[_Kind], _Value]) -> Callable[[_Kind], _Value]:
    """Return `function` with a memory: a second call for the same design returns the first call's value."""
    kept: WeakKeyDictionary[_Kind, _Value] = WeakKeyDictionary()

    @functools.wraps(function)
    def remembered(design: _Kind) -> _Value:
        if design not in kept:
            kept[design] = function(design)
        return kept[design]

    return remembered
