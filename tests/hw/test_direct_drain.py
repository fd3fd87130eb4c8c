"""The direct drain: the sum of the row that is named, part by part, of any number of rows and with any cells."""

from __future__ import annotations

import random

import pytest

from systoliq.golden import IntFormat
from systoliq.hw import ArrayConfig
from systoliq.hw.direct_drain import DirectDrain
from systoliq.hw.mac import Mac

from .bench import corner_of, traces, with_models

ROWS = (2, 3, 5, 8, 12, 17)
CYCLES = 60


@pytest.mark.sampled(99)
@pytest.mark.parametrize("bits", [20, 32, 48])
@pytest.mark.parametrize("cells", with_models("portable", "ecp5", "ecp5-pair"))
def test_sum_of_the_row(tmp_path, cells, bits):
    b = IntFormat(4, signed=True)
    configs = [ArrayConfig(rows=rows, accumulator_bits=bits, cells=cells, b=b) for rows in ROWS]
    rng = random.Random(bits)
    stimuli = []
    for config in configs:
        word = bits * Mac.columns_of(config)
        stimuli.append(
            [
                {
                    "sums": [corner_of(rng, word) for _ in range(config.rows)],
                    "row": rng.choice([0, config.rows - 1, rng.randrange(config.rows)]),
                }
                for _ in range(CYCLES)
            ]
        )
    shown = traces([DirectDrain(config) for config in configs], stimuli, cells=cells, folder=tmp_path)
    for config, lines, seen in zip(configs, stimuli, shown, strict=True):
        latency, parts = DirectDrain.latency_of(config), Mac.parts_of(config)
        assert len(parts) == (1 if bits <= 24 else 2 * Mac.columns_of(config))
        for start, end, late in parts:
            for t in range(CYCLES - latency - late):
                wanted, found = lines[t + late]["sums"][lines[t]["row"]], seen[t + late + latency]["sum"]
                assert (wanted ^ found) >> start & (1 << end - start) - 1 == 0, (config, t)
        on = Mac.columns_of(config)
        assert [line["row_next"] for line in seen[on:]] == [line["row"] for line in lines[:-on]]


@pytest.mark.parametrize(("rows", "portable", "ecp5"), [(2, 1, 1), (4, 1, 1), (5, 2, 1), (8, 2, 1), (9, 2, 2)])
def test_eight_rows_take_a_cycle_of_ecp5_and_four_of_others(rows, portable, ecp5):
    assert DirectDrain.latency_of(ArrayConfig(rows=rows)) == portable
    assert DirectDrain.latency_of(ArrayConfig(rows=rows, cells="ecp5")) == ecp5
