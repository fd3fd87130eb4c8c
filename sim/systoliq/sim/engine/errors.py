"""Exceptions: one for each error code of the engine, made from the register description."""

from __future__ import annotations

from collections.abc import Mapping

from systoliq.failed import FailedError
from systoliq.hw.engine import ERRORS

__all__ = ["ENGINE_ERRORS", "EngineError", "engine_error", "error_classes"]


class EngineError(FailedError):
    """The engine refused a job or gave it up. `code` is the code in STATUS.error; clear resets it."""

    code = 0


def error_classes(errors: Mapping[str, tuple[int, str]]) -> dict[int, type[EngineError]]:
    """Code -> class; "A_ENDED_EARLY" becomes `AEndedEarlyError`."""
    return {
        code: type(f"{name.title().replace('_', '')}Error", (EngineError,), {"code": code, "__doc__": meaning})
        for name, (code, meaning) in errors.items()
    }


ENGINE_ERRORS = error_classes(ERRORS)
"""Code -> class, for this version of the register map."""


def engine_error(code: int, of: str) -> EngineError:
    """The exception for a code that appeared while the engine did what `of` names."""
    kind = ENGINE_ERRORS.get(code)
    if kind is None:
        return EngineError(f"{of}: unknown error code {code}")
    return kind(f"{of}: {kind.__doc__}")
