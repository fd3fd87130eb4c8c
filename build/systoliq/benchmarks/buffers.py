"""Buffers with which one bus of 64 bits keeps an array of 8 x 8 busy: least sizes for each network, by the models.

The cycle model is exact for unstalled hardware; the masters ask for the beats of the model (tests/engine).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from systoliq.hw.engine import EngineConfig

from ..design.engine.traffic import Traffic, least_buffers
from ..design.engine.workloads import OWN, Product

__all__ = ["BUS_BYTES", "CONFIG", "buffer_data", "buffer_figures", "buffer_table"]

CONFIG = EngineConfig(rows=8, cols=8, lanes=8, max_columns=4096)
BUS_BYTES = 8


def buffer_figures(products: Sequence[Product] | None = None) -> list[Traffic]:
    """Figures of every network of `products` (by default `OWN`)."""
    every = OWN if products is None else products
    networks = dict.fromkeys(product.network for product in every)
    return [
        least_buffers([product for product in every if product.network == network], CONFIG, BUS_BYTES)
        for network in networks
    ]


def buffer_table(figures: Sequence[Traffic]) -> Table:
    """The figures as a table."""
    table = Table(
        title="Engine of 8 x 8, one bus of 64 bits for A, B and Y: least buffers",
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    for heading in ("network", "a_words", "b_words", "KiB", "jobs", "bytes a job", "MACs a byte", "of limit"):
        table.add_column(heading, justify="left" if heading == "network" else "right")
    for each in figures:
        size = each.config.a_words * each.config.rows + each.config.b_words * each.config.cols
        table.add_row(
            each.network,
            *(f"{value:,d}" for value in (each.config.a_words, each.config.b_words)),
            f"{size / 1024:,.1f}",
            f"{each.jobs:,d}",
            f"{each.bytes_per_job:,.0f}",
            f"{each.macs_per_byte:.1f}",
            f"{each.of_limit:.4f}",
        )
    return table


def buffer_data(figures: Sequence[Traffic]) -> list[dict[str, Any]]:
    """The figures, ready for JSON."""
    return [
        {name: value for name, value in dataclasses.asdict(each).items() if name != "config"}
        | {"a_words": each.config.a_words, "b_words": each.config.b_words}
        | {"bytes_per_job": each.bytes_per_job, "of_limit": each.of_limit}
        for each in figures
    ]
