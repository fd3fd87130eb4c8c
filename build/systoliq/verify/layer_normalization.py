"""Layer normalization, derived again: squares, gains, shifts, constants, widths, the rounding; steps and rows.

Stage  ->  nets of the stage, evaluated as if registers were wires  ->  Found

Sums, and the steps of the searches and of the products, are evaluated in random cases, and whole rows cycle by cycle.
Other cases of these are tested only.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from .evaluate import Scope, Value, as_signed
from .expression import UnreadableError
from .integer_layer import format_of
from .model import channels
from .package import RefusedError, limited
from .row_formulas import FRACTION, Normalization
from .stage import Found, Stage, signed
from .stage_rows import Rows, evaluated_rows, steered_rows
from .words import digest_of_words, next_of, results_given, values_of

__all__ = ["layer_normalization"]

_CASES = 512  # of each step
_IMAGES = 6
_CODES = 256
_NETS = (
    "total", "sum_of_squares", "size", "factor", "squared", "radicand", "root", "root_rest", "dividend", "inverse",
    "apart", "negative", "distance", "product", "minus", "gain", "normal", "scaled", "shift", "sum", "level",
)  # fmt: skip
Contents = Mapping[str, Sequence[int]]
_Step = tuple[str, Mapping[str, int], Contents, Contents]  # name, control, contents before, contents after


def layer_normalization(stage: Stage) -> Found:
    """Tables, constants, widths and the rounding of a layer normalization; its steps and rows in some cases."""
    return _LayerNormalization(stage).found()


class _LayerNormalization:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        node = stage.model.node(stage.claimed["node"], "LayerNormalization")
        arrays, formats = stage.arrays, stage.claimed["formats"]
        self.x, self.y = (
            format_of(letter, formats[letter], signed=signed(arrays[f"{letter}_zero_point"]), source=stage.source)
            for letter in "ay"
        )
        self.zero_point = int(arrays["y_zero_point"])
        self.length = channels(node["inputs"][0])
        gain, shift = (arrays[name].astype(float).tolist() for name in ("gain", "shift"))
        if not len(gain) == len(shift) == self.length:
            raise RefusedError(f"{stage.source}: gain and shift must have {self.length} numbers")
        x_scale, y_scale = (float(arrays[f"{letter}_scale"]) for letter in "ay")
        epsilon = float.fromhex(node["epsilon"]["float32"])
        self.constants = Normalization.of(self.x, x_scale, y_scale, gain, shift, epsilon)
        scope = self.scope = Scope(stage.modules, stage.module)
        wires = scope.module.wires
        if missing := [net for net in _NETS if net not in wires]:
            raise UnreadableError(f"module {stage.module} has no net {missing[0]}")
        self.bits = {net: wires[net].width for net in _NETS}
        self.element, self.square, self.gain = (
            scope.connected(*port) for port in (("rows", "element"), ("squares", "word"), ("gains", "word"))
        )
        self.rng = random.Random(self.length)

    def found(self) -> Found:
        checks = (self._squares, self._gains, self._widths, self._rounding)
        reasons = [f"{self.stage.verilog}: {text}" for check in checks for text in limited(iter(check()))]
        reasons += [f"{self.stage.verilog}: {text}" for text in limited(iter(self._steps()))]
        rows = 0
        if not reasons:
            rows, reasons = self._rows()
        constants = self.constants
        evaluated = (
            f"256 squares, {self.length} gains and shifts, steps of the rounding, {_CASES} cases of each step tried"
        )
        return Found(
            facts={
                "verdict": "differs" if reasons else "exact in part",
                "formats": self.stage.claimed["formats"],
                "length": self.length,
                "constants": {
                    name: getattr(constants, name) for name in ("half", "offset", "dividend", "drop", "gain_bits")
                },
                "gains_sha256": digest_of_words(constants.gains),
                "shifts_sha256": digest_of_words(constants.shifts),
            },
            tried=evaluated + (f", {rows} rows evaluated" if rows else ""),
            reasons=reasons,
            open="sums, root, inverse and products in other cases",
        )

    def _cases(self, given: Mapping[str, Value]) -> Scope:
        """The module with the contents of some nets, outside of a reset."""
        return self.scope.again({"rst": 0, **given})

    def _codes(self) -> list[int]:
        """The element for each byte."""
        return [code - _CODES if code > self.x[1] else code for code in range(_CODES)]

    def _squares(self) -> Iterator[str]:
        """Bytes whose square times the length is another."""
        found = values_of(self._cases({self.element: np.arange(_CODES)}), self.square, _CODES)
        for element, word in zip(self._codes(), found, strict=True):
            if word != self.length * element**2:
                yield f"the square of {element} is {word}, not {self.length} * {element}^2"

    def _gains(self) -> Iterator[str]:
        """Channels whose gain or shift does not follow from the scales, or is not taken with its element."""
        places = np.arange(self.length)
        held = self._cases({"element_ends": 1, "at": places})
        words = np.array(values_of(held, self.gain, self.length), dtype=object)
        negative = np.array([place % 2 for place in range(self.length)], dtype=object)
        size, minus, shift = self._loaded({self.gain: words, "negative": negative}, "gain", "minus", "shift")
        for place, (gain, added) in enumerate(zip(self.constants.gains, self.constants.shifts, strict=True)):
            found = -size[place] if minus[place] != place % 2 else size[place]
            if found != gain:
                yield f"the gain of channel {place} is {found}, not {gain}"
            if (found := int(as_signed(shift[place], self.bits["shift"]))) != added:
                yield f"the shift of channel {place} is {found}, not {added}"

    def _loaded(self, given: Mapping[str, Value], *nets: str) -> list[list[int]]:
        """Registers after an element's product with the inverse, when its product with its gain begins."""
        count = max(len(each) for each in given.values())
        scope = self._cases({"starts": 1, **given})
        return [next_of(scope, net, count) for net in nets]

    def _widths(self) -> Iterator[str]:
        """Registers that are too narrow for some row."""
        low, high = self.x
        n, constants = self.length, self.constants
        variance = n * n * (high - low) ** 2 // 4
        radicand = (variance << 2 * constants.half) + constants.offset
        apart = (n - 1) * (high - low)
        inverse = constants.inverse(n - 1)  # of the least variance but 0
        normal = (math.isqrt(n - 1) + 2) << FRACTION  # |x - mean| <= sqrt(n - 1) deviations
        gain = max(map(abs, constants.gains))
        shift = max(max(constants.shifts), -1 - min(constants.shifts))
        needed = {
            "total": max(n * high, -n * low - 1).bit_length() + 1,
            "sum_of_squares": (n * n * max(low * low, high * high) + constants.least_variance).bit_length(),
            "squared": (max(n * high, -n * low) ** 2).bit_length(),
            "radicand": radicand.bit_length(),
            "root": math.isqrt(radicand).bit_length(),
            "root_rest": math.isqrt(radicand).bit_length() + 1,
            "inverse": inverse.bit_length(),
            "apart": apart.bit_length() + 1,
            "distance": apart.bit_length(),
            "product": (normal << constants.drop).bit_length(),
            "normal": normal.bit_length(),
            "gain": gain.bit_length(),
            "scaled": (normal * gain).bit_length(),
            "shift": shift.bit_length() + 1,
            "sum": (normal * gain + shift + 1).bit_length() + 1,
        }
        for net, least in needed.items():
            if self.bits[net] < least:
                yield f"{net} must have {least} bits for rows of {n} elements, not {self.bits[net]}"

    def _rounding(self) -> Iterator[str]:
        """Sums next to a step, and at the ends, that are rounded or saturated wrongly."""
        constants, bits = self.constants, self.bits["sum"]
        unit = 1 << FRACTION + constants.gain_bits
        low, high = -(1 << bits - 1), (1 << bits - 1) - 1
        ties = [(2 * (result - self.zero_point) + 1) * unit // 2 for result in range(self.y[0] - 1, self.y[1] + 1)]
        sums = [tie + near for tie in ties for near in (-1, 0, 1)] + [low, high, 0]
        sums = [min(max(each, low), high) for each in sums]
        given = np.array([each & (1 << bits) - 1 for each in sums], dtype=object)
        found = results_given(self._cases({"sum": given}), len(sums))
        mask = (1 << (self.y[1] - self.y[0]).bit_length()) - 1
        for total, y in zip(sums, found, strict=True):
            wanted = constants.rounded(total, self.zero_point, self.y) & mask
            if y & mask != wanted:
                yield f"the sum {total} is rounded to {y & mask:#x}, not {wanted:#x}"

    def _random(self, net: str, most: int | None = None) -> list[int]:
        """Random contents of a register, including the least and the greatest."""
        most = (1 << self.bits.get(net, 8)) - 1 if most is None else most
        return [0, most, *(self.rng.randint(0, most) for _ in range(_CASES - 2))]

    def _steps(self) -> Iterator[str]:
        """Steps that give something else than they must, in random cases."""
        for what, control, contents, wanted in (
            *self._sums(), *self._searches(), *self._products(),
        ):  # fmt: skip
            given = {net: np.array(values, dtype=object) for net, values in contents.items()}
            scope = self._cases({**given, **control})
            for net, expected in wanted.items():
                mask = (1 << self.bits[net]) - 1
                found = next_of(scope, net, _CASES)
                wrong = [at for at, (y, x) in enumerate(zip(found, expected, strict=True)) if y != x & mask]
                if wrong:
                    at = wrong[0]
                    yield (
                        f"{what}: {len(wrong)} of {_CASES} cases are wrong, first {net}: {found[at]:#x} instead of "
                        f"{expected[at] & mask:#x}"
                    )

    def _sums(self) -> Iterator[_Step]:
        """Sums of elements and of squares, and the distance of an element from the mean."""
        bits, n = self.bits, self.length
        codes = self._codes() * (_CASES // _CODES)
        others = [(n - 1) * end for end in self.x]
        totals = [code + self.rng.choice([*others, self.rng.randint(*others)]) for code in codes]
        squares = [self.rng.randrange(1 << bits["sum_of_squares"] - 1) for _ in codes]
        given = {
            "total": [each & (1 << bits["total"]) - 1 for each in totals],
            "sum_of_squares": squares,
            self.element: [code & 0xFF for code in codes],
        }
        added = {
            "total": [total + code for total, code in zip(totals, codes, strict=True)],
            "sum_of_squares": [total + n * code * code for total, code in zip(squares, codes, strict=True)],
        }
        yield "sums", {"adds": 1, "take": 0}, given, added
        begun = {"total": [0] * _CASES, "sum_of_squares": [self.constants.least_variance] * _CASES}
        yield "beginning of sums", {"adds": 0, "take": 1}, given, begun
        apart = [n * code - total for total, code in zip(totals, codes, strict=True)]
        yield "distances", {}, given, {"apart": apart}
        loaded = {"distance": [abs(each) for each in apart], "product": [0] * _CASES}
        loaded["negative"] = [int(each < 0) for each in apart]
        signed_apart = [each & (1 << bits["apart"]) - 1 for each in apart]
        yield "sizes of distances", {"starts": 1}, {"apart": signed_apart}, loaded
        sizes = {"size": [abs(each) for each in totals], "factor": [abs(each) for each in totals]}
        begins = {"begins_0": 1, "searches_0": 0}
        yield "sizes of sums", begins, given, {**sizes, "squared": [0] * _CASES}

    def _searches(self) -> Iterator[_Step]:
        """Steps of the square, the root and the inverse, and how these begin."""
        bits, constants, r = self.bits, self.constants, self._random
        size, factor, squared = r("size"), r("factor"), r("squared")
        top = bits["factor"] - 1
        given = {"size": size, "factor": factor, "squared": squared}
        yield (
            "square",
            {"begins_0": 0, "searches_0": 1},
            given,
            {
                "squared": [2 * a + (b if c >> top else 0) for a, b, c in zip(squared, size, factor, strict=True)],
                "factor": [2 * each for each in factor],
            },
        )
        most = self.length**2 * (self.x[1] - self.x[0]) ** 2 // 4
        variances = self._random("", most)
        greatest = self.length**2 * max(map(abs, self.x)) ** 2
        squares = [self.rng.randint(variance, greatest) for variance in variances]
        given = {
            "sum_of_squares": [each + constants.least_variance for each in squares],
            "squared": [each - variance for each, variance in zip(squares, variances, strict=True)],
        }
        radicands = [(variance << 2 * constants.half) + constants.offset for variance in variances]
        zeros = [0] * _CASES
        yield "radicand", {"begins_1": 1, "searches_1": 0}, given, {
            "radicand": radicands, "root": zeros, "root_rest": zeros,
        }  # fmt: skip
        radicand, root = r("radicand"), r("root", (1 << bits["root"] - 1) - 1)
        low = bits["radicand"] - 2
        for at in range(0, _CASES, 4):  # the trial just fits
            radicand[at] = radicand[at] & (1 << low) - 1 | 1 << low
        rest = [self.rng.randint(0, 2 * each) if at % 4 else each for at, each in enumerate(root)]
        longer = [4 * a + (b >> low) for a, b in zip(rest, radicand, strict=True)]
        trial = [4 * each + 1 for each in root]
        fits = [a >= b for a, b in zip(longer, trial, strict=True)]
        yield (
            "root",
            {"begins_1": 0, "searches_1": 1},
            {"radicand": radicand, "root": root, "root_rest": rest},
            {
                "radicand": [each << 2 for each in radicand],
                "root": [2 * each + fit for each, fit in zip(root, fits, strict=True)],
                "root_rest": [a - b if fit else a for a, b, fit in zip(longer, trial, fits, strict=True)],
            },
        )
        yield (
            "dividend",
            {"begins_2": 1, "searches_2": 0},
            {"root": root},
            {"dividend": [1 << constants.dividend] * _CASES},
        )
        below = bits["inverse"] - 1
        divisors = [max(1, each) for each in r("root")]
        tops = [self.rng.choice([each, each - 1, self.rng.randrange(2 * each)]) for each in divisors]
        lows = [self.rng.getrandbits(below) if below else 0 for _ in tops]
        inverse = r("inverse")
        held = [a << below | b for a, b in zip(tops, lows, strict=True)]
        fits = [a >= b for a, b in zip(tops, divisors, strict=True)]
        left = [a - b if fit else a for a, b, fit in zip(tops, divisors, fits, strict=True)]
        given = {"root": divisors, "dividend": held, "inverse": inverse}
        yield (
            "inverse",
            {"begins_2": 0, "searches_2": 1},
            given,
            {
                "dividend": [(a << below | b) << 1 for a, b in zip(left, lows, strict=True)],
                "inverse": [2 * each + fit for each, fit in zip(inverse, fits, strict=True)],
            },
        )

    def _products(self) -> Iterator[_Step]:
        """Steps of both products of an element, the first value of the second, and the sum that is rounded."""
        bits, r = self.bits, self._random
        for held, factor, by in (("product", "distance", "inverse"), ("scaled", "gain", "normal")):
            a, b, c = r(held), r(factor), r(by)
            top = bits[factor] - 1
            yield (
                held,
                {"starts": 0},
                {held: a, factor: b, by: c},
                {
                    held: [2 * each + (added if bit >> top else 0) for each, bit, added in zip(a, b, c, strict=True)],
                    factor: [2 * each for each in b],
                },
            )
        product = r("product")
        yield (
            "normalized element",
            {"starts": 1},
            {"product": product},
            {
                "normal": [each >> self.constants.drop for each in product],
                "scaled": [0] * _CASES,
            },
        )
        scaled, minus = r("scaled"), [self.rng.randrange(2) for _ in range(_CASES)]
        shift = [self.rng.randint(-(1 << bits["shift"] - 1), (1 << bits["shift"] - 1) - 1) for _ in scaled]
        given = {"scaled": scaled, "minus": minus, "shift": [each & (1 << bits["shift"]) - 1 for each in shift]}
        yield (
            "sum",
            {},
            given,
            {"sum": [b - a if negative else b + a for a, b, negative in zip(scaled, shift, minus, strict=True)]},
        )

    def _rows(self) -> tuple[int, list[str]]:
        """Evaluate whole rows, two to an image."""

        def make(images: int) -> tuple[Mapping[str, Rows], Rows]:
            rows = steered_rows(self.x, self.length, 2 * images)
            return {"i": rows}, [self.constants.row(row, self.zero_point, self.y) for row in rows]

        bits = self.bits
        searches = bits["total"] + bits["root"] + bits["inverse"] + 8
        cycles = 1 + self.length * (2 + bits["distance"]) + searches
        return evaluated_rows(self.stage, make, image_cycles=2 * cycles, most_images=_IMAGES)
