"""Errors on the user's side, reported in one line: `error: ...`."""

from __future__ import annotations

import contextlib
import importlib
import os
import reprlib
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

from systoliq.failed import FailedError

__all__ = [
    "InputError",
    "LinkError",
    "MissingPackageError",
    "SynthesisError",
    "TooLargeError",
    "expect",
    "meant",
    "naming",
    "need",
    "path_of",
]


class InputError(ValueError):
    """A request cannot be met; the message names the argument, what was expected and what was given."""


class TooLargeError(InputError):
    """No plan, or not the one that was asked for, fits the part."""


class LinkError(FailedError):
    """A board does not answer as it must: unplugged, another design, or too many broken frames."""


class MissingPackageError(FailedError):
    """A Python package that only some commands need is not installed."""


class SynthesisError(FailedError):
    """Yosys or nextpnr failed for another reason than space."""


def expect(name: str, value: object, *kinds: type) -> None:
    """A TypeError where the argument `name` is of none of these kinds."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        *others, last = map(_with_article, kinds)
        wanted = f"{', '.join(others)} or {last}" if others else last
        raise TypeError(f"{name} must be {wanted}, not {reprlib.repr(value)}")


def _with_article(kind: type) -> str:
    if kind is type(None):
        return "None"
    return f"{'an' if kind.__name__[0] in 'aeioAEIO' else 'a'} {kind.__name__}"


def meant(name: str, names: Iterable[str]) -> str:
    """Return a question that ends a message, with the one of `names` that `name` is close to; empty if none is."""
    close = get_close_matches(name.lower(), list(names), n=1)
    return f": did you mean {close[0]}?" if close else ""


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Begin the message of an InputError with the file that it is about."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def path_of(name: str, value: object) -> Path:
    """The argument `name`, a str or a path, as a Path; a TypeError for anything else, a ValueError for an empty str."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be a str or a Path, not {reprlib.repr(value)}")
    if not os.fspath(value):
        raise ValueError(f"{name} must be the path of a file or a directory, not an empty string")
    return Path(value)


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
