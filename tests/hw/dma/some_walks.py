"""Walks and their runs."""

from __future__ import annotations


def walk(rows, steps, group, address, row_stride, step_stride, extent, last_extent):
    """(address, extent, step_last, last) of each run."""
    group = group or rows
    runs = []
    for first in range(0, rows, group):
        of_group = range(first, min(first + group, rows))
        for step in range(steps):
            for row in of_group:
                at = (address + row * row_stride + step * step_stride) % 2**32
                size = last_extent if step == steps - 1 else extent
                ends = row == of_group[-1]
                runs.append((at, size, ends, ends and step == steps - 1 and row == rows - 1))
    return runs


def settings(rng, rows, steps):
    return {
        "address": rng.getrandbits(32),
        "row_stride": rng.choice([0, 1, 16, 100, rng.getrandbits(32)]),
        "step_stride": rng.choice([1, 16, rng.getrandbits(20)]),
        "rows": rows,
        "steps": steps,
        "extent": rng.getrandbits(24),
        "last_extent": rng.getrandbits(6),
    }
