"""A cosimulation's result for designs of layers and arrays, whose streams share one bench."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy.typing as npt

from systoliq.hw import ArrayConfig
from systoliq.sim.simulated import Simulated

__all__ = ["cosimulated"]


def cosimulated(
    result: Simulated, name: str, config: ArrayConfig, outputs: dict[str, npt.NDArray[Any]], **facts: Any
) -> Simulated:
    """Return `result` with these outputs, and with the array and `facts` in its report."""
    array = {key: getattr(config, key) for key in ("rows", "cols", "depth", "accumulator_bits", "cells")}
    return dataclasses.replace(result, name=name, outputs=outputs).with_facts(array=array, **facts)
