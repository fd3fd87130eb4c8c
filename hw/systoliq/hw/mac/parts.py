"""Numbers in parts: long additions as short ones, each part a cycle after the one below it, whose carry it takes.

A carry chain of an accumulator's whole width is too slow. Numbers that are added up again and again stay in parts, the
lowest first: part i comes i cycles after part 0, or ``i * lag``. Where a number ends below its highest parts, they
repeat its sign.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from amaranth.hdl import Cat, Const, Module, Signal, Value

from ..delay import delay

__all__ = ["Part", "cuts", "extended", "skewed", "skewed_sum", "together"]


class Part(NamedTuple):
    """Bits ``start`` to ``end - 1`` of a number, which come ``late`` cycles after the first part."""

    start: int
    end: int
    late: int

    def of(self, number: Value) -> Value:
        """These bits of ``number``."""
        return number[self.start : self.end]


def cuts(bits: int, most: int) -> list[int]:
    """Start of each part of ``bits`` bits, and the end of the last one. Parts have ``most`` bits, some one more.

    They begin at even places: ECP5's carry chains come in pairs of bits, and both their ends take one.
    """
    count = -(-bits // most)
    return [bits * i // count & ~1 for i in range(count)] + [bits]


def extended(part: Value, bits: int) -> Value:
    """``part`` with its highest bit repeated: a part is shorter than its place only where it holds the sign."""
    return Cat(part, part[-1].replicate(bits - len(part)))


def skewed(m: Module, number: Value, at: Sequence[int], *, lag: int = 1, name: str) -> list[Value]:
    """The parts of the signed ``number``, which has no more bits than ``at`` says: part i, ``i * lag`` cycles later."""
    parts = [number[start:end] if start < len(number) else number[-1] for start, end in _places(at)]
    return [delay(m, part, i * lag, name=name if i == 1 else f"{name}_{i}") for i, part in enumerate(parts)]


def together(m: Module, number: Value, parts: Sequence[Part], *, name: str) -> Value:
    """The whole of a ``number`` that comes in ``parts``, when the last one is there."""
    last = max(part.late for part in parts)
    if last == 0:
        return number
    waits = ((part, last - part.late) for part in parts)
    return Cat(delay(m, part.of(number), wait, name=f"{name}_{part.start}") for part, wait in waits)


def skewed_sum(m: Module, terms: Sequence[list[Value]], bits: int, at: Sequence[int], *, name: str) -> list[Value]:
    """The sum of ``terms`` in parts, each of ``bits`` bits, `adder_tree_latency` cycles later, modulo ``2**at[-1]``."""
    level = 0
    while len(terms) > 1:
        level, bits = level + 1, min(bits + 1, at[-1])
        widths = [max(min(end, bits) - start, 1) for start, end in _places(at)]
        totals = []
        for i in range(0, len(terms), 2):
            pair = [[extended(p, w) for p, w in zip(term, widths, strict=True)] for term in terms[i : i + 2]]
            totals.append(_sum(m, pair, name=f"{name}_{level}_{i // 2}"))
        terms = totals
    return terms[0]


def _sum(m: Module, pair: list[list[Value]], *, name: str) -> list[Value]:
    """The sum of two terms, or one term alone, a cycle later."""
    if len(pair) == 1:
        return [delay(m, part, 1, name=f"{name}_part_{i}") for i, part in enumerate(pair[0])]
    carry: Value = Const(0, 1)
    parts = []
    for i, (a, b) in enumerate(zip(*pair, strict=True)):
        total = Signal(len(a) + 1, name=f"{name}_part_{i}", reset_less=True)
        m.d.sync += total.eq((Cat(Const(1, 1), a) + Cat(carry, b))[1:])  # one adder, the carry in it
        carry = total[-1]
        parts.append(total[:-1])
    return parts


def _places(at: Sequence[int]) -> list[tuple[int, int]]:
    return list(itertools.pairwise(at))
