"""Program: a compiled model, as its files describe it and as the simulation plays it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from systoliq.hw.engine import EngineConfig

from ..steps import HostStep
from .memory_map import Buffer
from .product import LIST_BYTES, Product
from .vector import VectorInMemory

__all__ = ["Program", "Run"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """`steps`, by number, whose lists are one list of `size` bytes at `address`; STATUS.jobs is `jobs` at its end.

    The host fills the operands of the first step, and takes Y of the last; Y of the others is in memory as long as a
    later step does not use its place.
    """

    steps: tuple[int, ...]
    address: int
    size: int
    jobs: int


def _run(steps: list[Product | VectorInMemory]) -> Run:
    lists = [each for step in steps for each in step.parts]
    return Run(
        steps=tuple(step.number for step in steps),
        address=lists[0][0].address,
        size=sum(buffer.size for buffer, _ in lists),
        jobs=next((jobs for _, jobs in reversed(lists) if jobs), 0),  # each list of jobs counts from 0
    )


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """The model `name` for a DMA engine of `config` and `bus_bytes`: steps of the host and products, in order.

    `size` bytes of memory from `base` on are its own. The first `working` of them are what steps work on, behind them
    lies `image`, which is put there once. `host` are the products that stay with the host, with operator and reason;
    `inputs` are the model's, (type, shape) by name.
    """

    name: str
    config: EngineConfig
    bus_bytes: int
    base: int
    working: int
    size: int
    image: bytes
    steps: tuple[HostStep | Product | VectorInMemory, ...]
    host: Mapping[str, tuple[str, str]]
    inputs: Mapping[str, tuple[str, tuple[int, ...]]]
    outputs: tuple[str, ...]

    @property
    def products(self) -> tuple[Product, ...]:
        """The steps of the engine's array."""
        return tuple(step for step in self.steps if isinstance(step, Product))

    @property
    def vectors(self) -> tuple[VectorInMemory, ...]:
        """The steps of the engine's vector unit."""
        return tuple(step for step in self.steps if isinstance(step, VectorInMemory))

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All places of memory that have a name, each once."""
        return tuple(dict.fromkeys(buffer for step in self.of_engine for buffer in step.buffers))

    @property
    def runs(self) -> tuple[Run, ...]:
        """The steps of the engine, together with those before that leave nothing to the host between them."""
        found: list[list[Product | VectorInMemory]] = []
        for before, step in zip((None, *self.steps), self.steps, strict=False):
            if isinstance(step, HostStep):
                continue
            starts = before is None or isinstance(before, HostStep) or step.needs_host
            if starts or sum(buffer.size for each in (*found[-1], step) for buffer, _ in each.parts) > LIST_BYTES:
                found.append([])
            found[-1].append(step)
        return tuple(_run(steps) for steps in found)

    @property
    def between(self) -> tuple[HostStep, ...]:
        """The steps of the host after the engine's first step and before its last, in order."""
        places = [place for place, step in enumerate(self.steps) if not isinstance(step, HostStep)]
        inside = self.steps[places[0] : places[-1]]
        return tuple(step for step in inside if isinstance(step, HostStep) and step.outputs)

    @property
    def of_engine(self) -> tuple[Product | VectorInMemory, ...]:
        """The steps of the engine, in order."""
        return tuple(step for step in self.steps if not isinstance(step, HostStep))

    @property
    def memory(self) -> bytes:
        """Memory from address `base` on as it is before the first step; the working part is all zeros."""
        return bytes(self.working) + self.image + bytes(self.size - self.working - len(self.image))

    @property
    def image_address(self) -> int:
        """Address of `image`."""
        return self.base + self.working

    def totals(self) -> dict[str, Any]:
        """Products, jobs and bytes of all."""
        parts = [step.bytes for step in self.of_engine]
        return {
            "products": len(self.products),
            "jobs": sum(product.jobs for product in self.products),
            **({"vector_steps": len(self.vectors)} if self.config.vector else {}),
            "bytes": {name: sum(part[name] for part in parts) for name in ("a", "b", "y", "list", "host")},
        }
