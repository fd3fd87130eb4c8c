"""A multiply-accumulate, whatever its form, against the contract of `Mac` in plain Python."""

from __future__ import annotations

import random

from systoliq.hw import ArrayConfig
from systoliq.hw.mac import Mac

from ..bench import corner, traces, wrapped


def operand_sets(config, count, seed, *, columns=1):
    """(a, b, clear) of each cycle: `depth` operands of A, of each column of B; the first begins a sum."""
    rng = random.Random(seed)
    sets = []
    for cycle in range(count):
        a = [corner(rng, config.a.min, config.a.max) for _ in range(config.depth)]
        b = [[corner(rng, config.b.min, config.b.max) for _ in range(config.depth)] for _ in range(columns)]
        sets.append((a, b, cycle == 0 or rng.random() < (0.4 if cycle < count // 2 else 0.03)))
    return sets


def sums(sets, column, bits):
    """The sum after each cycle's operands."""
    total, after = 0, []
    for a, b, clear in sets:
        total = (0 if clear else total) + sum(x * y for x, y in zip(a, b[column], strict=True))
        after.append(wrapped(total, bits))
    return after


def shown_sums(config, lines, count):
    """Of the first `count` sums those after the first `Mac.spread_of`, while whose parts come others are still unknown:
    bits of both columns, each put together from its parts.
    """
    latency, parts = Mac.latency_of(config), Mac.parts_of(config)

    def part(cycle, start, end, late):
        shown = lines[latency + cycle + late]["sum"]
        assert shown is not None, (config, "unknown sums")
        return (shown >> start & (1 << end - start) - 1) << start

    return [sum(part(cycle, *each) for each in parts) for cycle in range(Mac.spread_of(config), count)]


def length_of(configs, count):
    """Cycles until the last part of so many sums."""
    return count + max(Mac.latency_of(config) + Mac.spread_of(config) for config in configs)


def check_macs(variants, *, cells="portable", folder=None, count=60):
    """`Mac` of an `ArrayConfig` of each of `variants`, fields by name."""
    configs = [ArrayConfig(cells=cells, **fields) for fields in variants]
    length = length_of(configs, count)
    sets = [operand_sets(config, count, str(config), columns=Mac.columns_of(config)) for config in configs]
    stimuli = [list(_stimulus(config, each, length)) for config, each in zip(configs, sets, strict=True)]
    shown = traces([Mac(config) for config in configs], stimuli, cells=cells, folder=folder)
    for config, each, lines in zip(configs, sets, shown, strict=True):
        bits = config.accumulator_bits
        for column in range(Mac.columns_of(config)):
            found = [wrapped(shown >> (column * bits), bits) for shown in shown_sums(config, lines, count)]
            assert found == sums(each, column, bits)[Mac.spread_of(config) :], (config, column)


def _stimulus(config, sets, length):
    skew, columns, pairs = Mac.skew_of(config), Mac.columns_of(config), range(config.depth)

    def at(cycle, i, later):
        """The set that the pair i of `cycle` belongs to, where it comes `later` cycles late."""
        return sets[min(max(cycle - i * skew - later, 0), len(sets) - 1)]

    for cycle in range(length):
        begins = cycle - Mac.clear_delay_of(config)
        yield {
            "a": [at(cycle, i, columns - 1)[0][i] for i in pairs],
            "b": [at(cycle, i, column)[1][column][i] for column in range(columns) for i in pairs],
            "clear": 0 <= begins < len(sets) and sets[begins][2],
        }
