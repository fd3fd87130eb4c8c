"""Cosimulation of a dense layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from systoliq.hw import AxiDense, Dense, emit_verilog
from systoliq.hw.cells import models_verilog
from systoliq.hw.packing import Flags, LayerPacking

from ..choice import SimulatorChoice, chosen
from ..exchange import BenchOutcome, BenchRun
from ..harness import Ports
from ..simulated import MATRIX, Compared, Simulated
from .run import Run
from .simulate import simulate

__all__ = ["DENSE_TOP", "cosimulate", "cosimulate_runs", "dense_verilog"]

DENSE_TOP = "dense"


def dense_verilog(dense: Dense) -> str:
    """The Verilog that `cosimulate` runs: the layer's, and the models of its vendor cells."""
    return emit_verilog(AxiDense(dense), DENSE_TOP) + models_verilog(dense.config.cells)


def cosimulate(
    dense: Dense,
    run: Run,
    *,
    simulator: SimulatorChoice = "auto",
    waves: Path | None = None,
    verilog: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Simulated:
    """Simulate the Verilog of a layer and compare with golden.

    Parameters
    ----------
    run
        rows of A [M, K], stalls and resets.
    waves
        file for a trace: `.vcd`, or `.fst` under Icarus.
    verilog
        text to simulate instead of the emitted one; its top is called `dense`.
    progress
        called with the name of each stage that takes time.
    """
    return cosimulate_runs(dense, [run], simulator=simulator, waves=waves, verilog=verilog, progress=progress)[0]


def cosimulate_runs(
    dense: Dense,
    runs: Sequence[Run],
    *,
    simulator: SimulatorChoice = "auto",
    waves: Path | None = None,
    verilog: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Simulated]:
    """Like `cosimulate`, for several runs of one layer in one simulator process."""
    prepared = [_prepare(dense, run) for run in runs]
    text = dense_verilog(dense) if verilog is None else verilog
    used = chosen(simulator, sum(bench_run.limit for _, _, bench_run in prepared) // 4, waves)
    pairs = [(bench_run, run.in_bulk) for (_, _, bench_run), run in zip(prepared, runs, strict=True)]
    outcomes, log = simulate(text, Ports.of_dense(dense), DENSE_TOP, pairs, used, waves=waves, progress=progress)
    results = []
    for (packing, expected, bench_run), outcome in zip(prepared, outcomes, strict=True):
        y, there = packing.unpack(outcome.words)
        results.append(
            Simulated.of(
                outcome,
                {"y": Compared(found=y, expected=expected, there=there, place=MATRIX)},
                _violations(bench_run, outcome),
                simulator=used,
                macs=expected.size * dense.layer.k,
                macs_per_cycle=dense.config.macs_per_cycle,
                log=log,
            )
        )
    return results


def _prepare(dense: Dense, run: Run) -> tuple[LayerPacking, npt.NDArray[np.integer], BenchRun]:
    a = dense.layer.check_input(run.a)
    if a.ndim != 2 or not len(a):
        raise ValueError(f"a must have the shape [M, {dense.layer.k}] with M at least 1, not {list(a.shape)}")
    packing = LayerPacking(dense, run.rows)
    expected = dense.layer.by_constants(dense.requantization, a, run.a_zero_point)
    with_a = dense.layer.zero_points(a, run.a_zero_point) if dense.layer.takes_zero_points else None
    words, last = packing.pack(a, np.random.default_rng(run.seed), with_a)
    wanted, mask = packing.expect(expected)
    unstalled = dense.cycles(packing.groups * dense.config.rows)
    bench_run = BenchRun(
        a=words,
        a_last=last,
        b=np.zeros((0, 0), np.uint8),
        expected=wanted,
        expected_last=packing.y_last(),
        mask=mask,
        stalls=np.array(run.probabilities),
        resets=run.reset_cycles(unstalled),
        seed=run.seed,
        limit=run.limit(unstalled),
    )
    return packing, expected, bench_run


def _violations(run: BenchRun, outcome: BenchOutcome) -> list[str]:
    """Beats too many or too few, and a `last` in the wrong place."""
    violations = []
    if len(outcome.words) != len(run.expected):
        violations.append(f"{len(outcome.words)} beats came, not {len(run.expected)}")
    return violations + _last_violations(outcome.last, run.expected_last)


def _last_violations(last: Flags, expected: Flags) -> list[str]:
    count = min(len(last), len(expected))
    wrong = np.flatnonzero(last[:count] != expected[:count])
    if not wrong.size:
        return []
    return [f"last must be {int(expected[wrong[0]])} on beat {wrong[0]}, and is wrong on {wrong.size} beats"]
