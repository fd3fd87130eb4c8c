"""Concatenation: parts in turn, every byte by the table of its part, int8 and uint8; streams are tested with stages."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.hw.network.concatenation import Concatenation, Part

from . import stage_bench as bench

TURNS, LANES = 90, 2


def parts_of(tables):
    """Three parts of 1, 3 and 2 beats; those named have a table of random entries of uint8."""
    rng = np.random.default_rng(1)
    forms = {0: INT8, 1: UINT8, 2: UINT8}
    return [
        Part(form, beats, rng.integers(0, 256, 256).tolist() if index in tables else None)
        for (index, form), beats in zip(forms.items(), (1, 3, 2), strict=True)
    ]


def words(values, last):
    pairs = values.reshape(-1, LANES).tolist()
    return [(a & 255) | (b & 255) << 8 | (end << 16) for (a, b), end in zip(pairs, last, strict=True)]


@pytest.mark.parametrize("tables", [(0,), (0, 1, 2), (2,), (0, 2)])
def test_every_byte(tables):
    parts = parts_of(tables)
    if 0 not in tables:  # its integers stay, so they are of the output's format
        parts[0] = Part(UINT8, *parts[0][1:])
    rng = np.random.default_rng(2)
    given, turns = {}, []
    for index, part in enumerate(parts):
        count = TURNS * part.beats * LANES
        codes = np.resize(rng.permutation(np.arange(part.form.min, part.form.max + 1)), count)
        last = [i % (5 * part.beats) == 5 * part.beats - 1 for i in range(count // LANES)]
        given[f"i_{index}"] = words(codes, last)
        made = codes if part.entries is None else np.array(part.entries)[codes - part.form.min]
        ends = last if index == 2 else [False] * len(last)
        turns.append(np.array(words(made, ends)).reshape(TURNS, part.beats))
    wanted = np.concatenate(turns, axis=1).reshape(-1).tolist()
    block = Concatenation(parts, UINT8, lanes=LANES, cells="portable", kind="concat")
    assert len(block.roms) == LANES
    run = bench.Bench(block)
    assert run.simulate({"given": given, "wanted": {"o": len(wanted)}, "goes": 0.8})["o"] == wanted
    assert wanted[29] >> 16 == 1


def test_no_memory_where_integers_stay():
    block = Concatenation([Part(INT8, 1, None)] * 2, INT8, lanes=4, cells="portable", kind="concat")
    assert block.roms == []
    given = {f"i_{i}": [i << 24 | n for n in range(8)] for i in range(2)}
    wanted = [i << 24 | n for n in range(8) for i in range(2)]
    run = bench.Bench(block)
    assert run.simulate({"given": given, "wanted": {"o": 16}})["o"] == wanted
    first = run.times["o"][0]
    assert run.times["o"] == list(range(first, first + 16))  # a beat a cycle
