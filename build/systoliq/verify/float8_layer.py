"""A package with float8, derived again: weights, scales, range of sums, and the Verilog's answers at every step.

certificate.json, NAME_layer.npz, NAME.v  ->  Float8Derivation  ->  the expected certificate, or the reasons against it

A, B and Y can each be float8 or integers: `Float8` and `Integers` define the values of their numbers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from .float8 import FORMATS, Float8
from .float8_file import read_float8_file
from .float32 import steps_digest
from .hardware import Hardware, Shape, UnreadableError
from .integers import Integers
from .one_layer import read_modules
from .package import CERTIFICATE, RefusedError, limited

__all__ = ["Float8Derivation"]

_MANTISSA_BITS = 24  # of float32
_SIGN = 0x80
_INT32 = (-(1 << 31), (1 << 31) - 1)


class Float8Derivation:
    """The claims of the certificate of a layer with float8, found again in the other files."""

    formula = "exact sums, rounded once,"

    def __init__(self, directory: Path, claimed: dict[str, Any], name: str) -> None:
        self.claimed, self.name, self.verilog = claimed, name, f"{name}.v"
        self.layer = read_float8_file(directory / f"{name}_layer.npz")
        self.a = self._operand("a", self.layer.a_zero_point)
        self.b = FORMATS.get(self.layer.kinds["b"])  # None where it is integers
        self.y = self._operand("y", self.layer.y_zero_point)
        self.of_integers = self.b is None and isinstance(self.a, Integers)
        self.is_centred = isinstance(self.a, Integers) and self.a.zero_point != 0 and not self.of_integers
        self.k, self.n = len(self.layer.b), len(self.layer.b[0])
        odd = [form for form in (self.a, self.b) if isinstance(form, Float8)]
        self.flag_bits = 2 if any(form.infinity is not None for form in odd) else min(len(odd), 1)
        self.unit = sum(form.unit for form in odd)
        shape = Shape(
            k=self.k,
            n=self.n,
            cols=claimed["array"]["cols"],
            depth=claimed["array"]["depth"],
            b_signed=claimed["formats"]["weights"].startswith("int"),
            y_signed=isinstance(self.y, Integers) and self.y.signed,
        )
        modules = read_modules(directory, self.verilog)
        try:
            self.hardware = Hardware(modules, name, shape)
            self.stored = self.hardware.weights()
            self.columns = [self.hardware.float8_column(n) for n in range(self.n)]
        except (UnreadableError, KeyError) as error:
            raise RefusedError(f"{self.verilog}: {error}") from error
        self.reasons: list[str] = []
        self.inexact: list[str] = []
        self.points = 0
        self.complete = 0  # columns that were tried on every sum: they have too many

    def _operand(self, letter: str, zero_point: int) -> Float8 | Integers:
        """A or Y, of the layer file's kind; how many bits integers have, the certificate says alone."""
        name, kind = self.claimed["formats"][letter], self.layer.kinds[letter]
        if name == kind:
            return FORMATS[kind]
        match = re.fullmatch(rf"{kind}(\d+)", name)
        if not match or kind in FORMATS:
            raise RefusedError(f"{CERTIFICATE}: formats.{letter} is {name!r}, which {self.name}_layer.npz is not")
        return Integers(int(match[1]), kind == "int", zero_point)

    def derive(self, progress: Callable[[str], None]) -> dict[str, Any]:
        """The certificate as it should be."""
        self.reasons += limited(self._compare_weights(), "weights")
        self.reasons += limited(self._compare_entrance())
        weights = [self._units(n) for n in range(self.n)]
        ranges = [self._range(column) for column in weights]
        columns = []
        for n, column in enumerate(weights):
            progress(f"column {n + 1} of {self.n}")
            columns.append(self._column(n, sum(column), *ranges[n]))
        hardware, shape = self.hardware, self.hardware.shape
        stored = f"{'' if shape.b_signed else 'u'}int{hardware.weight_bits}"
        return {
            "verdict": "differs" if self.inexact else "exact",
            "shape": {"k": self.k, "n": self.n},
            "array": {"rows": self._rows(), "cols": shape.cols, "depth": shape.depth},
            "formats": {**self.claimed["formats"], "weights": stored if self.b is None else self.layer.kinds["b"]},
            "zero_points": {
                "a": self.layer.a_zero_point,
                "b": self.layer.b_zero_point,
                "y": self.layer.y_zero_point,
            },
            "accumulator": self._accumulator(min(lo for lo, _ in ranges), max(hi for _, hi in ranges)),
            "special": {"nan": self.y.nan, "infinity": list(self.y.infinities)},
            "requantizer": {"rounding": "nearest-even", "multiplier_bits": _MANTISSA_BITS},
            "weights_sha256": hashlib.sha256(
                "".join(" ".join(map(str, row)) + "\n" for row in self.stored).encode("ascii")
            ).hexdigest(),
            "columns": columns,
        }

    def try_all(self, _: Callable[[str], None]) -> list[str]:
        """Do nothing: there are too many sums."""
        return []

    def _rows(self) -> int:
        """Rows of the array, which takes `depth` operands for each: of A, or differences, which are a bit wider."""
        hardware, depth = self.hardware, self.hardware.shape.depth
        rows, rest = divmod(hardware.entrance_width, self.a.bits * depth)
        if rest or hardware.a_width != rows * depth * (self.a.bits + self.is_centred):
            raise RefusedError(
                f"{self.verilog}: takes A in {hardware.entrance_width} bits, which is not rows x {self.a.bits * depth}"
            )
        if hardware.y_bits != self.y.bits:
            raise RefusedError(f"{self.verilog}: gives Y in {hardware.y_bits} bits, not {self.y.bits}")
        return rows

    def _accumulator(self, least: int, most: int) -> dict[str, Any]:
        """The certificate's words about the accumulator, for sums of `least` to `most`."""
        bits, sum_bits = (each - self.flag_bits for each in (self.hardware.accumulator_bits, self.hardware.sum_bits))
        needed = max((end if end >= 0 else ~end).bit_length() for end in (least, most)) + 1
        wraps = needed > sum_bits
        if wraps and not (self.of_integers and bits == sum_bits == _INT32[1].bit_length() + 1):
            self.reasons.append(
                f"{self.verilog}: accumulators of {bits} bits, and a requantizer for {sum_bits}, cannot hold sums of "
                f"{least} to {most}"
            )
        if bits < sum_bits or (bits > sum_bits and not self.of_integers):
            self.reasons.append(f"{self.verilog}: accumulators of {bits} bits have a requantizer for {sum_bits}")
        return {
            "bits": bits,
            "sum_bits": sum_bits,
            "least": least,
            "most": most,
            "needed_bits": needed,
            "wraps": wraps,
            "unit": self.unit,
            "flag_bits": self.flag_bits,
        }

    def _compare_weights(self) -> Iterator[str]:
        where = f"{self.verilog}: the weight memory has"
        for k in range(self.k):
            for n in range(self.n):
                found, wanted = self.stored[k][n], self.layer.b[k][n]
                if self.b is not None and found != wanted:
                    yield f"{where} the code {found:#04x} for b[{k}, {n}], {self.name}_layer.npz has {wanted:#04x}"
                less, zero_point = found - self.columns[n].residual, self.layer.b_zero_point[n]
                if self.b is None and less != wanted - zero_point:
                    yield (
                        f"{where} b[{k}, {n}] - zero point = {less}, {self.name}_layer.npz has {wanted - zero_point}"
                    )
        codes = {code & (_SIGN - 1) for row in self.stored for code in row}
        if self.b is not None and self.b.infinity in codes and self.hardware.idle_weights() != 0:
            yield f"{self.verilog}: weights that are infinite meet the zeros of a cycle without a beat"

    def _compare_entrance(self) -> Iterator[str]:
        """Operands must come in as they are, or less their zero point: all of 8 bits, some where they have more."""
        bits, wider = self.a.bits, self.a.bits + self.is_centred
        count = self.hardware.entrance_width // bits
        first = range(0, 1 << bits, max((1 << bits) >> 8, 1) | 1)
        given = [[(at + i) % (1 << bits) for i in range(count)] for at in first]
        found = self.hardware.entering([sum(number << i * bits for i, number in enumerate(row)) for row in given])
        for row, word in zip(given, found, strict=True):
            for i, number in enumerate(row):
                signed = isinstance(self.a, Integers) and self.a.signed and number >> bits - 1
                wanted = number - (signed << bits) - (self.layer.a_zero_point if self.is_centred else 0)
                if (word >> i * wider) % (1 << wider) != wanted % (1 << wider):
                    yield f"{self.verilog}: the operand {number:#04x} of A does not enter as {wanted}"
                    return

    def _units(self, n: int) -> list[int]:
        """The weights of column `n` of the Verilog, in units of their least value; 0 for NaN and infinities."""
        if self.b is None:
            return [row[n] - self.columns[n].residual for row in self.stored]
        return [self.b.units(row[n]) or 0 for row in self.stored]

    def _range(self, weights: list[int]) -> tuple[int, int]:
        """The least and the greatest sum of a column, for all finite A."""
        ends = [(weight * self.a.ends[0], weight * self.a.ends[1]) for weight in weights]
        return sum(map(min, ends)), sum(map(max, ends))

    def _column(self, n: int, weights: int, lo: int, hi: int) -> dict[str, Any]:
        """The certificate's claims about column `n`, whose weights add up to `weights`, for sums of lo to hi."""
        if self.of_integers and not _INT32[0] <= lo <= hi <= _INT32[1]:
            lo, hi = _INT32
        column, scale = self.columns[n], self.layer.scales[n]
        exponent = column.exponent - self.unit - self.y.bias
        added = -self.layer.a_zero_point * weights if self.of_integers else 0
        if column.bias != added or (column.residual and not self.of_integers):
            self.reasons.append(
                f"{self.verilog}: column {n} adds {column.bias} to its sums, less {column.residual} times those of A; "
                f"{self.name}_layer.npz asks for {added}"
            )
        if column.multiplier * Fraction(2) ** exponent != scale:
            self.reasons.append(
                f"{self.verilog}: column {n} has the scale {column.multiplier} * 2^{exponent}, {self.name}_layer.npz "
                f"has {float(scale)!r}"
            )
        steps = self.y.steps(scale * Fraction(2) ** self.unit, lo, hi)
        self._answers(n, scale * Fraction(2) ** self.unit, steps, hi)
        return {
            "bias": column.bias,
            "residual": column.residual,
            "scale": float(scale).hex(),
            "multiplier": column.multiplier,
            "exponent": exponent,
            "accumulators": [lo, hi],
            "steps": len(steps) - 1,
            "digest": steps_digest(steps, hi),
        }

    def _answers(self, n: int, scale: Fraction, steps: list[tuple[int, int]], hi: int) -> None:
        """Compare the Verilog's results on both sides of each step, at both ends, and where a flag is set."""
        lo = steps[0][0]
        sums = sorted({lo, hi, *(at for start, _ in steps[1:] for at in (start - 1, start))})
        wanted = {(0, at): self.y.nearest(at * scale) for at in sums}
        plus, minus = self.y.infinities
        special = ({}, {1: self.y.nan}, {1: plus, 2: minus, 3: self.y.nan})[self.flag_bits]
        wanted |= {(flag, at): result for flag, result in special.items() for at in (lo, 0, hi)}
        bits = self.hardware.sum_bits - self.flag_bits
        found = self.hardware.respond(n, [flag << bits | at & (1 << bits) - 1 for flag, at in wanted])
        self.points += len(wanted)
        wrong = [(*case, y, result) for (case, result), y in zip(wanted.items(), found, strict=True) if result != y]
        if wrong:
            flag, at, y, result = wrong[0]
            form = "{}" if isinstance(self.y, Integers) else "{:#04x}"
            self.inexact.append(
                f"{self.verilog}: not exact: column {n} gives {len(wrong)} wrong results, first {form.format(y)} "
                f"instead of {form.format(result)} for the sum {at}" + (f" with flags {flag}" if flag else "")
            )
