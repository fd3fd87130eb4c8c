"""Workloads: the matrix products of networks, split into an engine's jobs, and their cycles by its cycle model."""

from __future__ import annotations

import csv
import dataclasses
import functools
import io
from collections.abc import Sequence
from pathlib import Path

from systoliq.hw.engine import AxiEngine, EngineConfig, JobShape
from systoliq.hw.engine.config import DATAFLOWS
from systoliq.hw.engine.host import blocks
from systoliq.hw.hierarchy import mark_used

from ...files import read_input

__all__ = ["OWN", "Figures", "Product", "choose_dataflow", "engine_of", "jobs_of", "read_workloads", "study"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Product:
    """`count` products [m, k] x [k, n] of a network."""

    network: str
    m: int
    k: int
    n: int
    count: int = 1


def _products(network: str, *shapes: tuple[int, int, int, int]) -> list[Product]:
    return [Product(network=network, m=m, k=k, n=n, count=count) for m, k, n, count in shapes]


OWN: tuple[Product, ...] = (
    # ResNet8 of MLPerf Tiny (32x32x3 images, channels 16, 32, 64), convolutions by im2col.
    *_products(
        "resnet8",
        (1024, 27, 16, 1),
        (1024, 144, 16, 2),
        (256, 144, 32, 1),
        (256, 288, 32, 1),
        (256, 16, 32, 1),
        (64, 288, 64, 1),
        (64, 576, 64, 1),
        (64, 32, 64, 1),
        (1, 64, 10, 1),
    ),
    # BERT-base: 12 layers, 12 heads of 64, width 768, 128 tokens.
    *_products(
        "bert-base_s128",
        (128, 768, 768, 48),
        (128, 64, 128, 144),
        (128, 128, 64, 144),
        (128, 768, 3072, 12),
        (128, 3072, 768, 12),
    ),
    # ViT-Tiny/16 at 224: 12 layers, 3 heads of 64, width 192, 197 tokens.
    *_products(
        "vit-ti16_224",
        (196, 768, 192, 1),
        (197, 192, 192, 48),
        (197, 64, 197, 36),
        (197, 197, 64, 36),
        (197, 192, 768, 12),
        (197, 768, 192, 12),
        (1, 192, 1000, 1),
    ),
)
"""The three default networks."""


def read_workloads(path: Path) -> list[Product]:
    """Products of a CSV file with columns workload, M, K, N and count."""
    with io.StringIO(read_input(path).decode(errors="replace"), newline="") as file:
        try:
            products = [
                Product(network=row["workload"], **{name.lower(): int(row[name]) for name in ("M", "K", "N", "count")})
                for row in csv.DictReader(file)
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{path}: must have the columns workload, M, K, N and count, all but one whole: {error}"
            ) from None
    if not products:
        raise ValueError(f"{path}: must hold at least one product")
    return products


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figures:
    """One network on one engine, its jobs queued one behind the other; the last one's own end makes no difference.

    `limit` is the utilization that the shapes' ragged edges allow, and bytes are each stream's bytes per cycle, on
    average over all jobs; a port is as wide as its word and takes one a cycle at the most.
    """

    network: str
    engine: str
    jobs: int
    macs: int
    cycles: int
    utilization: float
    limit: float
    a_bytes: float
    b_bytes: float
    y_bytes: float

    @property
    def of_limit(self) -> float:
        """Utilization as a share of its limit."""
        return self.utilization / self.limit


def engine_of(config: EngineConfig) -> AxiEngine:
    """The engine, for its cycle model alone: its buffers, which take no cycles, are other ones."""
    return _engine_of(config.replace(a_words=EngineConfig.a_words, b_words=EngineConfig.b_words))


@functools.cache
def _engine_of(config: EngineConfig) -> AxiEngine:
    engine = AxiEngine(config)
    mark_used(engine)
    return engine


def jobs_of(config: EngineConfig, product: Product) -> list[tuple[JobShape, int]]:
    """The jobs into which the driver cuts a product with one scale and zero point for A, and how many of each."""
    rows, columns = blocks(config, product.m, product.k, product.n, False)
    return [
        (JobShape(m=m, k=product.k, n=n, config=config), product.count * above * beside)
        for n, beside in _pieces(product.n, columns)
        for m, above in _pieces(product.m, rows)
    ]


def _pieces(whole: int, most: int) -> list[tuple[int, int]]:
    """Sizes of pieces of at most `most`, and how many of each."""
    return [(size, count) for size, count in ((most, whole // most), (whole % most, 1)) if size and count]


def study(products: Sequence[Product], name: str, config: EngineConfig) -> Figures:
    """Figures of one network's products on one engine."""
    engine = engine_of(config)
    jobs = macs = cycles = whole = a_words = b_words = y = 0
    for product in products:
        for shape, count in jobs_of(config, product):
            jobs += count
            macs += count * shape.macs
            cycles += count * engine.turn(shape)
            whole += count * round(shape.macs / shape.edge_limit)
            a_words += count * shape.a_words
            b_words += count * shape.b_words
            y += count * shape.m * shape.n
    return Figures(
        network=products[0].network,
        engine=name,
        jobs=jobs,
        macs=macs,
        cycles=cycles,
        utilization=macs / (cycles * config.macs_per_cycle),
        limit=macs / whole,
        a_bytes=a_words * config.rows * config.depth / cycles,
        b_bytes=b_words * config.cols * config.depth / cycles,
        y_bytes=y / cycles,
    )


def choose_dataflow(config: EngineConfig, products: Sequence[Product]) -> EngineConfig:
    """`config` with the dataflow that takes fewer cycles for all of `products`, by the cycle model.

    Of float8 there is one.
    """
    if config.float8:
        return config
    candidates = [config.replace(dataflow=dataflow) for dataflow in DATAFLOWS]
    return min(candidates, key=lambda candidate: study(products, candidate.dataflow, candidate).cycles)
