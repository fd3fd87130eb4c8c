"""Matrix products of two computed tensors, derived again: every product of two elements, the requantizer's steps.

Stage  ->  nets of the stage, evaluated as if registers were wires  ->  Found

Additions to the sum are evaluated in steered cases, and whole images cycle by cycle.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .columns import ColumnProof, Tried, first_unlike, prove_column
from .evaluate import Scope, Value
from .expression import Name, UnreadableError
from .float32 import ROUNDINGS, combined_scale, float32_output
from .integer_layer import format_of
from .lanes import Lanes
from .package import CERTIFICATE, RefusedError
from .stage import Found, Stage, signed
from .stage_rows import Rows, evaluated_rows
from .words import next_of, results_given

__all__ = ["matrix_product"]

_BITS = 8  # of an element
_SUMS = 4096  # additions that are tried
_IMAGES = 2
_MOST_TRIED = 300_000


def matrix_product(stage: Stage) -> Found:
    """All products of two elements, sums in steered cases, and the requantizer on both sides of each step."""
    return _MatrixProduct(stage).found()


class _Requantized(Lanes):
    """The one requantizer of a product, which takes the sum in the net `acc`."""

    def __init__(self, core: Scope, acc: str, *, y_signed: bool) -> None:
        self.core, self.lanes, self.acc = core, 1, acc
        self.b_signed, self.y_signed = True, y_signed

    @property
    def first_lane(self) -> Scope:
        return self.core

    @property
    def y_bits(self) -> int:
        return self.core.port_width("requantizer", "y")

    def lane(self, n: int, *, sums: Value, row_sum: int) -> Scope:
        return self.core.again({self.acc: sums, "rst": 0})


class _MatrixProduct:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        node = stage.model.node(stage.claimed["node"], "MatrixProduct")
        arrays, formats = stage.arrays, stage.claimed["formats"]
        tensors = dict(zip("aby", (*node["inputs"], node["output"]), strict=True))
        self.formats = {
            letter: format_of(
                letter, formats[letter], signed=signed(arrays[f"{letter}_zero_point"]), source=stage.source
            )
            for letter in "aby"
        }
        self.zero_points = {letter: int(arrays[f"{letter}_zero_point"]) for letter in "aby"}
        self.scale = combined_scale(*(float(arrays[f"{letter}_scale"]) for letter in "aby"))
        self.blocks = int(node["blocks"])
        self.k, self.n = (int(tensors[letter]["shape"][2]) for letter in "ay")
        self.rows = int(tensors["y"]["shape"][1]) // self.blocks
        ends = [[end - self.zero_points[letter] for end in self.formats[letter]] for letter in "ab"]
        corners = [self.k * a * b for a in ends[0] for b in ends[1]]
        self.least, self.most = min(corners), max(corners)
        scope = self.scope = Scope(stage.modules, stage.module)
        acc = scope.module.instances["requantizer"].ports.get("acc")
        if not isinstance(acc, Name) or acc.low is not None:
            raise UnreadableError(f"module {stage.module} has no sum of its own")
        self.acc, self.sum_bits = acc.name, scope.module.wires[acc.name].width
        self.nets = {letter: scope.connected(of, "element") for letter, of in (("a", "rows"), ("b", "matrix"))}
        widths = {scope.module.wires[net].width for net in self.nets.values()}
        self.at_once = widths.pop() // _BITS
        if widths or self.at_once < 1 or self.k % self.at_once:
            raise UnreadableError(f"module {stage.module} does not multiply a divisor of {self.k} pairs at once")
        self.lane = _Requantized(scope, self.acc, y_signed=self.formats["y"][0] < 0)

    def found(self) -> Found:
        stage, rounding = self.stage, self.stage.claimed["rounding"]
        if rounding not in ROUNDINGS:
            raise RefusedError(f"{CERTIFICATE}: rounding must be one of {', '.join(ROUNDINGS)}, not {rounding!r}")
        pairs, reasons = self._pairs()
        reasons += [*self._widths(), *self._sums(), *self._outputs()]
        reasons = [f"{stage.verilog}: {text}" for text in reasons]
        proof, column = self._column(rounding)
        if proof.differences:
            reasons.append(f"not exact: differs from the float32 formula on {proof.differences} sums, first at "
                           f"{proof.first_difference}")  # fmt: skip
        unlike = proof.unlike_form
        complete = unlike is None and proof.hi - proof.lo < _MOST_TRIED // self.lane.effort
        if complete:
            unlike = first_unlike(self.lane, 0, proof)
        if unlike is not None:
            reasons.append(f"{stage.verilog}: the requantizer is not the form {rounding!r} at the sum {unlike}")
        rows = 0
        if not reasons:
            rows, reasons = self._rows()
        tried = f"{proof.hi - proof.lo + 1 if complete else proof.points} sums requantized"
        return Found(
            facts={
                "verdict": "differs" if reasons else "exact",
                "formats": stage.claimed["formats"],
                "shape": {"blocks": self.blocks, "rows": self.rows, "k": self.k, "n": self.n},
                "zero_points": self.zero_points,
                "sum_bits": self.sum_bits,
                "rounding": rounding,
                "column": column,
            },
            tried=f"{pairs} products, {_SUMS} additions and {tried}" + (f", {rows} rows evaluated" if rows else ""),
            reasons=reasons,
        )

    def _widths(self) -> Iterator[str]:
        """A sum that is too narrow."""
        needed = next(bits for bits in range(1, 65) if -(1 << bits) <= 2 * self.least and 2 * self.most < 1 << bits)
        if self.sum_bits < needed:
            yield f"sums of {self.sum_bits} bits cannot hold {self.least} to {self.most}"

    def _evaluated(self, elements: Mapping[str, Sequence[int]], first: Value, held: Value) -> list[int]:
        """The next sums, as signed numbers, for the elements of both memories that are multiplied at once, `at_once`
        after `at_once`; `first`: they begin a sum.
        """
        given = {self.nets[letter]: self._words(elements[letter]) for letter in "ab"}
        count, half = len(elements["a"]) // self.at_once, 1 << self.sum_bits - 1
        scope = self.scope.again({**given, "first": first, self.acc: held, "rst": 0})
        return [(each ^ half) - half for each in next_of(scope, self.acc, count)]

    def _words(self, elements: Sequence[int]) -> Value:
        """Return words of a memory: `at_once` elements each, the first in the lowest bits."""
        codes = np.array([each & (1 << _BITS) - 1 for each in elements], dtype=object).reshape(-1, self.at_once)
        return np.asarray(sum(codes[:, place] << _BITS * place for place in range(self.at_once)))

    def _alone(self, letter: str, elements: Sequence[int], place: int) -> list[int]:
        """The elements, each at `place` among zero points: their products count alone."""
        others = [self.zero_points[letter]] * self.at_once
        return [each for element in elements for each in (*others[:place], element, *others[place + 1 :])]

    def _pairs(self) -> tuple[int, list[str]]:
        """Multiply every pair of elements, at each place where elements are multiplied at once."""
        (a_low, a_high), (b_low, b_high) = self.formats["a"], self.formats["b"]
        pairs = [(a, b) for a in range(a_low, a_high + 1) for b in range(b_low, b_high + 1)]
        a, b = ([pair[place] for pair in pairs] for place in (0, 1))
        zero = np.array([0] * len(pairs), dtype=object)
        for place in range(self.at_once):
            found = self._evaluated({"a": self._alone("a", a, place), "b": self._alone("b", b, place)}, 1, zero)
            wrong = [
                at for at, (pair, y) in enumerate(zip(pairs, found, strict=True))
                if y != (pair[0] - self.zero_points["a"]) * (pair[1] - self.zero_points["b"])
            ]  # fmt: skip
            if wrong:
                first = f"first {found[wrong[0]]} for {pairs[wrong[0]]}"
                return len(pairs), [f"not exact: {len(wrong)} of {len(pairs)} products are wrong, {first}"]
        return len(pairs) * self.at_once, []

    def _sums(self) -> Iterator[str]:
        """Add products to sums that stay in range."""
        rng = random.Random(self.k)
        count = _SUMS * self.at_once
        elements = {letter: [rng.randint(*self.formats[letter]) for _ in range(count)] for letter in "ab"}
        a, b = (np.array(elements[letter]) - self.zero_points[letter] for letter in "ab")
        products = (a * b).reshape(-1, self.at_once).sum(axis=1).tolist()
        ends = [(max(self.least, self.least - each), min(self.most, self.most - each)) for each in products]
        held = [rng.choice([*pair, rng.randint(*pair)]) for pair in ends]
        given = np.array([each & (1 << self.sum_bits) - 1 for each in held], dtype=object)
        found = self._evaluated(elements, 0, given)
        wrong = [at for at, y in enumerate(found) if y != held[at] + products[at]]
        if wrong:
            at = wrong[0]
            pair = f"{held[at]} + {products[at]}"
            yield f"not exact: {len(wrong)} of {_SUMS} additions are wrong, first {found[at]} for {pair}"

    def _outputs(self) -> Iterator[str]:
        """A FIFO that takes something else than the requantizer's results."""
        net = self.scope.connected("requantizer", "y")
        bits = self.scope.module.wires[net].width
        codes = np.arange(1 << bits)
        found = results_given(self.scope.again({net: codes}), len(codes))
        if found != codes.tolist():
            yield "results are not the results of the requantizer"

    def _column(self, rounding: str) -> tuple[ColumnProof, dict[str, Any]]:
        """Compare the requantizer with the float32 formula on both sides of each step."""
        constants = self.lane.column(0)
        if constants.zero_point != self.zero_points["y"]:
            raise RefusedError(
                f"{self.stage.verilog}: the zero point of Y is {constants.zero_point}, {self.stage.source} has "
                f"{self.zero_points['y']}"
            )
        scale = Fraction(self.scale)
        tried = Tried.of(scale, constants.zero_point, self.formats["y"], self.least, self.most)
        proof = prove_column(tried, self.lane.respond(0, tried.points), constants, rounding, self.formats["y"])
        column: dict[str, Any] = {
            "scale": float(scale).hex(),
            "multiplier": constants.multiplier,
            "shift": constants.shift,
            "offset": constants.offset,
            "accumulators": [self.least, self.most],
            "steps": proof.steps,
            "digest": proof.digest,
            "verdict": "differs" if proof.differences else "exact",
        }
        return proof, column

    def _rows(self) -> tuple[int, list[str]]:
        """Evaluate whole images."""

        def make(images: int) -> tuple[Mapping[str, Rows], Rows]:
            rng = np.random.default_rng(images)
            shapes = {"a": (images * self.blocks, self.rows, self.k), "b": (images * self.blocks, self.k, self.n)}
            given = {
                letter: rng.integers(self.formats[letter][0], self.formats[letter][1] + 1, shape)
                for letter, shape in shapes.items()
            }
            a, b = (given[letter] - self.zero_points[letter] for letter in "ab")
            scale, output, zero_point = Fraction(self.scale), self.formats["y"], self.zero_points["y"]
            sums = (a @ b).reshape(-1, self.n).tolist()
            wanted = [[float32_output(each, scale, zero_point, output) for each in row] for row in sums]
            ports = {
                port: given[letter].reshape(-1, given[letter].shape[2]).tolist()
                for port, letter in (("i_0", "a"), ("i_1", "b"))
            }
            return ports, wanted

        cycles = self.blocks * (self.rows * (self.k // self.at_once * self.n + 1) + self.k * self.n)
        return evaluated_rows(self.stage, make, image_cycles=cycles, most_images=_IMAGES)
