"""Arrays without a layer."""

from __future__ import annotations

from typing import Any

from systoliq.hw import ArrayConfig, AxiBareArray, BareArray
from systoliq.synth import Block


def bare_array(cells: str, **size: Any) -> Block:
    config = ArrayConfig(cells=cells, **size)
    component = AxiBareArray(BareArray(config))
    return Block(component=component, name="array", cells=cells, macs_per_cycle=config.macs_per_cycle)
