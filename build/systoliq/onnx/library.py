"""Errors of the `onnx` library, as errors of systoliq."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

from ..errors import InputError, MissingPackageError

__all__ = ["library"]


@contextlib.contextmanager
def library(what: str) -> Iterator[None]:
    """Convert any error of the `onnx` library within this block to an InputError, `what` and the reason in one line; no
    warnings.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (InputError, MissingPackageError):
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"{what} ({lines[0].rstrip('.')})") from error
