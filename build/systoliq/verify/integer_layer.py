"""A dense layer of integers, or a stage that contains one, derived again: its expected part of the certificate.

claims, layer, Verilog  ->  Hardware or Depthwise (weights, constants)  ->  ColumnProof...  ->  claims
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from .canonical import canonical_layer, is_noncanonical
from .columns import ColumnProof, Tried, first_unlike, prove_column
from .depthwise import Depthwise
from .float32 import ROUNDINGS, Format
from .hardware import Hardware, UnreadableError
from .lanes import Column
from .package import CERTIFICATE, Layer, RefusedError, limited

__all__ = ["IntegerLayer", "format_of"]

_MOST_TRIED = 5_000_000  # accumulators of a layer, beside those at the steps
_INT32 = (-(1 << 31), (1 << 31) - 1)


class IntegerLayer:
    """The claims of `claimed` about a layer, derived again from its `hardware`, read from the file `verilog`, and from
    `layer`, read from the file `source`. Columns are tried on every accumulator as long as those are no more than
    `most_tried` in all.
    """

    formula = "the float32 formula"

    def __init__(
        self,
        claimed: dict[str, Any],
        layer: Layer,
        hardware: Hardware | Depthwise,
        *,
        verilog: str,
        source: str,
        most_tried: int = _MOST_TRIED,
    ) -> None:
        if (rounding := claimed["requantizer"]["rounding"]) not in ROUNDINGS:
            raise RefusedError(
                f"{CERTIFICATE}: requantizer.rounding must be one of {', '.join(ROUNDINGS)}, not {rounding!r}"
            )
        self.claimed, self.verilog, self.source = claimed, verilog, source
        self.k, self.n = len(layer.b), len(layer.b[0])
        self.a, self.y = (
            format_of(letter, claimed["formats"][letter], signed=layer.signed[letter], source=source) for letter in "ay"
        )
        self.as_given, self.layer = layer, canonical_layer(layer, self.y)
        self.hardware = hardware
        try:
            self.array = hardware.array((self.a[1] - self.a[0]).bit_length())
            self.weights = hardware.weights()
            self.columns = [hardware.column(n) for n in range(self.n)]
        except UnreadableError as error:
            raise RefusedError(f"{verilog}: {error}") from error
        self.reasons: list[str] = []
        self.inexact: list[str] = []
        self.points = 0
        self.complete = 0  # columns that were tried on every accumulator
        self._most_tried = most_tried // hardware.effort
        self.proofs: list[ColumnProof] = []

    def derive(self, progress: Callable[[str], None]) -> dict[str, Any]:
        """The certificate that the layer should have."""
        self.reasons += limited(self._compare_weights(), "weights")
        self.reasons += limited(self._compare_constants(), "constants")
        ranges = [self._range(n) for n in range(self.n)]
        least, most = min(lo for lo, _ in ranges), max(hi for _, hi in ranges)
        columns, proofs, tried = [], [], []
        for n, (low, high) in enumerate(ranges):
            progress(f"column {n + 1} of {self.n}")
            lo, hi = (low, high) if _INT32[0] <= low and high <= _INT32[1] else _INT32
            if lo == _INT32[0] and is_noncanonical(self.as_given.scales[n]):
                self.reasons.append(
                    f"{self.verilog}: column {n} has a noncanonical scale, and its sums have no opposites in int32"
                )
            tried.append(Tried.of(Fraction(self.layer.scales[n]), self.columns[n].zero_point, self.y, lo, hi))
        progress(f"requantizers of {self.n} columns")
        for n, answers in enumerate(self.hardware.respond_all([each.points for each in tried])):
            proof, column = self._column(n, tried[n], answers)
            proofs.append(proof)
            columns.append(column)
        hardware, claimed = self.hardware, self.claimed
        accumulator = self._accumulator(least, most)
        self._check_array_width()
        exact = all(column["verdict"] == "exact" for column in columns)
        multiplier_bits = max(column.multiplier.bit_length() for column in self.columns)
        mantissa_bits = max(self._mantissa(n).bit_length() for n in range(self.n))
        self.points = sum(proof.points for proof in proofs)
        self.proofs = proofs
        self.inexact += _inexact(proofs)
        return {
            "verdict": "exact" if exact else "differs",
            "shape": {"k": self.k, "n": self.n},
            "array": self.array,
            "formats": {
                **claimed["formats"],
                "weights": f"{'' if hardware.b_signed else 'u'}int{hardware.weight_bits}",
                "y": f"{'' if self.layer.signed['y'] else 'u'}int{hardware.y_bits}",
            },
            "zero_points": {
                "a": self.layer.a_zero_point,
                "b": self.as_given.b_zero_point,
                "y": self.columns[0].zero_point,
            },
            "noncanonical": [n for n, scale in enumerate(self.as_given.scales) if is_noncanonical(scale)],
            "accumulator": accumulator,
            "requantizer": {
                "rounding": claimed["requantizer"]["rounding"],
                "multiplier_bits": multiplier_bits,
                "mantissa_bits": mantissa_bits,
                "saved_bits": mantissa_bits - multiplier_bits,
            },
            "weights_sha256": self._weights_digest(),
            "columns": columns,
        }

    def try_all(self, progress: Callable[[str], None]) -> list[str]:
        """Evaluate derived columns on every accumulator, within the limit of effort; return reasons to refuse."""
        reasons = []
        for n, proof in enumerate(self.proofs):
            size = proof.hi - proof.lo + 1
            if size <= self._most_tried:
                progress(f"column {n + 1} of {self.n}, every accumulator")
                self._most_tried -= size
                self.complete += 1
                self.points += size - proof.points
                wrong = first_unlike(self.hardware, n, proof)
                reasons += [] if wrong is None else [self._unlike_form(n, wrong)]
        return limited(iter(reasons))

    def _unlike_form(self, n: int, accumulator: int) -> str:
        rounding = self.claimed["requantizer"]["rounding"]
        return (
            f"{self.verilog}: the requantizer of column {n} is not the form {rounding!r} at accumulator {accumulator}"
        )

    def _accumulator(self, least: int, most: int) -> dict[str, Any]:
        """The certificate's words about the accumulator, for sums of `least` to `most`."""
        hardware = self.hardware
        needed = next(bits for bits in range(1, 65) if -(1 << bits) <= 2 * least and 2 * most < 1 << bits)
        wraps = needed > hardware.sum_bits
        if wraps and not (hardware.sum_bits == hardware.accumulator_bits == 32):
            self.reasons.append(
                f"{self.verilog}: accumulators of {hardware.accumulator_bits} bits and sums of {hardware.sum_bits} "
                f"cannot hold {least} to {most}"
            )
        return {
            "bits": hardware.accumulator_bits,
            "sum_bits": hardware.sum_bits,
            "least": least,
            "most": most,
            "needed_bits": needed,
            "wraps": wraps,
        }

    def _weights_digest(self) -> str:
        text = "".join(" ".join(map(str, row)) + "\n" for row in self.weights)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def _effective(self, n: int) -> list[int]:
        """The factor of A in the hardware, [K]: the stored weight less the residual zero point."""
        return [row[n] - self.columns[n].residual for row in self.weights]

    def _range(self, n: int) -> tuple[int, int]:
        """The least and greatest sum of column `n`, over all inputs of the format a, by the Verilog's own weights."""
        least, most = self.a
        weights, bias = self._effective(n), self.columns[n].bias
        return (
            bias + sum(min(weight * least, weight * most) for weight in weights),
            bias + sum(max(weight * least, weight * most) for weight in weights),
        )

    def _check_array_width(self) -> None:
        """If the array's sums are narrower than the requantizer's, they must hold the sum before the bias."""
        bits, (least, most) = self.hardware.accumulator_bits, self.a
        if bits >= self.hardware.sum_bits:
            return
        for n in range(self.n):
            ends = [(row[n] * least, row[n] * most) for row in self.weights]
            low, high = sum(map(min, ends)), sum(map(max, ends))
            if not -(1 << (bits - 1)) <= low <= high < 1 << (bits - 1):
                self.reasons.append(f"{self.verilog}: accumulators of {bits} bits cannot hold {low} to {high}")

    def _mantissa(self, n: int) -> int:
        """The multiplier that takes the whole mantissa of the scale of column `n` (docs/exactness.md, number 6)."""
        scale, saturates = Fraction(self.layer.scales[n]), 1 << (self.y[1] - self.y[0]).bit_length()
        if scale <= Fraction(1, 1 << 32):
            return 0
        return min(scale, Fraction(saturates)).numerator

    def _compare_weights(self) -> Iterator[str]:
        for k in range(self.k):
            for n in range(self.n):
                found = self.weights[k][n] - self.columns[n].residual
                wanted = self.layer.b[k][n] - self.layer.b_zero_point[n]
                if found != wanted:
                    yield (
                        f"{self.verilog}: the weight memory has b[{k}, {n}] - zero point = {found}, "
                        f"{self.source} has {wanted}"
                    )

    def _compare_constants(self) -> Iterator[str]:
        layer = self.layer
        for n, column in enumerate(self.columns):
            centered = sum(row[n] for row in layer.b) - self.k * layer.b_zero_point[n]
            for field, found, wanted in (
                ("bias", column.bias + layer.a_zero_point * centered, layer.bias[n]),
                ("zero point of Y", column.zero_point, layer.y_zero_point),
            ):
                if found != wanted:
                    yield (f"{self.verilog}: column {n} has the {field} {found}, {self.source} has {wanted}")

    def _column(self, n: int, tried: Tried, answers: list[int]) -> tuple[ColumnProof, dict[str, Any]]:
        constants: Column = self.columns[n]
        rounding = self.claimed["requantizer"]["rounding"]
        proof = prove_column(tried, answers, constants, rounding, self.y)
        if proof.unlike_form is not None:
            self.reasons.append(self._unlike_form(n, proof.unlike_form))
        column: dict[str, Any] = {
            "bias": constants.bias,
            "residual": constants.residual,
            "scale": float(tried.scale).hex(),
            "multiplier": constants.multiplier,
            "shift": constants.shift,
            "offset": constants.offset,
            "accumulators": [proof.lo, proof.hi],
            "steps": proof.steps,
            "digest": proof.digest,
            "verdict": "differs" if proof.differences else "exact",
        }
        if proof.differences:
            column |= {"differences": proof.differences, "first_difference": proof.first_difference}
        return proof, column


def format_of(letter: str, name: str, *, signed: bool, source: str) -> Format:
    """Return the format `name` of A or Y, `signed` as in the file `source`; raise RefusedError if they differ."""
    match = re.fullmatch(r"(u?)int(\d+)", name)
    if not match or (match[1] == "") != signed:
        raise RefusedError(f"{CERTIFICATE}: formats.{letter} is {name!r}, which {source} is not")
    bits = int(match[2])
    return (0, (1 << bits) - 1) if match[1] else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _inexact(proofs: list[ColumnProof]) -> Iterator[str]:
    for n, proof in enumerate(proofs):
        if proof.differences:
            yield (
                f"not exact: column {n} differs from the float32 formula on {proof.differences} accumulators, first "
                f"at {proof.first_difference}"
            )
