"""A design: a named component with all that is known about it; from here come Verilog, testbench and sidecar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, AxiBareArray, AxiDense, BareArray, Dense
from systoliq.hw.engine import AxiEngine, EngineConfig, JobShape
from systoliq.hw.hierarchy import mark_used
from systoliq.hw.verilog import emit_verilog

__all__ = ["ArrayDesign", "Design", "EngineDesign", "LayerDesign"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerDesign:
    """A dense layer as module `name`; `origin` tells where its weights come from."""

    name: str
    dense: Dense
    origin: str

    @property
    def layer(self) -> MatMulLayer:
        """What it computes."""
        layer: MatMulLayer = self.dense.layer
        return layer

    @property
    def requantization(self) -> Requantization:
        """How its hardware rounds."""
        requantization: Requantization = self.dense.requantization
        return requantization

    @property
    def config(self) -> ArrayConfig:
        """The size, formats and cells of its array, as they were asked for."""
        config: ArrayConfig = self.dense.config
        return config

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates that it does in a cycle."""
        return self.config.macs_per_cycle

    @cached_property
    def top(self) -> AxiDense:
        """The module with AXI4-Stream ports."""
        return AxiDense(self.dense)

    @cached_property
    def verilog(self) -> str:
        """Verilog-2005 text."""
        return emit_verilog(self.top, self.name)

    def integer_form(self, a: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What the hardware answers for `a` [M, K]: its own integer arithmetic."""
        return self.requantization.apply(self.layer.accumulate(a))


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayDesign:
    """A bare array as module `name`; `wrap` allows sums beyond the accumulator."""

    name: str
    array: BareArray
    wrap: bool = False

    @property
    def config(self) -> ArrayConfig:
        """Its size and formats."""
        return self.array.config

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates that it does in a cycle."""
        return self.config.macs_per_cycle

    @cached_property
    def top(self) -> AxiBareArray:
        """The module with AXI4-Stream ports."""
        return AxiBareArray(self.array)

    @cached_property
    def verilog(self) -> str:
        """Verilog-2005 text."""
        return emit_verilog(self.top, self.name)

    @property
    def longest_sum(self) -> int:
        """The greatest K for which no sum can pass the accumulator."""
        a, b = self.config.a, self.config.b
        products = [x * y for x in (a.min, a.max) for y in (b.min, b.max)]
        limit = 1 << (self.config.accumulator_bits - 1)
        return min((limit - 1) // max(products), limit // -min(products) if min(products) < 0 else limit)

    def product(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The sums a @ b, [M, K] x [K, N], modulo 2^accumulator_bits and signed: what the hardware answers."""
        half = 1 << (self.config.accumulator_bits - 1)
        sums: npt.NDArray[np.int64] = a.astype(np.int64) @ b.astype(np.int64)
        return ((sums + half) & (2 * half - 1)) - half


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineDesign:
    """The programmable engine as module `name`."""

    name: str
    config: EngineConfig

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates that its array does in a cycle; the row and column of ones do not count."""
        return self.config.rows * self.config.cols * self.config.depth

    @cached_property
    def top(self) -> AxiEngine:
        """The module with AXI4-Lite and AXI4-Stream ports."""
        top = AxiEngine(self.config)
        mark_used(top)  # for its cycle model alone, as long as no Verilog is asked for
        return top

    @cached_property
    def verilog(self) -> str:
        """Verilog-2005 text."""
        return emit_verilog(self.top, self.name)

    def cycles(self, m: int, k: int, n: int) -> int:
        """What the cycle model says of a job [m, k] x [k, n]."""
        cycles: int = self.top.cycles(JobShape(m=m, k=k, n=n, config=self.config))
        return cycles

    @property
    def odd_streams(self) -> dict[str, int]:
        """Streams with widths that ordinary AXI DMAs do not take, powers of two from 8 to 1024, and these widths."""
        config = self.config
        widths = {
            "s_axis_a": config.rows * config.depth * 8,
            "s_axis_b": config.cols * config.depth * 8,
            "m_axis_y": config.lanes * 32,
        }
        return {name: bits for name, bits in widths.items() if bits & (bits - 1) or bits > 1024}


Design = LayerDesign | ArrayDesign | EngineDesign
