"""Processing element: what passes through, what is captured and what goes down the drain, cycle for cycle."""

from __future__ import annotations

import random

import pytest

from systoliq.hw import ArrayConfig
from systoliq.hw.mac import Mac
from systoliq.hw.processing_element import ProcessingElement

from .bench import corner, corner_of, trace, wrapped

CYCLES = 160


def stimulus(config, top, seed):
    rng = random.Random(seed)
    lines = []
    for cycle in range(CYCLES):
        line = {
            "a": [corner(rng, config.a.min, config.a.max) for _ in range(config.depth)],
            "b": [corner(rng, config.b.min, config.b.max) for _ in range(config.depth)],
            "clear": cycle == Mac.clear_delay_of(config) or rng.random() < 0.1,
            "capture": cycle > Mac.latency_of(config) and rng.random() < 0.3,
        }
        below = {"drain": corner_of(rng, config.accumulator_bits), "insert": rng.random() < 0.4}
        lines.append(line | ({} if top else below))
    return lines


def sums(config, lines, of):
    """The sum of the multiply-accumulate in each cycle, by its contract."""
    latency, clear_delay = Mac.latency_of(config), Mac.clear_delay_of(config)
    total, after = 0, []
    for t, line in enumerate(lines[: CYCLES - latency]):
        clears = lines[t + clear_delay]["clear"]
        ones = [1] * config.depth
        a, b = (line[name] if of in (None, name) else ones for name in ("a", "b"))
        total = (0 if clears else total) + sum(x * y for x, y in zip(a, b, strict=True))
        after.append(wrapped(total, config.accumulator_bits))
    return [0] * latency + after


@pytest.mark.parametrize("top", [True, False])
@pytest.mark.parametrize("broadcast", [True, False])
@pytest.mark.parametrize("of", [None, "a", "b"])
@pytest.mark.parametrize("depth", [1, 3])
def test_element(top, broadcast, of, depth):
    config = ArrayConfig(depth=depth, accumulator_bits=25)
    lines = stimulus(config, top, depth)
    shown = trace(ProcessingElement(config, top=top, sums=of, broadcast=broadcast), lines)
    total = sums(config, lines, of)
    shadow = chain = None
    passed = 0 if broadcast else 1
    for t in range(CYCLES):
        down = shadow if top else chain
        if down is not None:
            assert shown[t]["drain_next"] == down
        if not top:
            chain = shadow if lines[t]["insert"] else lines[t]["drain"]
        if lines[t]["capture"]:
            shadow = total[t]
        if t >= passed:
            for name in ("a", "b", "clear", "capture"):
                value = shown[t][f"{name}_next"]
                assert (list(value) if name in "ab" else value) == lines[t - passed][name]
        if not top and t:
            assert shown[t]["insert_next"] == lines[t - 1]["insert"]


@pytest.mark.parametrize("top", [True, False])
def test_tokens_move_on_in_a_reset(top):
    names = ("clear", "capture") + (() if top else ("insert",))
    given = [1, 1, 0, 1, 0]
    lines = [dict.fromkeys(names, value) | {"rst": cycle == 2} for cycle, value in enumerate(given)]
    shown = trace(ProcessingElement(ArrayConfig(), top=top), lines)
    for name in names:
        assert [line[f"{name}_next"] for line in shown][1:] == given[:-1]
