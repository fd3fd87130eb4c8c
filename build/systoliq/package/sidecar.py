"""The JSON sidecar: facts about the Verilog for users and for tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..design.design import Design
from ..generator import GENERATOR, versions
from .describe import describe

__all__ = ["FORMAT", "sidecar"]

FORMAT = 1


def sidecar(design: Design, files: Mapping[str, str]) -> dict[str, Any]:
    """All facts about `design`, ready for JSON; `files` maps each file of the package to its description."""
    return {
        "generator": GENERATOR,
        "format": FORMAT,
        "name": design.name,
        "top": design.name,
        "kind": design.kind,
        "cells": design.cells,
        "clocking": {"clock": "clk", "edge": "rising", "reset": "rst", "reset_kind": "synchronous, active high"},
        **({} if design.hardware is None else {"hardware": design.hardware.facts}),
        "ports": design.ports,
        **describe(design),
        "files": dict(files),
        "versions": versions(),
    }
