"""Room for wide arrays: their Verilog is nested as deep as they have columns, and its words are long numbers."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

__all__ = ["room_for_wide_arrays"]

_DEPTH = 6000  # calls of Python: more than 300 columns, and less than a thread's stack holds
_DIGITS = 100_000  # of a number in Python's text


@contextlib.contextmanager
def room_for_wide_arrays() -> Iterator[None]:
    """Raise Python's limits of recursion and of the digits of numbers inside, not without a bound."""
    depth = sys.getrecursionlimit()
    digits = sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else 0  # since Python 3.10.7
    sys.setrecursionlimit(max(depth, _DEPTH))
    if digits:
        sys.set_int_max_str_digits(max(digits, _DIGITS))
    try:
        yield
    finally:
        sys.setrecursionlimit(depth)
        if digits:
            sys.set_int_max_str_digits(digits)
