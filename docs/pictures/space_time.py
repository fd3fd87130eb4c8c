"""Draws space_time.svg: what each element of a 3 x 3 array does in each cycle, from a trace of the simulated Verilog.

`python docs/pictures/space_time.py [DIR]`. Needs Icarus Verilog and matplotlib. Two tiles, K = 4, back to back. All
operands differ from each other, so that the trace says by itself which product an element is given.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from drawing import COLORS, EMPTY, cell, new_figure, read_vcd, save

from systoliq.hw import ArrayConfig, BareArray
from systoliq.hw.direct_drain import DirectDrain
from systoliq.hw.mac import Mac
from systoliq.sim.cosimulation import Run, cosimulate_array

SIZE, K, TILES = 3, 4, 2
SNAPSHOTS = (2, 3, 4, 5, 6, 7)  # cycles from the first beat

a = np.arange(1, 1 + SIZE * K, dtype=np.int8).reshape(SIZE, K)
b = np.arange(40, 40 + K * SIZE * TILES, dtype=np.int8).reshape(K, SIZE * TILES)
sums = a.astype(int) @ b.astype(int)
of_a = {int(a[r, k]): (r, k) for r in range(SIZE) for k in range(K)}
of_b = {int(b[k, n]): (k, n) for k in range(K) for n in range(SIZE * TILES)}
of_sum = {int(sums[r, n]): (r, n) for r in range(SIZE) for n in range(SIZE * TILES)}
assert len(of_sum) == sums.size, "sums must differ"  # noqa: S101 - of this script's own numbers

with tempfile.TemporaryDirectory() as folder:
    waves = Path(folder) / "array.vcd"
    array = BareArray(ArrayConfig(rows=SIZE, cols=SIZE))
    result = cosimulate_array(array, Run(a=a, bulk=False), b, simulator="icarus", waves=waves).check()
    trace = read_vcd(waves)

start = next(
    cycle for cycle, taken in enumerate(zip(trace["s_axis_a_tvalid"], trace["s_axis_a_tready"], strict=True))
    if taken == (1, 1)
)  # fmt: skip
cycles = range(result.cycles)


def at(name: str, cycle: int) -> int | None:
    """A signal's value in a cycle, counted from the first beat."""
    return trace[name][start + cycle]


def product(r: int, c: int, cycle: int) -> tuple[int, int] | None:
    """Tile and k of the pair of operands that reaches element (r, c), if there is one."""
    pair = [at(f"array.array.column_{c}.pe_{r}.{name}", cycle) for name in ("a", "b")]
    if not pair[0]:  # no beat enters as zeros
        return None
    (row, k), (inner, n) = of_a[pair[0]], of_b[pair[1]]
    assert (row, n % SIZE, inner) == (r, c, k), "operands that meet must belong together"  # noqa: S101
    return n // SIZE, k


def shown(r: int, c: int, found: tuple[int, int] | None) -> tuple[str, str]:
    """Text and colour of the pair of operands `found` in element (r, c)."""
    return (f"a{r}{found[1]}·b{found[1]}{c}", COLORS[found[0]]) if found else ("", EMPTY)


def leaves(r: int, c: int, cycle: int) -> bool:
    """Whether the drain takes the sum of element (r, c) at the end of this cycle, its lower half."""
    later = cycle + DirectDrain.latency_of(array.config) + Mac.spread_of(array.config)
    if later >= result.cycles or not (at("sums_valid", later) or 0) >> c & 1:
        return False
    return at(f"array.array.column_{c}.row", cycle) == r


figure = new_figure(12.5, 6.7)
for index, cycle in enumerate(SNAPSHOTS):
    axes = figure.add_axes((0.065 + index * 0.155, 0.795, 0.125, 0.15))
    for r in range(SIZE):
        for c in range(SIZE):
            found = product(r, c, cycle)
            cell(axes, c, r, *shown(r, c, found))
    axes.set(xlim=(0, SIZE), ylim=(SIZE, 0))
    axes.set_title(f"cycle {cycle}", fontsize=8)
    axes.set_axis_off()

axes = figure.add_axes((0.13, 0.035, 0.86, 0.71))
labels: list[tuple[float, str]] = []
y = 0.0
for c in range(SIZE):
    for r in range(SIZE):
        labels.append((y, f"element ({r}, {c})"))
        for cycle in cycles:
            found = product(r, c, cycle)
            cell(
                axes, cycle, y, f"a{r}{found[1]}·b{found[1]}{c}" if found else "", COLORS[found[0]] if found else EMPTY
            )
            if leaves(r, c, cycle):
                axes.plot([cycle + 1, cycle + 1], [y, y + 1], color="#c4432b", linewidth=2)
        y += 1
y += 0.4
for c in range(SIZE):
    labels.append((y, f"sums[{c}]"))
    for cycle in cycles:
        valid = at("sums_valid", cycle)
        there = valid is not None and valid >> c & 1
        row, n = of_sum[at(f"array.array.column_{c}.sum", cycle) or 0] if there else (None, 0)
        cell(axes, cycle, y, f"y{row}{n % SIZE}" if there else "", COLORS[n // SIZE] if there else EMPTY)
    y += 1
for at_y, text in labels:
    axes.text(-0.15, at_y + 0.5, text, ha="right", va="center", fontsize=7)
for cycle in cycles:
    axes.text(cycle + 0.5, -0.35, str(cycle), ha="center", va="center", fontsize=7)
axes.text(-0.15, -0.35, "cycle", ha="right", va="center", fontsize=7)
axes.set(xlim=(-0.02, len(cycles) + 0.02), ylim=(y, -0.6))
axes.set_axis_off()
title = "3 x 3 array, K = 4, two tiles back to back (blue, orange): operands that meet in each element"
figure.text(0.065, 0.982, title, fontsize=9, va="center")
legend = (
    "Red: the drain takes the sum at the end of this cycle, after the pipeline of the multiplier: its lower half, "
    "the upper half a cycle later. Cycle 0 takes the first beat."
)
figure.text(0.13, 0.765, legend, fontsize=7.5, va="center")
save(figure, "space_time")
