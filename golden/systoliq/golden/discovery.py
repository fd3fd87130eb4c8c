"""Discovery: all modules of a package, so that a new file needs no line in a registry."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

__all__ = ["modules_of"]


def modules_of(package: str) -> tuple[ModuleType, ...]:
    """Import the modules of the package of this name, and return them in the order of their names."""
    path = importlib.import_module(package).__path__
    return tuple(importlib.import_module(f"{package}.{found.name}") for found in pkgutil.iter_modules(path))
