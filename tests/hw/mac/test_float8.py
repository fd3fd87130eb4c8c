"""float8 multiply-accumulates of every pair of formats, integers too: sums and flags are golden's, cycle for cycle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from systoliq.golden import E4M3FN, E5M2, E5M2FNUZ, FLOAT8, UINT8, IntFormat, sum_bits
from systoliq.golden.float8_matmul import Numbers, exact_sums
from systoliq.hw import ArrayConfig
from systoliq.hw.mac import Mac
from systoliq.hw.packing import sum_words

from ..bench import traces, with_models
from .mac_bench import length_of, shown_sums

PAIRS = list(itertools.product(FLOAT8, FLOAT8))
INTEGERS = (UINT8, *(IntFormat(bits, signed=True) for bits in (9, 2, 16)))
MIXED = [pair for form, other in zip(FLOAT8, INTEGERS, strict=True) for pair in ((form, other), (other, form))]
COUNT = 120


def codes(form, shape, rng):
    """Any codes, extremes often, and few that are no numbers: else all sums would be NaN."""
    if isinstance(form, IntFormat):
        some = rng.integers(form.min, form.max, shape, endpoint=True)
        return np.where(rng.random(shape) < 0.3, rng.choice([form.min, form.max, 0], shape), some).astype(form.dtype)
    numbers = [code for code in range(256) if not (form.decode(np.uint8([code])).nan[0] or code & 0x7F > form.max_code)]
    odd = [code for code in range(256) if code not in numbers]
    found = np.where(rng.random(shape) < 0.3, rng.choice([form.max_code, 0x80 | form.max_code, 1, 0], shape), 0)
    found = np.where(found == 0, rng.choice(numbers, shape), found)
    return np.where(rng.random(shape) < 0.03, rng.choice(odd, shape), found).astype(np.uint8)


def expected(config, a, b, clear):
    """The word after each cycle's operands."""
    starts = np.maximum.accumulate(np.where(clear, np.arange(COUNT), 0))
    words = []
    for cycle, start in enumerate(starts):
        terms = a[start : cycle + 1].reshape(1, -1), b[start : cycle + 1].reshape(-1, 1)
        numbers = [Numbers.of(term, form) for term, form in zip(terms, config.float8, strict=True)]
        words.append(int(sum_words(exact_sums(*numbers), config)[0, 0]))
    return words


def check(configs, cells="portable", folder=None):
    stimuli, wanted = [], []
    length = length_of(configs, COUNT)
    for config in configs:
        rng = np.random.default_rng([config.depth, config.accumulator_bits])
        a, b = (codes(form, (COUNT, config.depth), rng) for form in config.float8)
        clear = (rng.random(COUNT) < 0.2) | (np.arange(COUNT) == 0)
        wanted.append(expected(config, a, b, clear))
        delay = Mac.clear_delay_of(config)
        stimuli.append(
            [
                {
                    "a": a[min(cycle, COUNT - 1)].tolist(),
                    "b": b[min(cycle, COUNT - 1)].tolist(),
                    "clear": int(0 <= cycle - delay < COUNT and clear[cycle - delay]),
                }
                for cycle in range(length)
            ]
        )
    shown = traces([Mac(config) for config in configs], stimuli, cells=cells, folder=folder)
    for config, words, lines in zip(configs, wanted, shown, strict=True):
        assert shown_sums(config, lines, COUNT) == words[Mac.spread_of(config) :], config


@pytest.mark.parametrize(("a", "b"), PAIRS + MIXED, ids=str)
def test_every_pair_of_formats(a, b):
    check([ArrayConfig(a=a, b=b, accumulator_bits=sum_bits(a, b, COUNT))])


def test_depth_and_parts():
    formats = {"a": E4M3FN, "b": E5M2FNUZ}
    check([ArrayConfig(**formats, depth=depth, accumulator_bits=bits) for depth, bits in ((2, 60), (3, 72), (5, 96))])


@pytest.mark.parametrize("cells", with_models("ecp5"))
def test_cells(tmp_path, cells):
    configs = [ArrayConfig(a=E5M2, b=E5M2, depth=depth, accumulator_bits=75, cells=cells) for depth in (1, 3)]
    check(configs, cells, tmp_path)


def test_narrow_and_wide_accumulators_are_refused():
    with pytest.raises(ValueError, match="accumulator_bits must be at least 65, the width of one float8_e5m2 x"):
        ArrayConfig(a=E5M2, b=E5M2)
    with pytest.raises(ValueError, match="accumulator_bits must be at most 96, not 97"):
        ArrayConfig(a=E5M2, b=E5M2, accumulator_bits=97)
