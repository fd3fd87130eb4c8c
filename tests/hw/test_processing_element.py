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
            "capture": cycle > Mac.latency_of(config) + Mac.spread_of(config) and rng.random() < 0.3,
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


def check_drained(config, lines, shown, total, part, *, top):
    """What goes down the drain, of one part: all of it happens so many cycles later as the part is late."""

    def bits(value):
        return value >> part.start & (1 << part.end - part.start) - 1

    shadow = chain = None
    for t in range(CYCLES - part.late):
        down = shadow if top else chain
        if down is not None:
            assert bits(shown[t + part.late]["drain_next"]) == down
        if not top:
            chain = shadow if lines[t]["insert"] else bits(lines[t + part.late]["drain"])
        if lines[t]["capture"]:
            shadow = bits(total[t])


@pytest.mark.parametrize("top", [True, False])
@pytest.mark.parametrize("broadcast", [True, False])
@pytest.mark.parametrize("of", [None, "a", "b"])
@pytest.mark.parametrize(("depth", "accumulator_bits"), [(1, 25), (3, 25), (2, 20), (1, 48)])
def test_element(top, broadcast, of, depth, accumulator_bits):
    config = ArrayConfig(depth=depth, accumulator_bits=accumulator_bits)
    lines = stimulus(config, top, depth)
    shown = trace(ProcessingElement(config, top=top, sums=of, broadcast=broadcast), lines)
    total = sums(config, lines, of)
    passed = 0 if broadcast else 1
    for part in Mac.parts_of(config):
        check_drained(config, lines, shown, total, part, top=top)
    for t in range(CYCLES):
        if t >= passed:
            for name in ("a", "b", "clear", "capture"):
                value = shown[t][f"{name}_next"]
                assert (list(value) if name in "ab" else value) == lines[t - passed][name]
        if not top and t:
            assert shown[t]["insert_next"] == lines[t - 1]["insert"]


def test_direct_element():
    config = ArrayConfig(accumulator_bits=25)
    lines = stimulus(config, True, 7)
    for line in lines:
        del line["capture"]
    shown = trace(ProcessingElement(config, direct=True), lines)
    total = sums(config, lines, None)
    begins = Mac.latency_of(config)
    for part in Mac.parts_of(config):
        for t in range(begins, CYCLES - part.late):
            assert shown[t + part.late]["sum"] >> part.start & 1 == total[t] >> part.start & 1


@pytest.mark.parametrize("top", [True, False])
def test_tokens_move_on_in_a_reset(top):
    names = ("clear", "capture") + (() if top else ("insert",))
    given = [1, 1, 0, 1, 0]
    lines = [dict.fromkeys(names, value) | {"rst": cycle == 2} for cycle, value in enumerate(given)]
    shown = trace(ProcessingElement(ArrayConfig(), top=top), lines)
    for name in names:
        assert [line[f"{name}_next"] for line in shown][1:] == given[:-1]
