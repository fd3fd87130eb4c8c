"""Layers and arrays for cosimulation, as data: sizes, formats and zero points, and what is special about each."""

from __future__ import annotations

import dataclasses

import numpy as np

from systoliq.golden import IntFormat, MatMulLayer
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.hw import ArrayConfig, Dense


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """A layer [K, N] on an array; `m` rows of A in the test runs. `b_bits`, if given, are the multiplier's."""

    rows: int
    cols: int
    depth: int
    k: int
    n: int
    m: int = 7
    a: str = "int8"
    b: str = "int8"
    y: str = "int8"
    a_zero_point: int = 0
    b_zero_point: int | tuple[int, ...] = 0
    y_zero_point: int = 0
    bias: bool = True
    b_bits: int = 0
    accumulator_bits: int = 32
    rounding: Rounding = Rounding.NEAR_TIE
    cells: str = "portable"

    @property
    def id(self) -> str:
        parts = [f"{self.rows}x{self.cols}x{self.depth}-K{self.k}-N{self.n}", f"{self.a}x{self.b}to{self.y}"]
        zero = self.b_zero_point if isinstance(self.b_zero_point, int) else "each"
        parts += [f"az{self.a_zero_point}"] * bool(self.a_zero_point) + [f"bz{zero}"] * bool(zero)
        parts += [f"acc{self.accumulator_bits}"] * (self.accumulator_bits != 32)
        parts += [self.rounding.value] * (self.rounding is not Rounding.NEAR_TIE) + ["plain"] * (not self.bias)
        parts += [self.cells] * (self.cells != "portable")
        return "-".join(parts)

    def layer(self) -> MatMulLayer:
        """Random weights over the whole format, scales that spread the outputs over theirs."""
        rng = np.random.default_rng([self.k, self.n, self.rows, self.cols])
        a, b, y = (IntFormat.parse(name) for name in (self.a, self.b, self.y))
        zero = self.b_zero_point if isinstance(self.b_zero_point, int) else np.array(self.b_zero_point, b.dtype)
        typical = 2.0 ** (a.bits + b.bits - 2 - y.bits) * np.sqrt(self.k)
        bias = int(2.0 ** (a.bits + b.bits - 4) * np.sqrt(self.k))
        return MatMulLayer(
            name="case",
            b=rng.integers(b.min, b.max, (self.k, self.n), endpoint=True).astype(b.dtype),
            a_scale=np.float32(0.02),
            a_zero_point=self.a_zero_point,
            b_scale=rng.uniform(0.001, 0.02, self.n).astype(np.float32),
            b_zero_point=zero,
            y_scale=np.float32(0.02 * 0.01 * typical),
            y_zero_point=self.y_zero_point,
            bias=rng.integers(-bias, bias, self.n, endpoint=True).astype(np.int32) if self.bias else None,
            a_format=a,
            b_format=b,
            y_format=y,
        )

    def dense(self) -> Dense:
        layer = self.layer()
        requantization = Requantization.from_scales(
            layer.scale, layer.y_zero_point, layer.y_format, rounding=self.rounding
        )
        config = ArrayConfig(
            rows=self.rows,
            cols=self.cols,
            depth=self.depth,
            b=IntFormat(self.b_bits or layer.b_format.bits, signed=True),
            accumulator_bits=self.accumulator_bits,
            cells=self.cells,
        )
        return Dense(layer, requantization, config)

    def input(self, m: int | None = None) -> np.ndarray:
        """Rows of A: any, and the extremes."""
        a = IntFormat.parse(self.a)
        rng = np.random.default_rng(self.k)
        values = rng.integers(a.min, a.max, (m or self.m, self.k), endpoint=True).astype(a.dtype)
        values[0] = a.min
        values[-1] = a.max
        return values


CASES = [
    Case(rows=1, cols=1, depth=1, k=1, n=1),
    Case(rows=1, cols=1, depth=1, k=3, n=1, a="uint8", b="uint8", y="uint8", a_zero_point=128, b_zero_point=128),
    Case(rows=1, cols=1, depth=2, k=5, n=3, b_zero_point=7),
    Case(rows=1, cols=10, depth=1, k=64, n=10, m=4, y_zero_point=19),
    Case(rows=4, cols=10, depth=4, k=64, n=10, m=11, a_zero_point=-128),
    Case(rows=1, cols=4, depth=4, k=64, n=10, m=3, b_zero_point=5),
    Case(rows=2, cols=4, depth=2, k=9, n=10),
    Case(rows=3, cols=2, depth=1, k=2, n=5, y="uint8", y_zero_point=100),
    Case(rows=4, cols=4, depth=1, k=1, n=4),
    Case(rows=4, cols=1, depth=1, k=6, n=1, m=9),
    Case(rows=1, cols=6, depth=1, k=6, n=4),
    Case(rows=1, cols=5, depth=2, k=10, n=10, b_zero_point=(1, -2, 3, -4, 5, -6, 7, -8, 9, -128)),
    Case(rows=2, cols=6, depth=1, k=5, n=6, b_zero_point=-128, a_zero_point=127),
    Case(rows=2, cols=3, depth=1, k=7, n=5, a="uint8", b="int8", a_zero_point=3, b_zero_point=127),
    Case(rows=2, cols=2, depth=3, k=8, n=4, a="int8", b="uint8", y="uint8", b_zero_point=200, y_zero_point=255),
    Case(rows=2, cols=2, depth=2, k=8, n=3, b="uint8", b_zero_point=100, b_bits=9),
    Case(rows=3, cols=3, depth=1, k=9, n=9, a="int4", b="int4", y="int4", accumulator_bits=24),
    Case(rows=2, cols=2, depth=1, k=4, n=4, a="int2", b="int2", y="int2", accumulator_bits=16),
    Case(rows=2, cols=4, depth=2, k=12, n=7, a="uint4", b="int3", y="uint4", a_zero_point=8, b_zero_point=-2),
    Case(rows=1, cols=3, depth=1, k=12, n=6, a="int16", b="int12", y="int16", accumulator_bits=40),
    Case(rows=2, cols=2, depth=2, k=6, n=4, a="uint16", b="int5", y="uint16", a_zero_point=40000, y_zero_point=70),
    Case(rows=1, cols=2, depth=1, k=4, n=2, a="uint2", b="uint16", y="int7", b_zero_point=5, accumulator_bits=24),
    Case(rows=2, cols=3, depth=1, k=5, n=3, a="int7", b="int11", y="int9", y_zero_point=-100, accumulator_bits=26),
    Case(rows=3, cols=4, depth=2, k=5, n=8, a="int12", b="uint6", y="int13", b_zero_point=(0, 63, 1, 2, 3, 4, 5, 6)),
    Case(rows=2, cols=5, depth=1, k=4, n=11, bias=False),
    Case(rows=5, cols=2, depth=1, k=3, n=4, m=12),
    Case(rows=1, cols=3, depth=5, k=7, n=3, m=9),
    Case(rows=2, cols=2, depth=8, k=3, n=2),
    Case(rows=1, cols=2, depth=16, k=16, n=5),
    Case(rows=2, cols=8, depth=1, k=40, n=16, m=3),
    Case(rows=4, cols=3, depth=2, k=40, n=3, m=6),
    Case(rows=2, cols=4, depth=2, k=9, n=6, rounding=Rounding.NEAREST),
    Case(rows=2, cols=4, depth=2, k=9, n=6, b_zero_point=3, rounding=Rounding.FLOOR),
    Case(rows=1, cols=7, depth=1, k=8, n=7, accumulator_bits=48, bias=False),
    # weights, constants and rows in block RAM; many columns a lane
    Case(rows=1, cols=1, depth=1, k=3, n=70, m=5),
    Case(rows=2, cols=3, depth=2, k=50, n=11, b_zero_point=-9, cells="ecp5"),
    Case(rows=1, cols=17, depth=1, k=70, n=34, m=3, b_zero_point=5),
    Case(rows=1, cols=66, depth=3, k=200, n=66, m=3, cells="ecp5"),
    Case(rows=3, cols=5, depth=1, k=66, n=13, cells="ice40"),
    Case(rows=2, cols=5, depth=3, k=21, n=9, cells="gowin"),
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Product:
    """A product [M, K] x [K, N] on a bare array."""

    rows: int
    cols: int
    depth: int
    m: int
    k: int
    n: int
    a: str = "int8"
    b: str = "int8"
    accumulator_bits: int = 32

    @property
    def id(self) -> str:
        return (
            f"{self.rows}x{self.cols}x{self.depth}-{self.m}x{self.k}x{self.n}-{self.a}x{self.b}-{self.accumulator_bits}"
        )

    def config(self) -> ArrayConfig:
        return ArrayConfig(
            rows=self.rows,
            cols=self.cols,
            depth=self.depth,
            a=IntFormat.parse(self.a),
            b=IntFormat.parse(self.b),
            accumulator_bits=self.accumulator_bits,
        )

    def operands(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.k)
        a, b = IntFormat.parse(self.a), IntFormat.parse(self.b)
        return (
            rng.integers(a.min, a.max, (self.m, self.k), endpoint=True),
            rng.integers(b.min, b.max, (self.k, self.n), endpoint=True),
        )


PRODUCTS = [
    Product(rows=1, cols=1, depth=1, m=1, k=1, n=1),
    Product(rows=1, cols=1, depth=1, m=2, k=5, n=3, a="uint8", b="uint8"),
    Product(rows=3, cols=2, depth=2, m=7, k=5, n=5, a="int4", b="uint3", accumulator_bits=16),
    Product(rows=2, cols=5, depth=1, m=4, k=1, n=10, a="uint16", b="int16", accumulator_bits=48),
    Product(rows=2, cols=3, depth=1, m=4, k=40, n=3, accumulator_bits=16),  # the sums wrap
]
