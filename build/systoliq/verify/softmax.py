"""Softmax, derived again: the memory of exponentials word by word, every quotient rounded, widths; steps and rows.

Stage  ->  nets of the stage, evaluated as if registers were wires  ->  Found

An addition in float32 and a step of the division are evaluated in steered cases, and whole rows cycle by cycle. Other
cases of these two are tested only.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from .evaluate import Scope, Value
from .integer_layer import format_of
from .model import channels
from .package import limited
from .row_formulas import exponentials, float32_total, levels_of, shares
from .stage import Found, Stage, signed
from .stage_rows import Rows, evaluated_rows, steered_rows
from .words import digest_of_words, next_of, results_given, values_of

__all__ = ["softmax"]

_MANTISSA = 24
_DISTANCES = 256
_SUMS = 32  # sums that each exponential is added to
_DIVISIONS = 4096
_IMAGES = 12
_ADD = 5  # cycles of an addition; the rows show that it takes no more
Split = tuple[int, int]  # mantissa and exponent


def softmax(stage: Stage) -> Found:
    """The memory, the rounding and the widths of a softmax; additions, divisions and rows in steered cases."""
    return _Softmax(stage).found()


class _Softmax:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        node = stage.model.node(stage.claimed["node"], "Softmax")
        arrays, formats = stage.arrays, stage.claimed["formats"]
        self.a, self.y = (
            format_of(letter, formats[letter], signed=signed(arrays[f"{letter}_zero_point"]), source=stage.source)
            for letter in "ay"
        )
        self.zero_point = int(arrays["y_zero_point"])
        self.length = channels(node["inputs"][0])
        self.levels = levels_of(float(arrays["y_scale"]))
        self.table = exponentials(float(arrays["a_scale"]), self.length)
        self.split = [_split(each) for each in self.table]
        self.unit = min(exponent for mantissa, exponent in self.split if mantissa)
        self.most = _split(float32_total([self.table[0]] * self.length))[1]
        scope = self.scope = Scope(stage.modules, stage.module)
        wires = scope.module.wires
        self.bits = {
            net: wires[net].width for net in ("total", "total_exponent", "divisor", "rest", "quotient", "level")
        }
        self.word, self.element, self.greatest = (
            scope.connected(*port) for port in (("rom", "word"), ("rows", "element"), ("rows", "greatest"))
        )

    @property
    def fraction(self) -> int:
        """Bits of a numerator behind the point, in the unit of the greatest exponential's mantissa."""
        below = self.bits["rest"] - self.bits["divisor"] - 1
        return below - (self.bits["quotient"] - 2)

    def found(self) -> Found:
        words = self._words()
        checks = (self._widths, self._exponentials_file, lambda: self._memory(words), self._distances, self._rounding)
        reasons = [f"{self.stage.verilog}: {text}" for check in checks for text in limited(iter(check()))]
        sums, wrong = self._additions()
        divisions, more = self._divisions()
        reasons += [f"{self.stage.verilog}: {text}" for text in (*wrong, *more)]
        rows = 0
        if not reasons:
            rows, reasons = self._rows()
        evaluated = [f"{len(words)} words of the table", f"{2 << self.bits['quotient']} quotients"]
        evaluated += [f"{sums} additions", f"{divisions} steps of the division tried"]
        evaluated += [f"{rows} rows evaluated"] if rows else []
        return Found(
            facts={
                "verdict": "differs" if reasons else "exact in part",
                "formats": self.stage.claimed["formats"],
                "length": self.length,
                "levels": self.levels,
                "total_bits": self.bits["divisor"],
                "fraction": self.fraction,
                "exponentials_sha256": digest_of_words(_pattern(*each) for each in self.split),
                "words_sha256": digest_of_words(words),
            },
            tried=", ".join(evaluated),
            reasons=reasons,
            open="additions and divisions in other cases",
        )

    def _widths(self) -> Iterator[str]:
        """Registers that are too narrow for the greatest row."""
        bits = self.bits
        relative = self.most - self.unit
        first = self.split[0][1] - self.unit
        needed = {
            "total": _MANTISSA,
            "total_exponent": relative.bit_length(),
            "divisor": _MANTISSA + relative - first,
            "quotient": self.levels.bit_length() + 1,
            "level": self.levels.bit_length() + 1,
        }
        for net, least in needed.items():
            if bits[net] < least:
                yield f"{net} must have {least} bits for the greatest sum of {self.length} elements, not {bits[net]}"
        if self.fraction < 0:
            yield f"rest must have {bits['divisor'] + bits['quotient'] - 1} bits or more, not {bits['rest']}"

    def _exponentials_file(self) -> Iterator[str]:
        """Exponentials of NAME_stages.npz that are others than derived here."""
        listed = [Fraction(float(each)) for each in self.stage.arrays["exponentials"]]
        if listed != self.table:
            at = next((at for at, (a, b) in enumerate(zip(listed, self.table, strict=False)) if a != b), len(listed))
            yield f"{self.stage.source}: exponential {at} is not the one of the scale and the length"

    def _cases(self, given: Mapping[str, Value]) -> Scope:
        """The module with the contents of some nets, outside of a reset."""
        return self.scope.again({"rst": 0, **given})

    def _words(self) -> list[int]:
        """The memory: exponentials by distance from the greatest element, then numerators."""
        codes = np.arange(_DISTANCES)
        return [
            int(word)
            for dividing in (0, 1)
            for word in values_of(self._cases({"below": codes, "dividing": dividing}), self.word, _DISTANCES)
        ]

    def _memory(self, words: Sequence[int]) -> Iterator[str]:
        """Words that are not an exponential, or not its numerator."""
        first = self.split[0][1]
        for distance, (mantissa, exponent) in enumerate(self.split):
            word = words[distance]
            low, high = word & (1 << _MANTISSA) - 1, word >> _MANTISSA & (1 << self.bits["total_exponent"]) - 1
            if low != mantissa or (mantissa and high != exponent - self.unit):
                yield f"the exponential {distance} is {low} * 2^{high}, not {mantissa} * 2^{exponent - self.unit}"
            numerator = Fraction(words[_DISTANCES + distance], 1 << max(self.fraction, 0))
            wanted = Fraction(mantissa * self.levels) * Fraction(2) ** (exponent - first)
            is_zero = 2 * wanted <= self.split[0][0]  # at most half a level, even of the least sum
            if numerator != (0 if is_zero else wanted):
                yield f"the numerator {distance} is {float(numerator):.9g}, not {float(wanted):.9g}"

    def _distances(self) -> Iterator[str]:
        """Pairs of an element and a greatest one whose distance is wrong."""
        low, high = self.a
        pairs = [(a, b) for a in range(low, high + 1) for b in range(low, a + 1)]
        greatest, element = (np.array([pair[place] & 0xFF for pair in pairs]) for place in (0, 1))
        given = {self.greatest: greatest, self.element: element}
        found = next_of(self._cases(given), "below", len(pairs))
        wrong = [pair for pair, y in zip(pairs, found, strict=True) if y != pair[0] - pair[1]]
        if wrong:
            yield f"{len(wrong)} of {len(pairs)} distances are wrong, first that of {wrong[0][1]} from {wrong[0][0]}"

    def _rounding(self) -> Iterator[str]:
        """Quotients, with and without a remainder, that are rounded or saturated wrongly."""
        size = 1 << self.bits["quotient"]
        quotient, rest = np.tile(np.arange(size), 2), np.repeat([0, 1], size)
        found = results_given(self._cases({"quotient": quotient, "rest": rest}), 2 * size)
        mask = (1 << (self.y[1] - self.y[0]).bit_length()) - 1
        for halves, more, y in zip(quotient.tolist(), rest.tolist(), found, strict=True):
            if halves > 2 * self.levels + 1:
                continue  # no quotient is greater than twice the levels
            level = halves // 2 + (halves % 2 and (more or halves // 2 % 2))
            wanted = min(max(level + self.zero_point, self.y[0]), self.y[1])
            if y != wanted & mask:
                remainder = "with a remainder " if more else ""
                yield f"the quotient {halves}/2 {remainder}gives {y:#x}, not {wanted & mask:#x}"

    def _additions(self) -> tuple[int, list[str]]:
        """Add every exponential to sums of every distance; return how many sums were tried, and faults."""
        words, totals, scales, firsts, wanted = [], [], [], [], []
        rng = random.Random(self.length)
        least, most = self.split[0][1] - self.unit, self.most - self.unit
        for mantissa, exponent in [(mantissa, exponent - self.unit) for mantissa, exponent in self.split if mantissa]:
            for index in range(_SUMS):
                near = max(0, exponent - 28), min(most, max(exponent + 26, least))
                scale = rng.randint(*(near if index % 2 else (least, most)))
                total = rng.choice([1 << 23, (1 << 24) - 1, rng.randrange(1 << 23, 1 << 24), (1 << 23) + 1])
                first = int(index == 0 or self.length == 1)
                result = (mantissa, exponent) if first else _shortened((total << scale) + (mantissa << exponent))
                if result[1] > most:
                    continue
                words.append(mantissa | exponent << _MANTISSA)
                totals.append(total)
                scales.append(scale)
                firsts.append(first)
                wanted.append(result)
        nets: dict[str, Value] = {self.word: words, "total": totals, "total_exponent": scales, "first": firsts}
        given = {net: np.array(values, dtype=object) for net, values in nets.items()}
        scope = self._cases({**given, "read": 1, "dividing": 0})
        found = list(zip(*(next_of(scope, net, len(words)) for net in ("total", "total_exponent")), strict=True))
        wrong = [at for at, (y, x) in enumerate(zip(found, wanted, strict=True)) if y != x]
        if not wrong:
            return len(words), []
        at = wrong[0]
        text = (
            f"{len(wrong)} of {len(words)} additions are wrong, first {totals[at]} * 2^{scales[at]} and the "
            f"exponential {words[at]:#x}: {found[at][0]} * 2^{found[at][1]}"
        )
        return len(words), [text]

    def _divisions(self) -> tuple[int, list[str]]:
        """Take steps of the division, and its beginning; return how many were tried, and faults."""
        bits, rng = self.bits, random.Random(self.length)
        below = bits["rest"] - bits["divisor"] - 1
        divisors = [rng.randrange(1 << 23, 1 << bits["divisor"]) for _ in range(_DIVISIONS)]
        tops = [rng.choice([each, each - 1, rng.randrange(2 * each), 0]) for each in divisors]
        lows = [rng.getrandbits(below) if below else 0 for _ in divisors]
        quotients = [rng.getrandbits(bits["quotient"]) for _ in divisors]
        rests = [top << below | low for top, low in zip(tops, lows, strict=True)]
        nets: dict[str, Sequence[int]] = {"divisor": divisors, "rest": rests, "quotient": quotients}
        given: dict[str, Value] = {net: np.array(values, dtype=object) for net, values in nets.items()}
        scope = self._cases({**given, "read": 0, "dividing": 1})
        rest, quotient = (next_of(scope, net, _DIVISIONS) for net in ("rest", "quotient"))
        wrong = 0
        for at, (top, low, divisor) in enumerate(zip(tops, lows, divisors, strict=True)):
            fits = top >= divisor
            after = (top - divisor if fits else top) << below | low
            last = (quotients[at] << 1 | fits) & (1 << bits["quotient"]) - 1
            wrong += (rest[at], quotient[at], divisor) != (after << 1 & (1 << bits["rest"]) - 1, last, divisor)
        reasons = [f"{wrong} of {_DIVISIONS} steps of the division are wrong"] if wrong else []
        return _DIVISIONS, reasons + list(self._beginnings(rng))

    def _beginnings(self, rng: random.Random) -> Iterator[str]:
        """Divisions that begin with another numerator, or another sum in the unit of the greatest exponential."""
        bits, first = self.bits, self.split[0][1] - self.unit
        scales = [rng.randint(first, self.most - self.unit) for _ in range(_DISTANCES)]
        totals = [rng.randrange(1 << 23, 1 << 24) for _ in range(_DISTANCES)]
        words = [rng.getrandbits(self.scope.module.wires[self.word].width) for _ in range(_DISTANCES)]
        nets: dict[str, Value] = {self.word: words, "total": totals, "total_exponent": scales}
        given = {net: np.array(values, dtype=object) for net, values in nets.items()}
        scope = self._cases({**given, "read": 1, "dividing": 1})
        rest, divisor = (next_of(scope, net, _DISTANCES) for net in ("rest", "divisor"))
        if divisor != [total << scale - first for total, scale in zip(totals, scales, strict=True)]:
            yield f"the divisor is not the sum in {bits['divisor']} bits"
        loaded = [word & (1 << bits["rest"]) - 1 for word in words]
        needed = max(each.bit_length() for each in self._words()[_DISTANCES:])
        if any((y ^ x) & (1 << needed) - 1 for y, x in zip(rest, loaded, strict=True)):
            yield "a division does not begin with its numerator"

    def _rows(self) -> tuple[int, list[str]]:
        """Evaluate whole rows, two to an image."""

        def make(images: int) -> tuple[Mapping[str, Rows], Rows]:
            rows = steered_rows(self.a, self.length, 2 * images)
            return {"i": rows}, [shares(row, self.table, self.levels, self.zero_point, self.y) for row in rows]

        cycles = _ADD + self.levels.bit_length() + 2
        return evaluated_rows(self.stage, make, image_cycles=2 * self.length * cycles + 2, most_images=_IMAGES)


def _shortened(value: int) -> Split:
    """The float32 nearest to a positive integer, half to even: mantissa and exponent."""
    places = max(value.bit_length() - _MANTISSA, 0)
    mantissa = round(Fraction(value, 1 << places))
    return (mantissa >> 1, places + 1) if mantissa >> _MANTISSA else (mantissa, places)


def _split(value: Fraction) -> Split:
    """Mantissa and exponent of a float32, mantissa * 2^exponent; the mantissa has 24 bits unless it is subnormal."""
    places = value.denominator.bit_length() - 1  # the denominator is a power of two
    exponent = max(value.numerator.bit_length() - places - _MANTISSA, -149)
    moved = exponent + places
    return value.numerator >> moved if moved >= 0 else value.numerator << -moved, exponent


def _pattern(mantissa: int, exponent: int) -> int:
    """The bits of a float32 that is not negative."""
    return mantissa + (exponent + 149 << 23) if mantissa >= 1 << 23 else mantissa
