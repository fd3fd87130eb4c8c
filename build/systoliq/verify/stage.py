"""A stage of a network as its package describes it, and the findings about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .model import Model
from .modules import Module

__all__ = ["Found", "Stage", "signed"]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The data of a stage: its `claimed` part of the certificate, its `arrays` and its `module` of `modules`.

    `model` is the network whose node the stage computes.
    """

    claimed: dict[str, Any]
    arrays: Mapping[str, Any]
    modules: Mapping[str, Module]
    model: Model
    module: str
    verilog: str
    source: str
    progress: Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Found:
    """Findings about a stage. `facts`: the expected certificate; `reasons`: other faults; `tried`: the checks in words.

    `complete`: columns that were evaluated on every accumulator. `open`: what is only tested of a stage that is
    exact in part. `tested`: nothing of the stage is read here.
    """

    facts: dict[str, Any]
    tried: str
    reasons: Sequence[str] = ()
    points: int = 0
    complete: int = 0
    is_layer: bool = False
    open: str = ""
    tested: bool = False


def signed(integers: Any) -> bool:
    """True if an array has signed integers."""
    return bool(integers.dtype.kind == "i")
