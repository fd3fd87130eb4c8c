"""Runs: steps that leave nothing to the host between them, and the one list of each run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from systoliq.hw.dma.commands import Placement, command_list
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host.job import AnyJob

from ..steps import HostStep
from .product import LIST_BYTES, MOST_JOBS, Product
from .vector import VectorInMemory

__all__ = ["Run", "joined_list", "steps_of_runs"]

EngineStep = Product | VectorInMemory


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """`steps`, by number, whose work is one list of `size` bytes at `address`; STATUS.jobs is `jobs` at its end.

    The host fills the operands of the first step, and takes Y of the last; Y of the others is in memory as long as a
    later step does not use its place.
    """

    steps: tuple[int, ...]
    address: int
    size: int
    jobs: int


def steps_of_runs(steps: Sequence[HostStep | EngineStep]) -> list[list[EngineStep]]:
    """The steps of the engine, together with those before that leave nothing to the host between them."""
    found: list[list[EngineStep]] = []
    for before, step in zip((None, *steps), steps, strict=False):
        if isinstance(step, HostStep):
            continue
        starts = before is None or isinstance(before, HostStep) or step.needs_host
        if starts or sum(buffer.size for each in (*found[-1], step) for buffer, _ in each.parts) > LIST_BYTES:
            found.append([])
        found[-1].append(step)
    return found


def joined_list(steps: Sequence[EngineStep], config: EngineConfig, bus_bytes: int) -> tuple[bytes, int]:
    """The list of a run, and its last count of jobs.

    Products one behind the other are one queue of jobs: while a step computes, the next one's tables are written, and
    its operands are read that no step before it computes.
    """
    data, jobs, products = b"", 0, list[Product]()
    for step in steps:
        if isinstance(step, Product) and sum(each.jobs for each in (*products, step)) <= MOST_JOBS:
            products.append(step)
            continue
        data += _queue(products, config, bus_bytes)
        jobs = sum(each.jobs for each in products) or jobs
        products = []
        if isinstance(step, VectorInMemory):
            data += step.data
        elif step.jobs <= MOST_JOBS:
            products = [step]
        else:  # a queue for each of its lists
            data, jobs = data + b"".join(each.data for each in step.lists), len(step.lists[-1].pieces)
    return data + _queue(products, config, bus_bytes), sum(each.jobs for each in products) or jobs


def _queue(products: Sequence[Product], config: EngineConfig, bus_bytes: int) -> bytes:
    """The list of the jobs of these products in order, which begins when all results of steps before are in memory."""
    if not products:
        return b""
    jobs, places, computed = list[AnyJob](), list[Placement](), dict[int, str]()
    unknown = set[str]()  # products whose Y may not be in memory yet
    for product in products:
        sources = {"a": product.a_from, "b": product.b_from}
        late = "".join(operand for operand, source in sources.items() if source in unknown)
        if late:
            computed[len(jobs)] = late
            unknown = set()
        unknown.add(product.name)
        for each in product.lists:
            jobs += [piece.job for piece in each.pieces]
            places += each.places
    return command_list(jobs, places, config, bus_bytes, computed=computed).data
