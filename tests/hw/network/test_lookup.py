"""Lookup: the entry of every byte, int8 and uint8 on either side; streams are tested with the stages."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.hw.network.lookup import Lookup

from . import stage_bench as bench


@pytest.mark.parametrize("output", [INT8, UINT8], ids=str)
@pytest.mark.parametrize("operand", [INT8, UINT8], ids=str)
def test_every_byte(operand, output):
    rng = np.random.default_rng(1)
    codes = np.arange(operand.min, operand.max + 1)
    entries = rng.integers(output.min, output.max + 1, 256)
    order = rng.permutation(256)
    block = Lookup(entries.tolist(), operand, output, lanes=2, cells="portable", kind="table")
    last = [i % 5 == 4 for i in range(128)]
    given, wanted = (beats(values[order], last) for values in (codes, entries))
    run = bench.Bench(block)
    assert run.simulate({"given": {"i": given}, "wanted": {"o": 128}, "goes": 0.7})["o"] == wanted


def beats(values, last):
    pairs = values.reshape(-1, 2).tolist()
    return [(a & 255) | (b & 255) << 8 | end << 16 for (a, b), end in zip(pairs, last, strict=True)]
