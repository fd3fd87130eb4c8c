"""Program: a compiled model, as its files describe it and as the simulation plays it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from systoliq.hw.engine import EngineConfig

from ..steps import HostStep
from .memory_map import Buffer
from .product import Product
from .runs import Run
from .vector import VectorInMemory

__all__ = ["Program"]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """The model `name` for a DMA engine of `config` and `bus_bytes`: steps of the host and products, in order.

    `size` bytes of memory from `base` on are its own. The first `working` of them are what steps work on, behind them
    lies `image`, which is put there once. `runs` are the steps of the engine, each run with its list; `host` are the
    products that stay with the host, with operator and reason; `inputs` are the model's, (type, shape) by name.
    """

    name: str
    config: EngineConfig
    bus_bytes: int
    base: int
    working: int
    size: int
    image: bytes
    steps: tuple[HostStep | Product | VectorInMemory, ...]
    runs: tuple[Run, ...]
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
