"""Cosimulation of a bare array."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format
from systoliq.hw import ArrayConfig, AxiBareArray, BareArray, emit_verilog
from systoliq.hw.cells import models_verilog
from systoliq.hw.packing import ArrayPacking, array_sums

from ..choice import SimulatorChoice, chosen
from ..exchange import BenchRun
from ..harness import Ports
from ..simulated import MATRIX, Compared, Simulated
from .run import Run
from .simulate import simulate

__all__ = ["ARRAY_TOP", "array_verilog", "cosimulate_array"]

ARRAY_TOP = "array"


def array_verilog(array: BareArray) -> str:
    """The Verilog that `cosimulate_array` runs: the array's, and the models of its vendor cells."""
    return emit_verilog(AxiBareArray(array), ARRAY_TOP) + models_verilog(array.config.cells)


def cosimulate_array(
    array: BareArray,
    run: Run,
    b: npt.NDArray[np.integer],
    *,
    simulator: SimulatorChoice = "auto",
    waves: Path | None = None,
    verilog: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Simulated:
    """Run a product of any size, A [M, K] of `run` times B [K, N], tile by tile through the Verilog of a bare array.

    The sums [M, N] are exact integers modulo 2**accumulator_bits; for float8 codes they are words with the exact sum
    and flags (`sum_words`). Stalls apply to the sources of A and B; the sums have no back-pressure. The others are as
    in `cosimulate`.
    """
    a, config = run.a, array.config
    _check(config, a, b)
    (m, k), n = a.shape, b.shape[1]
    packing = ArrayPacking(array=array, m=m, k=k, n=n)
    sums = array_sums(a, b, config)
    bench_run = _prepare(packing, run, b, sums)
    text = array_verilog(array) if verilog is None else verilog
    used = chosen(simulator, bench_run.limit // 4, waves)
    (outcome,), log = simulate(
        text, Ports.of_array(array), ARRAY_TOP, [(bench_run, run.in_bulk)], used, waves=waves, progress=progress
    )
    valid = np.unpackbits(outcome.valid, axis=1, bitorder="little")[:, : config.cols].astype(np.int64)
    y, there, surplus = packing.unpack(valid, outcome.words)
    return Simulated.of(
        outcome,
        {"y": Compared(found=y, expected=sums, there=there, place=MATRIX)},
        [f"column {column} gave {int(count)} sums too many" for column, count in enumerate(surplus) if count],
        simulator=used,
        macs=m * k * n,
        macs_per_cycle=config.macs_per_cycle,
        log=log,
    )


def _check(config: ArrayConfig, a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]) -> None:
    for name, operand, expected_format in (("a", a, config.a), ("b", b, config.b)):
        if operand.ndim != 2 or not operand.size or operand.dtype.kind not in "iu":
            raise ValueError(
                f"{name} must be a matrix of integers, not of shape {list(operand.shape)} and type {operand.dtype}"
            )
        if isinstance(expected_format, Float8Format):
            expected_format.codes(operand)
        elif not expected_format.contains(operand):
            raise ValueError(
                f"{name} must be in {expected_format.name}, not {int(operand.min())} to {int(operand.max())}"
            )
    (m, k), (inner, n) = a.shape, b.shape
    if k != inner:
        raise ValueError(f"b must have K = {k} rows for a of shape {[m, k]}, not shape {[inner, n]}")


def _prepare(packing: ArrayPacking, run: Run, b: npt.NDArray[np.integer], sums: npt.NDArray[Any]) -> BenchRun:
    down, across = packing.tiles
    words_a, last, words_b = packing.pack(run.a, b)
    unstalled = packing.array.cycles([packing.beats] * (down * across))
    return BenchRun(
        a=words_a,
        a_last=last,
        b=words_b,
        expected=packing.expect(sums),
        expected_last=np.zeros(0, bool),
        mask=np.zeros((0, 0), np.uint8),
        stalls=np.array(run.probabilities),
        resets=run.reset_cycles(unstalled),
        seed=run.seed,
        limit=run.limit(unstalled),
    )
