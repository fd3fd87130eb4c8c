"""Traffic of a DMA engine: beats of memory for each job, and the buffers with which one bus keeps up."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from systoliq.hw.engine import EngineConfig, JobShape

from .workloads import Product, engine_of, jobs_of

__all__ = ["LARGEST_WORDS", "Traffic", "beats_of", "least_buffers", "traffic"]

LARGEST_WORDS = 1 << 16
"""Words of an operand's buffer at the most."""
_ENOUGH = 1.01  # times the cycles with the largest buffers


@dataclasses.dataclass(frozen=True, kw_only=True)
class Traffic:
    """One network's products on one engine, whose A, B and Y of 8 bits share one bus of `bus_bytes`.

    `cycles` sums the longer of the array's and the bus's cycles over jobs; `edge_cycles` is the array's minimum with
    the shapes' ragged edges.
    """

    network: str
    config: EngineConfig
    bus_bytes: int
    jobs: int
    macs: int
    cycles: int
    edge_cycles: int
    beats: int

    @property
    def of_limit(self) -> float:
        """Utilization as a share of the limit from ragged edges."""
        return self.edge_cycles / self.cycles

    @property
    def bytes_per_job(self) -> float:
        """Bytes that a job moves, on average."""
        return self.beats * self.bus_bytes / self.jobs

    @property
    def macs_per_byte(self) -> float:
        """Multiply-accumulates for each byte moved."""
        return self.macs / (self.beats * self.bus_bytes)


def beats_of(shape: JobShape, bus_bytes: int) -> tuple[int, int, int]:
    """Beats of A, B and Y of 8 bits, where rows of A begin with a beat, B is tiled, and Y's tiles begin with one."""
    config = shape.config
    of_tile = -(-config.cols // bus_bytes)
    of_last = -(-((shape.n - 1) % config.cols + 1) // bus_bytes)
    a = shape.m * -(-shape.k // bus_bytes)
    b = -(-shape.b_words * config.cols * config.depth // bus_bytes)
    return a, b, shape.m * (of_tile * (shape.column_tiles - 1) + of_last)


def traffic(products: Sequence[Product], config: EngineConfig, bus_bytes: int) -> Traffic:
    """Bytes and cycles of the products of one network."""
    engine = engine_of(config)
    jobs = macs = cycles = edges = beats = 0
    for product in products:
        for shape, count in jobs_of(config, product):
            own = sum(beats_of(shape, bus_bytes))
            jobs += count
            macs += count * shape.macs
            beats += count * own
            cycles += count * max(engine.turn(shape), own)
            edges += count * shape.groups * shape.column_tiles * shape.beats
    return Traffic(
        network=products[0].network,
        config=config,
        bus_bytes=bus_bytes,
        jobs=jobs,
        macs=macs,
        cycles=cycles,
        edge_cycles=edges,
        beats=beats,
    )


def least_buffers(products: Sequence[Product], config: EngineConfig, bus_bytes: int) -> Traffic:
    """`traffic` with the least buffers, in bytes, that cost at most 1 % more cycles than the largest there are."""
    goal = _ENOUGH * traffic(products, _buffered(config, LARGEST_WORDS, LARGEST_WORDS), bus_bytes).cycles
    size = config.rows, config.cols
    sizes = sorted(_sizes(), key=lambda words: (words[0] * size[0] + words[1] * size[1], words))
    found = (traffic(products, _buffered(config, *words), bus_bytes) for words in sizes)
    return next(each for each in found if each.cycles <= goal)


def _sizes() -> Iterator[tuple[int, int]]:
    words = [1 << bits for bits in range(2, LARGEST_WORDS.bit_length())]
    return ((a, b) for a in words for b in words)


def _buffered(config: EngineConfig, a_words: int, b_words: int) -> EngineConfig:
    return config.replace(a_words=a_words, b_words=b_words)
