"""Comparison of the claims of a certificate with derived values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .package import CERTIFICATE

__all__ = ["unlike"]


def unlike(claimed: Any, derived: Any, path: str = "") -> Iterator[str]:
    """Return the differences between the certificate and the derived values; claims without a derived value are
    ignored.
    """
    if isinstance(derived, dict) and isinstance(claimed, dict):
        for key in derived:
            if key in claimed:
                yield from unlike(claimed[key], derived[key], f"{path}.{key}" if path else key)
            else:
                yield f"{CERTIFICATE}: has no {path}.{key}".replace("no .", "no ")
    elif isinstance(derived, list) and isinstance(claimed, list) and len(derived) == len(claimed):
        for index, (one, other) in enumerate(zip(claimed, derived, strict=True)):
            yield from unlike(one, other, f"{path}[{index}]")
    elif claimed != derived:
        yield f"{CERTIFICATE}: {path} is {claimed!r}, but the Verilog and the layer give {derived!r}"
