"""Draws drain.svg: the way of the sums of one tile through drain chain, lane and requantizer, cycle by cycle.

`python docs/pictures/drain.py [DIR]`. Needs Icarus Verilog and matplotlib. A layer on a 2 x 2 array with one lane; all
values come from a trace of its simulated Verilog.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
from drawing import COLORS, STALE, cell, new_figure, read_vcd, save

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer

ROWS = COLS = 2
MODULE, LANE = "under_test.dense", "under_test.dense.lane_0"
SUM_BITS = 17

rng = np.random.default_rng(2)
layer = MatMulLayer(
    name="small",
    b=rng.integers(-127, 128, (4, COLS)).astype(np.int8),
    b_scale=np.float32(0.02),
    b_zero_point=np.int8(0),
    a_scale=np.float32(0.1),
    a_zero_point=np.uint8(128),
    y_scale=np.float32(0.7),
    y_zero_point=np.int8(-3),
    bias=np.array([100, -50], np.int32),
)
design = LayerDesign(layer, LayerOptions(rows=ROWS, cols=COLS, accumulator_bits=SUM_BITS))
a = rng.integers(0, 256, (ROWS, 4)).astype(np.uint8)
with tempfile.TemporaryDirectory() as folder:
    waves = Path(folder) / "layer.vcd"
    run = design.simulate(a, simulator="icarus", waves=waves).check()
    trace = read_vcd(waves)

start = next(cycle for cycle, on in enumerate(trace[f"{LANE}.start"]) if on)
zero_point = int(layer.y_zero_point)
order = [(r, c) for r in range(ROWS) for c in range(COLS)]  # as the lane reads them
chosen, acc = trace.signed(f"{LANE}.chosen_0_0"), trace.signed(f"{LANE}.requantizer.acc")
raw = [chosen[start + 1 + i] for i in range(4)]
biased = [acc[start + 1 + i] for i in range(4)]
scales = [int(design.requantization.multiplier[c]) for _, c in order]
shifts = [int(design.requantization.shift[c]) for _, c in order]
products = [Fraction((biased[i] or 0) * scales[i], 1 << shifts[i]) for i in range(4)]
answers = [int(run.y[r, c]) for r, c in order]
assert len(set(raw)) == len(set(answers)) == 4, "the four sums must differ"  # noqa: S101 - of this script's own numbers

first = start - 4
last = max(cycle for cycle, valid in enumerate(trace["under_test.m_axis_y_tvalid"]) if valid)
figure = new_figure(12.5, 5.6)
axes = figure.add_axes((0.155, 0.03, 0.84, 0.87))
lines = 0


def draw(label: str, values: list[int | None], moments: dict[int, int], texts: list[str] | None = None) -> None:
    """One line of the table; `moments` says in which cycles the line shows which of the four sums."""
    global lines
    axes.text(-0.15, lines + 0.5, label, ha="right", va="center", fontsize=7)
    for column, cycle in enumerate(range(first, last + 1)):
        which = moments.get(cycle)
        if which is not None:
            cell(axes, column, lines, texts[which] if texts else str(values[cycle]), COLORS[which])
        else:
            stale = "" if values[cycle] is None or texts or cycle < min(moments) else str(values[cycle])
            cell(axes, column, lines, stale, ink=STALE)
    lines += 1


for which, (r, c) in enumerate(order):
    element = f"{MODULE}.array.column_{c}.pe_{r}"
    captured = [cycle for cycle, on in enumerate(trace[f"{element}.capture"]) if on]
    draw(f"accumulator ({r}, {c})", trace.signed(f"{element}.mac.sum"), {captured[0]: which})
for r, c in order:
    held = trace.signed(f"{MODULE}.array.column_{c}.pe_{r}.drain_next")
    passing = [which for which, (row, column) in enumerate(order) if column == c and row <= r]
    moments = {start + which - (ROWS - 1 - r): which for which in passing}  # one row down each cycle
    assert all(held[cycle] == raw[which] for cycle, which in moments.items()), "not on its way"  # noqa: S101
    draw(f"drain ({r}, {c})", held, moments)
lane = f"{LANE}.requantizer"
texts = [f"{float(p):.3f}\n· 2^{s}" for p, s in zip(products, shifts, strict=True)]
for label, signal, wanted, shown in (
    ("lane: sum of a column", f"{LANE}.chosen_0_0", raw, None),
    ("sum + bias", f"{lane}.acc", biased, None),
    ("times M", f"{lane}.product", [int(p * (1 << s)) for p, s in zip(products, shifts, strict=True)], texts),
    ("floor of product / 2^S", f"{lane}.floor", [p.__floor__() for p in products], None),
    ("rounded, + zero point", f"{lane}.total_1", answers, None),
    ("saturated", f"{lane}.y", answers, None),
    ("m_axis_y_tdata", "under_test.m_axis_y_tdata", answers, None),
):
    values = trace.signed(signal)
    begins = next(cycle for cycle in range(start, last) if values[cycle : cycle + 4] == wanted)
    draw(label, values, {begins + which: which for which in range(4)}, shown)

for column, cycle in enumerate(range(first, last + 1)):
    axes.text(column + 0.5, -0.35, str(cycle - start), ha="center", va="center", fontsize=7)
axes.text(-0.15, -0.35, "cycle", ha="right", va="center", fontsize=7)
axes.set(xlim=(-0.02, last + 1 - first + 0.02), ylim=(lines, -0.7))
axes.set_axis_off()
title = (
    "2 x 2 array, one lane: the four sums of a tile on their way to Y, a colour for each. In cycle 0 the sum of row 0, "
    "column 0 leaves the array. Grey: not read."
)
figure.text(0.02, 0.965, title, fontsize=9, va="center")
save(figure, "drain")
