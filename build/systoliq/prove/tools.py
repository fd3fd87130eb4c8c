"""The packages that proofs need: Yosys with ABC, and an SMT solver."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

from systoliq.sim.tools import Tool

__all__ = ["proof_tools"]

_PACKAGES = {"pyosys": "proofs (Yosys and ABC)", "bitwuzla": "proofs (the SMT solver)"}


def proof_tools() -> tuple[Tool, ...]:
    """The tools of `systoliq prove`, found or not."""
    return tuple(_package(name, purpose) for name, purpose in _PACKAGES.items())


def _package(name: str, purpose: str) -> Tool:
    hint, spec = "pip install 'systoliq[formal]'", importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return Tool(name=name, purpose=purpose, hint=hint)
    version = f"{name} {importlib.metadata.version(name)}"
    return Tool(name=name, purpose=purpose, hint=hint, path=Path(spec.origin), version=version)
