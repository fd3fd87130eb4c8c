"""Decisions of earlier runs, kept by the content of what was decided, so that a run of hours can be resumed.

The key holds the emitted harness with the models of its cells, the claims in SMT-LIB, the method, the code that turns
them into queries, and the versions of Yosys with ABC and of Bitwuzla. A proof without an answer is not kept.
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from systoliq.sim.cache import content_key, obtain

from .property import Decision, Property, Verdict

__all__ = ["kept_or_made"]

_SHELF = "proofs"
_FILE = "decision.json"
_TOOLS = ("pyosys", "bitwuzla")
_CODE = ("engines.py", "netlist.py", "unroll.py")
_OF_HARNESS = ("formulas", "free_products", "latency")


class _NoAnswerError(Exception):
    """A decision that another run may make otherwise."""

    def __init__(self, decision: Decision) -> None:
        super().__init__()
        self.decision = decision


def kept_or_made(prop: Property, harness: Any, content: str, make: Callable[[], Decision]) -> Decision:
    """Return the decision about `prop` that was kept, with the seconds that it took, or else what `make` returns.

    `content` is all that the netlist of its `harness` is made of.
    """
    claims = [repr(getattr(harness, name, None)) for name in _OF_HARNESS]
    code = [(Path(__file__).parent / name).read_bytes() for name in _CODE]
    tools = map(importlib.metadata.version, _TOOLS)
    key = content_key(content, repr(prop.method), *claims, *tools, *code)

    def build(folder: Path) -> None:
        start = time.monotonic()
        decision = make()
        if decision.verdict not in (Verdict.PROVEN, Verdict.FAILED):
            raise _NoAnswerError(decision)
        replace(decision, kept=time.monotonic() - start).write(folder / _FILE)

    try:
        folder, was_kept = obtain(_SHELF, key, build)
    except _NoAnswerError as error:
        return error.decision
    decision = Decision.read(folder / _FILE)
    return decision if was_kept else replace(decision, kept=None)
