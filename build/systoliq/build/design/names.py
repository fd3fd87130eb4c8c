"""Names of Verilog modules."""

from __future__ import annotations

import re

from ..errors import InputError

__all__ = ["module_name"]

# Verilog-2005's words that a file is likely to be named after; a module cannot be.
_RESERVED = frozenset(
    [
        *("buf", "case", "cell", "config", "design", "event", "function", "input", "instance", "large", "library"),
        *("medium", "module", "output", "parameter", "real", "release", "signed", "small", "strength", "table"),
        *("task", "time", "unsigned", "use", "wire"),
    ]
)


def module_name(given: str | None, default: str) -> str:
    """The name that was asked for, which must be a plain Verilog identifier, or `default` made into one."""
    if given is not None and _identifier(given) != given:
        raise InputError(f"name must be a Verilog identifier of letters, digits and _, and no keyword, not {given!r}")
    return _identifier(default) if given is None else given


def _identifier(name: str) -> str:
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if re.match(r"[A-Za-z]", plain) and plain not in _RESERVED else f"layer_{plain}"
