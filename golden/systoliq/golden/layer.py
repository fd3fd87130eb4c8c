"""MatMulLayer: what to compute. The one object that both the golden result and the hardware are made from."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.markup import described

from .accumulate import exact_matmul, wrap_int32
from .canonical import canonical_fields
from .float8 import Float8Format
from .float8_matmul import Numbers, Sums, exact_sums, integer_sums, refuse_underflow, rounded, scaled
from .formats import INT32, IntFormat
from .layer_file import FORMAT_KEY, KEYS, OPTIONAL_KEYS, read_layer_file
from .operand import Format, as_layer_operand, as_layer_zero_point, integer_format, kind
from .parameters import along, as_scale, check_finite, check_positive, in_short, one_element
from .requantization import Constants
from .rescale import combined_scale, requantize_float32

Array = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class MatMulLayer:
    """y = rescale((a - a_zero_point) @ (b - b_zero_point) + bias): QLinearMatMul with constant weights, or QGemm.

    The parameters are as in ONNX: b [K, N]; scales float32, float16, bfloat16 or Python floats; a_* and y_* scalar or
    with one element; b_* also [N] or [1, N]; bias int32 [N] or None. The type of a zero point is its operand's format.
    For values narrower than their array type, pass a_format, b_format or y_format; zero points may then be plain ints.
    Scales of integers may have any value, including negative and NaN; the float32 formula (`rescale`) defines the
    results. A layer with float8 has positive, finite scales, no bias, and zero points of 0 for float8; docs/float8.md
    defines its results.

    Without y_scale and y_zero_point the layer is a MatMulInteger: y is the int32 sum modulo 2^32. a_scale and b_scale
    are then optional, both together.

    Such a layer may also omit a_zero_point together with a_scale if a_format is given; b_scale may then be given alone.
    The zero point arrives with A at run time, one for all rows or one per row, as in dynamic quantization.

    The fields are stored in one form: b and b_zero_point [N] in `b_format.dtype`, b_scale float32 [N], bias int32 [N],
    all read-only; a_scale and y_scale float32; a_zero_point and y_zero_point int. Omitted fields are None.
    """

    name: str = "layer"
    b: npt.NDArray[Any]
    a_scale: Any = None
    a_zero_point: Any = None
    b_scale: Any = None
    b_zero_point: Any
    y_scale: Any = None
    y_zero_point: Any = None
    bias: npt.NDArray[np.int32] | None = None
    a_format: Format = None  # type: ignore[assignment]  # None is replaced by the zero point's format
    b_format: Format = None  # type: ignore[assignment]
    y_format: Format = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a str, not {self.name!r}")
        if not self.name:
            raise ValueError(f"name must not be empty, not {self.name!r}")
        for field in ("a_format", "b_format", "y_format"):
            if not isinstance(getattr(self, field), IntFormat | Float8Format | None):
                raise TypeError(f"{field} must be an IntFormat or a Float8Format, not {getattr(self, field)!r}")
        b, b_format = as_layer_operand("b", self.b, self.b_format)
        if b.ndim != 2 or 0 in b.shape:
            raise ValueError(f"b must have the shape [K, N] with K and N at least 1, not {list(b.shape)}")
        n = b.shape[1]
        a_zero_point, a_format = self._kept_a_zero_point()
        b_zero_point, _ = as_layer_zero_point("b_zero_point", self.b_zero_point, b_format)
        kept = {
            "b": _read_only(b.view(b_format.dtype)),
            "a_zero_point": a_zero_point,
            "b_zero_point": _per_column("b_zero_point", b_zero_point.view(b_format.dtype), n),
            "bias": None if self.bias is None else _bias(self.bias, n),
            "a_format": a_format,
            "b_format": b_format,
            **self._kept_results(),
            **self._kept_scales(n),
        }
        for field, value in kept.items():
            object.__setattr__(self, field, value)
        if self.has_float8:
            self._check_float8()
            check_finite("a_scale * b_scale / y_scale", self.scale)
        if self.gives_sums and self.sum_scale is not None:
            check_finite("a_scale * b_scale", self.sum_scale)

    def _kept_a_zero_point(self) -> tuple[int | None, Format]:
        """The zero point of A, None where it comes at run time, and the format."""
        if self.a_zero_point is not None:
            zero_point, a_format = as_layer_zero_point("a_zero_point", self.a_zero_point, self.a_format)
            return int(one_element("a_zero_point", zero_point)), a_format
        if self.y_scale is not None or self.y_zero_point is not None:
            raise ValueError("a_zero_point must be given: only int32 sums may have one that comes at run time")
        if not isinstance(self.a_format, IntFormat) or self.a_format.bits > 16:
            raise ValueError(
                "a_zero_point must be given, or a_format, of integers of at most 16 bits, where it comes at run time, "
                f"not {self.a_format}"
            )
        if self.a_scale is not None:
            raise ValueError("a_scale cannot be given without a_zero_point: both come at run time")
        return None, self.a_format

    def _kept_results(self) -> dict[str, Any]:
        """The zero point of Y and its format: int32 where neither zero point nor scale is given."""
        if self.y_scale is None and self.y_zero_point is None:
            if self.y_format not in (None, INT32):
                raise ValueError(f"y_scale and y_zero_point must be given for results of {self.y_format}")
            return {"y_format": INT32}
        zero_point, y_format = as_layer_zero_point("y_zero_point", _given(self, "y_zero_point"), self.y_format)
        return {"y_zero_point": int(one_element("y_zero_point", zero_point)), "y_format": y_format}

    def _kept_scales(self, n: int) -> dict[str, Any]:
        """Return the checked scales: all three; A's and B's for sums; B's if A's zero point comes late; or none."""
        sums = self.y_scale is None and self.y_zero_point is None
        if sums and self.a_scale is None and self.b_scale is None:
            return {}
        if self.a_zero_point is None:
            b_scale = as_scale("b_scale", self.b_scale)
            check_positive("b_scale", b_scale)
            return {"b_scale": _per_column("b_scale", b_scale, n)}
        given = {name: as_scale(name, _given(self, name)) for name in ("a_scale", "b_scale")}
        b_scale = _per_column("b_scale", given["b_scale"], n)
        kept = {"a_scale": one_element("a_scale", given["a_scale"]), "b_scale": b_scale}
        if not sums:
            kept["y_scale"] = one_element("y_scale", as_scale("y_scale", _given(self, "y_scale")))
        return kept

    def _check_float8(self) -> None:
        if self.gives_sums:
            raise ValueError(
                f"y_scale and y_zero_point must be given for {self.a_format} x {self.b_format}: only sums of integers "
                "are int32"
            )
        if self.bias is not None:
            raise ValueError("bias must be None for float8, not an array of int32")
        for name in ("a_scale", "b_scale", "y_scale"):
            check_positive(name, np.asarray(getattr(self, name)))
        refuse_underflow(self.scale, self.a_scale, self.b_scale, self.y_scale)

    def __repr__(self) -> str:
        a, b = f"{self.a_format.name} [M, {self.k}]", f"{self.b_format.name} [{self.k}, {self.n}]"
        y = f"{self.y_format.name} [M, {self.n}]{', no bias' if self.bias is None else ''}"
        return f"MatMulLayer({self.name[:80]!r}, {a} x {b} -> {y})"

    def _repr_html_(self) -> str:
        formats = {"a": self.a_format, "b": self.b_format, "y": self.y_format}
        shapes = {"a": ("M", self.k), "b": (self.k, self.n), "y": ("M", self.n)}
        values = {name: (getattr(self, f"{name}_scale"), getattr(self, f"{name}_zero_point")) for name in formats}
        rows = [
            (name.upper(), form.name, " x ".join(map(str, shapes[name])), *map(in_short, values[name]))
            for name, form in formats.items()
        ]
        return described(repr(self), ("", "type", "shape", "scale", "zero point"), rows)

    @classmethod
    def load(cls, path: str | Path, **fields: Any) -> MatMulLayer:
        """Load a layer file: an .npz archive with exactly the keys b, a_scale, a_zero_point, b_scale, b_zero_point,
        y_scale, y_zero_point and, optionally, bias. For int32 sums, y's are absent, and a_scale and b_scale both there
        or both absent. If A's zero point comes at run time, a_format, the name of A's format, replaces a_zero_point.

        `fields` (name, a_format, ...) are added; the name defaults to the file's stem. Errors name the file.
        """
        arrays: dict[str, Any] = dict(read_layer_file(path))
        try:
            if FORMAT_KEY in arrays:
                arrays = arrays | {FORMAT_KEY: IntFormat.parse(arrays[FORMAT_KEY].tolist())}
            return cls(**{"name": Path(path).stem, **arrays, **fields})
        except (TypeError, ValueError) as error:
            raise type(error)(f"{path}: {error}") from error

    def replace(self, **changes: Any) -> MatMulLayer:
        """A copy with some fields changed, validated again."""
        return dataclasses.replace(self, **changes)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The layer in the form of ONNX, under the keys of a layer file."""
        types = {"a_zero_point": self.a_format.dtype, "y_zero_point": self.y_format.dtype}
        fields = {key: getattr(self, key) for key in KEYS + OPTIONAL_KEYS}
        if self.takes_zero_points:
            fields[FORMAT_KEY] = self.a_format.name
        return {key: np.asarray(value, types.get(key)) for key, value in fields.items() if value is not None}

    @property
    def k(self) -> int:
        """Length of the sums, the rows of b."""
        return int(self.b.shape[0])

    @property
    def n(self) -> int:
        """Number of outputs, the columns of b."""
        return int(self.b.shape[1])

    @property
    def gives_sums(self) -> bool:
        """True if Y is the int32 sums."""
        return self.y_format == INT32

    @property
    def has_float8(self) -> bool:
        """True if A, B or Y is float8: the sum and its product with the scale are then exact, and rounded once."""
        return any(isinstance(each, Float8Format) for each in (self.a_format, self.b_format, self.y_format))

    @property
    def multiplies_integers(self) -> bool:
        """True if A and B are integers, whose sums are int32, for any Y."""
        return isinstance(self.a_format, IntFormat) and isinstance(self.b_format, IntFormat)

    @property
    def sum_scale(self) -> npt.NDArray[np.float32] | None:
        """Scale of a sum, per column: f32(a_scale * b_scale), [N]; None if a scale is unknown."""
        return None if self.a_scale is None else combined_scale(self.a_scale, self.b_scale, np.float32(1))

    @property
    def scale(self) -> npt.NDArray[np.float32]:
        """From accumulator to output, per column: f32(f32(a_scale * b_scale) / y_scale), [N]."""
        if self.gives_sums:
            raise TypeError("scale must be asked of a layer with y_scale, not of int32 sums: see sum_scale")
        return combined_scale(self.a_scale, self.b_scale, self.y_scale)

    @cached_property
    def canonical(self) -> MatMulLayer:
        """The equal layer whose combined scales are finite and not negative; see `canonical_fields`."""
        changes = canonical_fields(self)
        return self.replace(**changes) if changes else self

    @property
    def centered_b(self) -> npt.NDArray[np.int64]:
        """Weights minus their zero point, [K, N]."""
        self._refuse_float8("centered_b", self.b_format)
        centered: npt.NDArray[np.int64] = np.subtract(self.b, self.b_zero_point, dtype=np.int64)
        return centered

    @property
    def b_units(self) -> npt.NDArray[np.int64]:
        """The weights less their zero point in units of 2^`b_format.unit`, [K, N]; 0 for NaN and infinities."""
        if isinstance(self.b_format, IntFormat):
            return self.centered_b
        decoded = self.b_format.decode(self.b)
        return decoded.significand << decoded.shift

    def check_input(self, a: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return `a` as an array [M, K] or [K] of `a_format`; raise TypeError or ValueError if it is not one."""
        array, fmt = as_layer_operand("a", a, self.a_format)
        if array.ndim not in (1, 2) or array.shape[-1] != self.k:
            raise ValueError(
                f"a must have the shape [M, {self.k}] or [{self.k}] for b of shape {list(self.b.shape)}, "
                f"not {list(array.shape)}"
            )
        return array.view(fmt.dtype)

    def quantize(self, x: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return real numbers as operands of A, as ONNX's QuantizeLinear: in float32, half to even, saturated."""
        if self.a_scale is None:
            raise ValueError("a_scale must be known to quantize real numbers, and this layer has none")
        if not np.isfinite(self.a_scale) or not self.a_scale:
            raise ValueError(f"a_scale must be finite and not 0 to quantize real numbers, not {float(self.a_scale)!r}")
        real = np.asarray(x).astype(np.float32)
        if np.isnan(real).any():
            raise ValueError(f"a must hold numbers, not nan (at {np.argwhere(np.isnan(real))[0].tolist()})")
        if isinstance(self.a_format, Float8Format):
            return self.a_format.encode(real / self.a_scale).view(self.a_format.dtype)
        levels: npt.NDArray[Any] = self.a_format.saturate(np.rint(real / self.a_scale) + self.a_zero_point)
        return levels

    def _refuse_float8(self, name: str, *operands: Format) -> None:
        for operand in operands:
            if isinstance(operand, Float8Format):
                raise TypeError(f"{name} must be asked of a layer of integers, not of {operand}: see exact_sums")

    @property
    def takes_zero_points(self) -> bool:
        """True if A's zero point arrives with A, at run time."""
        return self.a_zero_point is None

    def zero_points(self, a: npt.NDArray[Any], a_zero_point: npt.ArrayLike | None = None) -> npt.NDArray[np.int64]:
        """The zero point of each row of `a` ([M, K] or [K]): [M, 1].

        `a_zero_point` is one of `a_format` for all, or for each row ([M] or [M, 1]); None where it is the layer's own.
        """
        rows = np.atleast_2d(a)
        if self.takes_zero_points == (a_zero_point is None):
            must = (
                "be given with a" if self.takes_zero_points else f"not be given: the layer's own is {self.a_zero_point}"
            )
            raise ValueError(f"a_zero_point must {must}")
        given, _ = (
            as_layer_zero_point("a_zero_point", a_zero_point, self.a_format)
            if a_zero_point is not None
            else (np.asarray(self.a_zero_point), None)
        )
        column = along("row", "a_zero_point", given.astype(np.int64), rows.shape)
        return np.broadcast_to(column, (len(rows), 1))

    def accumulate(self, a: npt.ArrayLike, a_zero_point: npt.ArrayLike | None = None) -> npt.NDArray[np.int32]:
        """The int32 accumulators for `a` and `a_zero_point`, as `zero_points` takes them, with bias: [M, N] or [N]."""
        self._refuse_float8("accumulate", self.a_format, self.b_format)
        array = self.check_input(a)
        centered = np.atleast_2d(array).astype(np.int64) - self.zero_points(array, a_zero_point)
        acc = exact_matmul(centered, self.centered_b)
        if self.bias is not None:
            acc += self.bias
        return wrap_int32(acc).reshape(*array.shape[:-1], self.n)

    def exact_sums(self, a: npt.ArrayLike) -> Sums:
        """The sums of a layer with float8 for `a` ([M, K] or [K], which counts as [1, K]): [M, N].

        Sums of integers wrap, as in `accumulate`.
        """
        if not self.has_float8:
            raise TypeError(f"exact_sums must be asked of a layer of float8, not of {self.a_format}: see accumulate")
        array = np.atleast_2d(self.check_input(a))
        if self.multiplies_integers:
            return integer_sums(self.accumulate(array))
        return exact_sums(
            Numbers.of(array, self.a_format, int(self.a_zero_point)),
            Numbers.of(self.b, self.b_format, self.b_zero_point),
        )

    def by_constants(self, constants: Constants, a: npt.ArrayLike, zero_point: npt.ArrayLike | None = None) -> Array:
        """The output [M, N] for `a` [M, K], as hardware computes it with these `constants`; see `golden`."""
        sums = self.exact_sums(a) if self.has_float8 else self.canonical.accumulate(a, zero_point)
        return constants.apply(sums)

    def golden(self, a: npt.ArrayLike, a_zero_point: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """The normative output for `a` ([M, K] or [K]): [M, N] or [N] in `y_format.dtype`.

        `a_zero_point` is for layers that have none of their own: see `zero_points`.
        """
        if self.has_float8:
            y = rounded(scaled(self.exact_sums(a), self.scale), self.y_format, self.y_zero_point)
            return y.reshape(*np.shape(a)[:-1], self.n)
        if self.gives_sums:
            return self.accumulate(a, a_zero_point)
        output = integer_format("y_format", self.y_format)
        return requantize_float32(self.accumulate(a), self.scale, self.y_zero_point, output)

    def accumulator_range(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Least and greatest sum, bias included and not wrapped, that some input reaches: two arrays [N].

        Sums are linear in the zero point, so for zero points that come at run time the two ends of the range are
        enough.
        """
        self._refuse_float8("accumulator_range", self.a_format, self.b_format)
        least, greatest = self._sum_range
        return least.copy(), greatest.copy()

    @cached_property
    def _sum_range(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        own = (self.a_format.min, self.a_format.max) if self.takes_zero_points else (self.a_zero_point,)
        centered = self.centered_b
        least = [centered * (self.a_format.min - zero_point) for zero_point in own]
        greatest = [centered * (self.a_format.max - zero_point) for zero_point in own]
        bias = 0 if self.bias is None else self.bias.astype(np.int64)
        ends = [each(least, greatest).sum(axis=1) for each in (np.minimum, np.maximum)]
        return ends[0].min(axis=0) + bias, ends[1].max(axis=0) + bias


def _given(layer: MatMulLayer, name: str) -> Any:
    value = getattr(layer, name)
    if value is None:
        rest = (
            "a_scale and b_scale"
            if layer.y_scale is None and layer.y_zero_point is None
            else "y_scale and y_zero_point"
        )
        raise ValueError(f"{name} must be given too, or {rest} left out together for int32 sums")
    return value


def _per_column(name: str, value: npt.NDArray[Any], n: int) -> npt.NDArray[Any]:
    if value.size != 1 and value.shape not in ((n,), (1, n)):
        raise ValueError(
            f"{name} must be a scalar, [{n}] or [1, {n}] for b with {n} columns, not shape {list(value.shape)}"
        )
    return _read_only(np.broadcast_to(value.reshape(-1), n))


def _bias(value: npt.ArrayLike, n: int) -> npt.NDArray[np.int32]:
    bias = np.asarray(value)
    if bias.dtype != np.int32:
        raise TypeError(f"bias must be int32, not {kind(value)}")
    if bias.shape != (n,):
        raise ValueError(f"bias must have the shape [{n}] for b with {n} columns, not {list(bias.shape)}")
    return _read_only(bias)


def _read_only(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    copy = np.array(value)
    copy.flags.writeable = False
    return copy
