"""Verification of a package: everything that its certificate claims, derived again from the Verilog and compared.

    certificate.json, NAME_layer.npz, NAME.v  ->  Hardware (weights, constants)  ->  ColumnProof...  ->  Report

Nothing here comes from the code that made the package: the Verilog is read by a reader of its own, the float32 formula
and the integer forms are evaluated in exact arithmetic.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from .columns import ColumnProof, prove_column
from .float8_layer import Float8Derivation
from .float32 import Format
from .hardware import Column, Hardware, Shape, UnreadableError
from .package import (
    CERTIFICATE,
    Layer,
    NotAPackageError,
    RefusedError,
    check_files,
    limited,
    read_certificate,
    read_layer,
)  # fmt: skip
from .turned import is_turned, without_turned

__all__ = ["Report", "verify_package"]

_INT32 = (-(1 << 31), (1 << 31) - 1)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was checked, and all that was found wrong: nothing, where `reasons` is empty."""

    name: str
    columns: int
    steps: int
    points: int
    accumulators: tuple[int, int]
    rounding: str
    multiplier_bits: int
    formula: str
    reasons: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the package is what its certificate says, and exact."""
        return not self.reasons


def verify_package(directory: Path, progress: Callable[[str], None] | None = None) -> Report:
    """Check the package in `directory`; a NotAPackageError where there is none. `progress` hears of each column."""
    reasons: list[str] = []
    claimed: dict[str, Any] = {}
    derived: dict[str, Any] = {}
    points, formula = 0, ""
    try:
        claimed = read_certificate(directory)
        reasons += check_files(directory, claimed)
        package = _derivation(directory, claimed)
        derived = package.derive(progress or (lambda _: None))
        points, formula = package.points, package.formula
        reasons += package.reasons
        reasons += limited(_unlike(claimed, derived))
        reasons += limited(iter(package.inexact))
    except NotAPackageError:
        raise
    except (RefusedError, UnreadableError) as error:
        reasons.append(str(error))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, OSError) as error:
        reasons.append(f"{CERTIFICATE}: does not describe these files ({type(error).__name__}: {error})")
    columns = derived.get("columns", [])
    ends = [end for column in columns for end in column["accumulators"]] or [0]
    return Report(
        name=str(claimed.get("name")),
        columns=len(columns),
        steps=sum(column["steps"] for column in columns),
        points=points,
        accumulators=(min(ends), max(ends)),
        rounding=str(derived.get("requantizer", {}).get("rounding")),
        multiplier_bits=derived.get("requantizer", {}).get("multiplier_bits", 0),
        formula=formula,
        reasons=tuple(dict.fromkeys(reasons)),
    )


def _derivation(directory: Path, claimed: dict[str, Any]) -> _Derivation | Float8Derivation:
    """What finds the claims again: of integers alone or with float8, as the certificate says."""
    name = claimed["name"]
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise RefusedError(f"{CERTIFICATE}: name must be a Verilog identifier, not {name!r}")
    float8 = any(form.startswith("float8") for form in claimed["formats"].values())
    kind = Float8Derivation if float8 else _Derivation
    return kind(directory, claimed, name)


class _Derivation:
    """The claims of a certificate, found again in the other files."""

    formula = "the float32 formula"

    def __init__(self, directory: Path, claimed: dict[str, Any], name: str) -> None:
        self.claimed, self.name, self.verilog = claimed, name, f"{name}.v"
        self.layer: Layer = read_layer(directory, self.name)
        array, formats = claimed["array"], claimed["formats"]
        self.k, self.n = len(self.layer.b), len(self.layer.b[0])
        self.a, self.y = (self._format(letter, formats[letter]) for letter in "ay")
        self.as_given, self.layer = self.layer, without_turned(self.layer, self.y)
        shape = Shape(
            k=self.k,
            n=self.n,
            cols=array["cols"],
            depth=array["depth"],
            b_signed=not formats["weights"].startswith("u"),
            y_signed=self.layer.signed["y"],
        )
        try:
            text = (directory / self.verilog).read_text(encoding="ascii")
            self.hardware = Hardware(text, self.name, shape)
            self.weights = self.hardware.weights()
            self.columns = [self.hardware.column(n) for n in range(self.n)]
        except (UnreadableError, UnicodeDecodeError, KeyError) as error:
            raise RefusedError(f"{self.verilog}: {error}") from error
        self.reasons: list[str] = []
        self.inexact: list[str] = []
        self.points = 0

    def _format(self, letter: str, name: str) -> Format:
        match = re.fullmatch(r"(u?)int(\d+)", name)
        if not match or (match[1] == "") != self.layer.signed[letter]:
            raise RefusedError(f"{CERTIFICATE}: formats.{letter} is {name!r}, which {self.name}_layer.npz is not")
        bits = int(match[2])
        return (0, (1 << bits) - 1) if match[1] else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    def derive(self, progress: Callable[[str], None]) -> dict[str, Any]:
        """The certificate as it should be."""
        self.reasons += limited(self._compare_weights(), "weights")
        self.reasons += limited(self._compare_constants(), "constants")
        ranges = [self._range(n) for n in range(self.n)]
        least, most = min(lo for lo, _ in ranges), max(hi for _, hi in ranges)
        columns, proofs = [], []
        for n, (low, high) in enumerate(ranges):
            progress(f"column {n + 1} of {self.n}")
            lo, hi = (low, high) if _INT32[0] <= low and high <= _INT32[1] else _INT32
            if lo == _INT32[0] and is_turned(self.as_given.scales[n]):
                self.reasons.append(f"{self.verilog}: column {n} is turned, and its sums have no opposites in int32")
            proof, column = self._column(n, lo, hi)
            proofs.append(proof)
            columns.append(column)
        hardware, claimed = self.hardware, self.claimed
        accumulator = self._accumulator(least, most)
        self._check_array_width()
        exact = all(column["verdict"] == "exact" for column in columns)
        multiplier_bits = max(column.multiplier.bit_length() for column in self.columns)
        mantissa_bits = max(self._mantissa(n).bit_length() for n in range(self.n))
        self.points = sum(proof.points for proof in proofs)
        self.inexact += _inexact(proofs)
        return {
            "generator": "systoliq",
            "kind": "certificate",
            "format": 1,
            "verdict": "exact" if exact else "differs",
            "shape": {"k": self.k, "n": self.n},
            "array": {
                "rows": self._rows(),
                "cols": hardware.shape.cols,
                "depth": hardware.shape.depth,
            },
            "formats": {
                **claimed["formats"],
                "weights": f"{'' if hardware.shape.b_signed else 'u'}int{hardware.weight_bits}",
                "y": f"{'' if self.layer.signed['y'] else 'u'}int{hardware.y_bits}",
            },
            "zero_points": {
                "a": self.layer.a_zero_point,
                "b": self.as_given.b_zero_point,
                "y": self.columns[0].zero_point,
            },
            "turned": [n for n, scale in enumerate(self.as_given.scales) if is_turned(scale)],
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

    def _rows(self) -> int:
        """Rows of the array: the A port carries `depth` operands for each."""
        bits = (self.a[1] - self.a[0]).bit_length()
        width = self.hardware.a_width
        rows, rest = divmod(width, bits * self.hardware.shape.depth)
        if rest:
            raise RefusedError(f"{self.verilog}: takes A in {width} bits, which is not rows x depth x {bits}")
        return rows

    def _weights_digest(self) -> str:
        text = "".join(" ".join(map(str, row)) + "\n" for row in self.weights)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def _effective(self, n: int) -> list[int]:
        """What the hardware multiplies A by, [K]: the stored weight less the residual zero point."""
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
        """Where the array's sums are narrower than the requantizer's, they must hold the sum before the bias."""
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
                        f"{self.name}_layer.npz has {wanted}"
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
                    yield (f"{self.verilog}: column {n} has the {field} {found}, {self.name}_layer.npz has {wanted}")

    def _column(self, n: int, lo: int, hi: int) -> tuple[ColumnProof, dict[str, Any]]:
        constants: Column = self.columns[n]
        scale = Fraction(self.layer.scales[n])
        rounding = self.claimed["requantizer"]["rounding"]
        proof = prove_column(self.hardware, n, constants, rounding, scale, self.y, lo, hi)
        if proof.unlike_form is not None:
            self.reasons.append(
                f"{self.verilog}: the requantizer of column {n} is not the form {rounding!r} at accumulator "
                f"{proof.unlike_form}"
            )
        column: dict[str, Any] = {
            "bias": constants.bias,
            "residual": constants.residual,
            "scale": float(scale).hex(),
            "multiplier": constants.multiplier,
            "shift": constants.shift,
            "offset": constants.offset,
            "accumulators": [lo, hi],
            "steps": proof.steps,
            "digest": proof.digest,
            "verdict": "differs" if proof.differences else "exact",
        }
        if proof.differences:
            column |= {"differences": proof.differences, "first_difference": proof.first_difference}
        return proof, column


def _inexact(proofs: list[ColumnProof]) -> Iterator[str]:
    for n, proof in enumerate(proofs):
        if proof.differences:
            yield (
                f"not exact: column {n} differs from the float32 formula on {proof.differences} accumulators, first "
                f"at {proof.first_difference}"
            )


def _unlike(claimed: Any, derived: Any, path: str = "") -> Iterator[str]:
    """Where the certificate says something else than what was derived; what only it can say is left alone."""
    if isinstance(derived, dict) and isinstance(claimed, dict):
        for key in derived:
            if key in claimed:
                yield from _unlike(claimed[key], derived[key], f"{path}.{key}" if path else key)
            else:
                yield f"{CERTIFICATE}: has no {path}.{key}".replace("no .", "no ")
    elif isinstance(derived, list) and isinstance(claimed, list) and len(derived) == len(claimed):
        for index, (one, other) in enumerate(zip(claimed, derived, strict=True)):
            yield from _unlike(one, other, f"{path}[{index}]")
    elif claimed != derived:
        yield f"{CERTIFICATE}: {path} is {claimed!r}, but the Verilog and the layer give {derived!r}"
