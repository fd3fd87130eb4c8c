"""A bare array as a design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from systoliq.golden import UINT8, Float8Format, IntFormat
from systoliq.hw import ArrayConfig, AxiBareArray, BareArray
from systoliq.hw.hierarchy import mark_used
from systoliq.hw.packing import array_sums
from systoliq.sim.choice import SimulatorChoice
from systoliq.sim.cosimulation import ARRAY_TOP, Run, cosimulate_array
from systoliq.sim.simulated import Simulated

from ...errors import InputError, expect
from ..check_run import check_run
from ..cosimulated import cosimulated
from ..design import Arrays
from ..names import module_name
from ..operands import read_operand_file
from ..single_array import SingleArrayDesign
from .options import ArrayOptions

__all__ = ["ArrayDesign"]


class ArrayDesign(SingleArrayDesign):
    """The array with its drain, without a layer. `hardware.wrap` lets sums that exceed the accumulator wrap."""

    kind: ClassVar[str] = "array"
    meanings: ClassVar[Mapping[str, str]] = {
        "s_axis_a_tlast": "the last beat of a tile",
        "s_axis_b_tready": "the beat of B is taken, in the same cycle as that of A",
        "sums": "accumulators of a row, column 0 in the lowest bits; column c means something while sums_valid[c] is 1",
        "sums_valid": "per column: sums holds the sum of this column; it cannot be held back",
    }

    def __init__(self, hardware: ArrayOptions | None = None, *, name: str | None = None) -> None:
        expect("hardware", hardware, ArrayOptions, type(None))
        hardware = hardware or ArrayOptions()
        self.name = module_name(name, "array")
        self.array = BareArray(hardware.bare_array())
        self.wrap = hardware.wrap
        mark_used(self.array)  # for its cycle model alone, as long as no Verilog is asked for
        self.config: ArrayConfig = self.array.config

    @cached_property
    def top(self) -> AxiBareArray:
        """The module with AXI4-Stream ports."""
        return AxiBareArray(self.array)

    @property
    def longest_sum(self) -> int:
        """The greatest K for which no sum can pass the accumulator."""
        a, b = self.config.a, self.config.b
        if isinstance(a, Float8Format) and isinstance(b, Float8Format):
            return ((1 << (self.config.accumulator_bits - 1)) - 1) // (a.max_units * b.max_units)
        products = [x * y for x in (a.min, a.max) for y in (b.min, b.max)]
        limit = 1 << (self.config.accumulator_bits - 1)
        return min((limit - 1) // max(products), limit // -min(products) if min(products) < 0 else limit)

    def model(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The sums a @ b, [M, K] x [K, N], modulo 2^accumulator_bits and signed.

        For float8, sums are words: exact sums in units of the product of both least values, with flags above, as Python
        integers.
        """
        return array_sums(a, b, self.config)

    def cycles(self, m: int, k: int, n: int) -> int:
        """From the first beat to the last sum of [m, k] x [k, n], cut into tiles; both included, without stalls."""
        return self._tile_cycles([k] * (-(-m // self.config.rows) * -(-n // self.config.cols)))

    def _tile_cycles(self, inner: Sequence[int]) -> int:
        """The same for tiles with these K."""
        cycles: int = self.array.cycles([-(-k // self.config.depth) for k in inner])
        return cycles

    def read_operands(self, path: Path, *, quantize: bool = False) -> Arrays:
        """`a` [M, K] and `b` [K, N] from an .npz archive."""
        if quantize:
            raise InputError("quantize cannot be used with the source array: it has no scales")
        arrays = read_operand_file(path)
        for name in ("a", "b"):
            if name not in arrays:
                raise InputError(f"{path}: must have the key {name!r}; it has {', '.join(arrays) or 'none'}")
        try:
            self._check(arrays["a"], arrays["b"])
        except (TypeError, ValueError) as error:
            raise type(error)(f"{path}: {error}") from error
        return {"a": arrays["a"], "b": arrays["b"]}

    def _check(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> None:
        config = self.config
        for name, operand, fmt in (("a", a, config.a), ("b", b, config.b)):
            _check_matrix(name, operand, fmt)
        (m, k), (inner, n) = a.shape, b.shape
        if inner != k:
            raise InputError(f"b must have K = {k} rows for a of shape {[m, k]}, not shape {[inner, n]}")
        if k > self.longest_sum and not self.wrap:
            raise InputError(
                f"K must be at most {self.longest_sum}, beyond which sums of {config.a.name} x {config.b.name} can "
                f"pass {config.accumulator_bits} bits, not {k}"
            )

    def simulate(
        self,
        a: npt.NDArray[Any],
        b: npt.NDArray[Any],
        *,
        simulator: SimulatorChoice = "auto",
        stalls: float = 0.0,
        seed: int = 0,
        waves: Path | None = None,
        netlist: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Simulated:
        """Run A [M, K] times B [K, N], tile by tile, and compare with the integer product; see `Design.simulate`."""
        check_run(simulator, stalls, waves)
        self._check(a, b)
        verilog = None if netlist is None else self.netlist(netlist, ARRAY_TOP, progress)
        result = cosimulate_array(
            self.array, Run(a=a, stalls=stalls, seed=seed), b, simulator=simulator, waves=waves, verilog=verilog,
            progress=progress,
        )  # fmt: skip
        return cosimulated(
            result, self.name, self.config, {"y": self.storable(result.y)}, stalls=stalls, netlist=netlist,
            model_cycles=self.cycles(a.shape[0], a.shape[1], b.shape[1]),
        )  # fmt: skip

    def storable(self, sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return `sums` as a file has them: int32 or int64, or words of float8 as bytes [..., B], the lowest first."""
        if not self.config.float8:
            return sums.astype(np.int32 if self.config.accumulator_bits <= 32 else np.int64)
        size = -(-self.config.word_bits // 8)
        data = b"".join(int(word).to_bytes(size, "little") for word in sums.flat)
        return np.frombuffer(data, np.uint8).reshape(*sums.shape, size)


def _check_matrix(name: str, operand: npt.NDArray[Any], fmt: IntFormat | Float8Format) -> None:
    if isinstance(fmt, Float8Format):
        operand, fmt = fmt.codes(operand), UINT8
    if operand.dtype != fmt.dtype:
        raise TypeError(f"{name} must have the type {fmt.type_name}, not {operand.dtype.name}")
    if operand.ndim != 2 or not operand.size:
        raise InputError(f"{name} must be a matrix with at least one element, not of shape {list(operand.shape)}")
    if outside := fmt.first_outside(operand):
        raise InputError(f"{name}{list(outside[0])} must be in {fmt.name}, {fmt.min} to {fmt.max}, not {outside[1]}")
