"""Parallelism: how much a stage of a network does in a cycle."""

from __future__ import annotations

import dataclasses

__all__ = ["Parallelism"]


@dataclasses.dataclass(frozen=True, kw_only=True, order=True)
class Parallelism:
    """Parallelism of a stage: ``cols`` output channels, each the sum of ``depth`` products.

    A depth of more than a pixel's channels takes several pixels of a window. An operator whose outputs are no products
    of many channels has a depth of 1, and ``cols`` are its lanes. ``cells`` are the cells of its products, and
    ``lane_cells`` of its requantizers; empty means the pipeline's.
    """

    cols: int = 1
    depth: int = 1
    cells: str = ""
    lane_cells: str = ""

    def __post_init__(self) -> None:
        for name in ("cols", "depth"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be a positive integer, not {value!r}")
