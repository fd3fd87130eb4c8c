"""The throughput study: utilization of the engine on the matrix products of networks, from its cycle model.

The cycle model is exact for unstalled hardware (tests/engine), so these are the engine's own figures. Jobs are queued:
a processor writes the next one's registers and tables while one runs, and is taken to be in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from systoliq.hw.engine import EngineConfig

from ..design.engine.workloads import OWN, Figures, Product, study

__all__ = ["CONFIGS", "throughput_figures", "throughput_table"]

CONFIGS = {
    # rows x cols [x depth] [/ lanes, where fewer than cols] [ws: weight-stationary]
    "8x8": EngineConfig(rows=8, cols=8, lanes=8, a_words=4096, b_words=16384, max_columns=4096),
    "16x16": EngineConfig(rows=16, cols=16, lanes=16, a_words=4096, b_words=16384, max_columns=4096),
    "16x16x4": EngineConfig(rows=16, cols=16, depth=4, lanes=16, a_words=1024, b_words=4096, max_columns=4096),
    "16x16/4": EngineConfig(rows=16, cols=16, lanes=4, a_words=4096, b_words=16384, max_columns=4096),
    "16x16 ws": EngineConfig(
        rows=16,
        cols=16,
        lanes=16,
        a_words=16384,
        b_words=256,
        max_columns=4096,
        max_rows=1024,
        dataflow="weight-stationary",
    ),
    "32x32": EngineConfig(rows=32, cols=32, lanes=32, a_words=4096, b_words=16384, max_columns=4096),
}


def throughput_figures(products: Sequence[Product] | None = None) -> list[Figures]:
    """Figures of every network of `products` (by default `OWN`) on every engine of `CONFIGS`."""
    every = OWN if products is None else products
    networks = list(dict.fromkeys(product.network for product in every))
    return [
        study([product for product in every if product.network == network], name, config)
        for network in networks
        for name, config in CONFIGS.items()
    ]


def throughput_table(figures: Sequence[Figures] | None = None) -> Table:
    """The study as a table: for each network and engine, utilization next to its limit, and bytes per cycle."""
    table = Table(
        title="Engine: utilization by the cycle model, the limit that ragged edges set, bytes per cycle of each stream",
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    for heading in ("network", "engine", "jobs", "cycles", "utilization", "limit", "of limit", "A", "B", "Y (8 bits)"):
        table.add_column(heading, justify="left" if heading in ("network", "engine") else "right")
    previous = ""
    for each in throughput_figures() if figures is None else figures:
        numbers: list[Any] = [f"{each.jobs:,d}", f"{each.cycles:,d}"]
        numbers += [f"{value:.4f}" for value in (each.utilization, each.limit, each.of_limit)]
        numbers += [f"{value:.2f}" for value in (each.a_bytes, each.b_bytes, each.y_bytes)]
        table.add_row("" if each.network == previous else each.network, each.engine, *numbers)
        previous = each.network
    return table
