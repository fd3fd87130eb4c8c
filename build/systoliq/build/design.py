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
from systoliq.hw.verilog import emit_verilog

__all__ = ["ArrayDesign", "Design", "LayerDesign"]


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


Design = LayerDesign | ArrayDesign
