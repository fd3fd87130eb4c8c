"""A float8 package, derived again: codes of weights, scales, reach of sums, and the Verilog's answers at every step.

certificate.json, NAME_layer.npz, NAME.v  ->  Float8Derivation  ->  what the certificate should say, and why not
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .float8 import FORMATS
from .float32 import combined_scale, steps_digest
from .hardware import Hardware, Shape, UnreadableError
from .package import RefusedError, limited

__all__ = ["Float8Derivation"]

_MANTISSA_BITS = 24  # of float32
_SIGN = 0x80
_PLUS, _MINUS, _NAN = 1, 2, 3  # flags above a sum


@dataclass(frozen=True, kw_only=True)
class _Layer:
    """The layer file: codes of the weights [K][N], names of the formats, and the scale of each column."""

    b: list[list[int]]
    formats: dict[str, str]
    scales: list[Fraction]


class Float8Derivation:
    """The claims of a float8 layer's certificate, found again in the other files."""

    formula = "exact sums, rounded once,"

    def __init__(self, directory: Path, claimed: dict[str, Any], name: str) -> None:
        self.claimed, self.name, self.verilog = claimed, name, f"{name}.v"
        self.layer = _read_layer(directory / f"{name}_layer.npz")
        self.a, self.b, self.y = (FORMATS[self.layer.formats[letter]] for letter in "aby")
        self.k, self.n = len(self.layer.b), len(self.layer.b[0])
        self.flag_bits = 1 if self.a.infinity is self.b.infinity is None else 2
        self.unit = self.a.unit + self.b.unit
        array = claimed["array"]
        shape = Shape(k=self.k, n=self.n, cols=array["cols"], depth=array["depth"], b_signed=False, y_signed=False)
        try:
            self.hardware = Hardware((directory / self.verilog).read_text(encoding="ascii"), name, shape)
            self.weights = self.hardware.weights()
        except (UnreadableError, UnicodeDecodeError, KeyError) as error:
            raise RefusedError(f"{self.verilog}: {error}") from error
        self.reasons: list[str] = []
        self.inexact: list[str] = []
        self.points = 0

    def derive(self, progress: Callable[[str], None]) -> dict[str, Any]:
        """The certificate as it should be."""
        self.reasons += limited(self._compare_weights(), "weights")
        columns = []
        for n in range(self.n):
            progress(f"column {n + 1} of {self.n}")
            columns.append(self._column(n))
        most = max(column["accumulators"][1] for column in columns)
        hardware, shape = self.hardware, self.hardware.shape
        row_bits = 8 * shape.depth
        if hardware.a_width % row_bits:
            raise RefusedError(f"{self.verilog}: takes A in {hardware.a_width} bits, which is not rows x {row_bits}")
        return {
            "generator": "systoliq",
            "kind": "certificate",
            "format": 1,
            "verdict": "differs" if self.inexact else "exact",
            "shape": {"k": self.k, "n": self.n},
            "array": {"rows": hardware.a_width // row_bits, "cols": shape.cols, "depth": shape.depth},
            "formats": {letter if letter != "b" else "weights": name for letter, name in self.layer.formats.items()},
            "accumulator": self._accumulator(most),
            "special": {"nan": self.y.nan, "infinity": [self.y.greatest, self.y.greatest | _SIGN]},
            "requantizer": {"rounding": "nearest-even", "multiplier_bits": _MANTISSA_BITS},
            "weights_sha256": hashlib.sha256(
                "".join(" ".join(map(str, row)) + "\n" for row in self.weights).encode("ascii")
            ).hexdigest(),
            "columns": columns,
        }

    @property
    def _bits(self) -> int:
        """Width of a sum without its flags."""
        return self.hardware.accumulator_bits - self.flag_bits

    def _accumulator(self, most: int) -> dict[str, Any]:
        needed = most.bit_length() + 1
        if needed > self._bits or self.hardware.sum_bits != self.hardware.accumulator_bits:
            self.reasons.append(
                f"{self.verilog}: accumulators of {self._bits} bits, and a requantizer for "
                f"{self.hardware.sum_bits - self.flag_bits}, cannot hold sums up to {most}"
            )
        return {
            "bits": self._bits,
            "sum_bits": self._bits,
            "least": -most,
            "most": most,
            "needed_bits": needed,
            "wraps": False,
            "unit": self.unit,
            "flag_bits": self.flag_bits,
        }

    def _compare_weights(self) -> Iterator[str]:
        for k in range(self.k):
            for n in range(self.n):
                if (found := self.weights[k][n]) != (wanted := self.layer.b[k][n]):
                    yield (
                        f"{self.verilog}: the weight memory has the code {found:#04x} for b[{k}, {n}], "
                        f"{self.name}_layer.npz has {wanted:#04x}"
                    )
        codes = {code & (_SIGN - 1) for row in self.weights for code in row}
        if self.b.infinity in codes and self.hardware.idle_weights() != 0:
            yield f"{self.verilog}: weights that are infinite meet the zeros of a cycle without a beat"

    def _column(self, n: int) -> dict[str, Any]:
        column = self.hardware.float8_column(n)
        exponent = column.exponent - self.unit - self.y.bias
        scale = self.layer.scales[n]
        if column.added:
            self.reasons.append(f"{self.verilog}: column {n} adds {column.added} to its sums")
        if column.multiplier * Fraction(2) ** exponent != scale:
            self.reasons.append(
                f"{self.verilog}: column {n} has the scale {column.multiplier} * 2^{exponent}, {self.name}_layer.npz "
                f"has {float(scale)!r}"
            )
        sizes = (abs(self.b.units(row[n]) or 0) for row in self.weights)
        hi = sum(sizes) * (self.a.units(self.a.greatest) or 0)
        steps = self.y.steps(scale * Fraction(2) ** self.unit, -hi, hi)
        self._answers(n, scale * Fraction(2) ** self.unit, steps, hi)
        return {
            "scale": float(scale).hex(),
            "multiplier": column.multiplier,
            "exponent": exponent,
            "accumulators": [-hi, hi],
            "steps": len(steps) - 1,
            "digest": steps_digest(steps, hi),
        }

    def _answers(self, n: int, scale: Fraction, steps: list[tuple[int, int]], hi: int) -> None:
        """Compare the Verilog's codes on both sides of each step, at both ends, and where a flag is set."""
        sums = sorted({-hi, hi, *(at for start, _ in steps[1:] for at in (start - 1, start))})
        wanted = {(0, at): self.y.nearest(at * scale) for at in sums}
        special = {_PLUS: self.y.greatest, _MINUS: self.y.greatest | _SIGN, _NAN: self.y.nan}
        if self.flag_bits == 1:
            special = {1: self.y.nan}
        wanted |= {(flag, at): code for flag, code in special.items() for at in (-hi, 0, hi)}
        mask = (1 << self._bits) - 1
        found = self.hardware.respond(n, [flag << self._bits | at & mask for flag, at in wanted])
        self.points += len(wanted)
        wrong = [(*case, code, y) for (case, code), y in zip(wanted.items(), found, strict=True) if code != y]
        if wrong:
            flag, at, code, y = wrong[0]
            self.inexact.append(
                f"{self.verilog}: not exact: column {n} gives {len(wrong)} wrong codes, first {y:#04x} instead of "
                f"{code:#04x} for the sum {at}" + (f" with flags {flag}" if flag else "")
            )


def _read_layer(file: Path) -> _Layer:
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        names = {letter: arrays[f"{letter}_zero_point"].dtype.names[0] for letter in "aby"}
        points = [arrays[f"{letter}_zero_point"].view(np.uint8) for letter in "aby"]
        if any(point.any() for point in points) or "bias" in arrays:
            raise ValueError("zero points must be 0, and there must be no bias")
        b = arrays["b"].view(np.uint8)
        a_scale, b_scale, y_scale = (np.broadcast_to(arrays[f"{key}_scale"], b.shape[1]).tolist() for key in "aby")
        scales = [Fraction(combined_scale(*column)) for column in zip(a_scale, b_scale, y_scale, strict=True)]
        if not all(names[letter] in FORMATS for letter in "aby") or arrays["b"].dtype.names != (names["b"],):
            raise ValueError("a, b and y must be float8")
        return _Layer(b=b.tolist(), formats=names, scales=scales)
    except Exception as error:
        raise RefusedError(f"{file.name}: cannot be read as a layer of float8 ({error})") from error
