"""Errors on the user's side, reported in one line: `error: ...`."""

from __future__ import annotations

import importlib
from types import ModuleType

from systoliq.failed import FailedError

__all__ = ["InputError", "LinkError", "MissingPackageError", "SynthesisError", "need"]


class InputError(ValueError):
    """What was asked for cannot be done; the message names the thing, what was expected and what was given."""


class LinkError(FailedError):
    """A board does not answer as it must: unplugged, another design, or too many broken frames."""


class MissingPackageError(FailedError):
    """A Python package that only some commands need is not installed."""


class SynthesisError(FailedError):
    """Yosys or nextpnr failed for another reason than space."""


def need(module: str, package: str, purpose: str, *, extra: str = "demo") -> ModuleType:
    """Import `module`, or say which package it comes with and how to get it: in our extra `extra`."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingPackageError(
            f"{package} is not installed; it is needed for {purpose}: pip install 'systoliq[{extra}]' (or {package})"
        ) from error
