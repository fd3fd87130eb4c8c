"""The four 8-bit floating-point formats of ONNX: the value of each code, and rounding to a code.

    float8_e4m3fn    4 exponent bits, 3 mantissa bits; NaN is S.1111.111, no infinity
    float8_e5m2      5 and 2; infinity and NaN as in IEEE 754
    ..fnuz           the bias is larger by one; NaN is the code 0x80, so there is no infinity and no -0

Codes are uint8. The dtype of an array gives the format of its codes: a dtype of ml_dtypes, recognized by name without
importing ml_dtypes, or `Float8Format.dtype`, which needs only numpy. Source: "Float stored in 8 bits" of the ONNX
documentation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .wide import Wide

_NAME = re.compile(r"(?:float8_?)?(e4m3fn|e4m3fnuz|e5m2|e5m2fnuz)")
_SIGN = 0x80


@dataclass(frozen=True)
class Decoded:
    """Codes as significand * 2^(shift + unit): integers, with flags for codes that are not numbers.

    `significand` is signed, int64, and 0 if `nan` or `infinity` is set; `shift` is int64 and at least 0; `infinity` is
    +1, -1 or 0 (int8). All have the codes' shape. `unit` is the format's.
    """

    significand: npt.NDArray[np.int64]
    shift: npt.NDArray[np.int64]
    nan: npt.NDArray[np.bool_]
    infinity: npt.NDArray[np.int8]


@dataclass(frozen=True)
class Float8Format:
    """One of E4M3FN, E4M3FNUZ, E5M2 and E5M2FNUZ; `parse` and `of` find it by name and by dtype.

    `bits`, `signed`, `min` and `max` describe the codes, for code that moves them without regard to their values.
    """

    bits: ClassVar[int] = 8
    signed: ClassVar[bool] = False
    min: ClassVar[int] = 0
    max: ClassVar[int] = 255
    name: str
    mantissa_bits: int
    bias: int
    max_code: int  # of the greatest finite value
    nan_code: int  # the NaN that results have

    @classmethod
    def parse(cls, name: str) -> Float8Format:
        """The format called `name`: "e4m3fn", "float8_e4m3fn" (ml_dtypes) or "float8e4m3fn" (ONNX)."""
        if not isinstance(name, str):
            raise TypeError(f"format name must be a str such as 'float8_e4m3fn', not {name!r}")
        match = _NAME.fullmatch(name)
        if match is None:
            raise ValueError(f"format name must be one of {', '.join(_FORMATS)}, not {name!r}")
        return _FORMATS[f"float8_{match[1]}"]

    @classmethod
    def of(cls, dtype: npt.DTypeLike) -> Float8Format | None:
        """Return the format of arrays of `dtype`, by its name or the name of its one field; None if not float8."""
        dtype = np.dtype(dtype)
        tag = dtype.names[0] if dtype.names and len(dtype.names) == 1 and dtype.itemsize == 1 else dtype.name
        return _FORMATS.get(tag)

    @property
    def dtype(self) -> np.dtype[Any]:
        """uint8 with one field named after the format, for codes without ml_dtypes.

        Views, slices and reshapes keep it; arithmetic and numpy.concatenate do not, and give plain uint8.
        """
        return np.dtype((np.uint8, {self.name: (np.uint8, 0)}))

    @property
    def type_name(self) -> str:
        """The types that an array of its codes can have, for error messages."""
        return f"{self.name} or uint8"

    @property
    def unit(self) -> int:
        """Exponent of the smallest subnormal value, 2^unit; every finite value is an integer times it."""
        return 1 - self.bias - self.mantissa_bits

    @property
    def fnuz(self) -> bool:
        """True if 0x80 is NaN instead of -0."""
        return self.nan_code == _SIGN

    @property
    def infinity_code(self) -> int | None:
        """The code of +infinity; None if the format has no infinity."""
        return self.max_code + 1 if self.max_code + 1 < self.nan_code and not self.fnuz else None

    @property
    def significand_bits(self) -> int:
        """Bits of a significand without its sign: 4 or 3."""
        return self.mantissa_bits + 1

    @property
    def max_shift(self) -> int:
        """The greatest shift of a significand, in units: 14, 29 or 30."""
        return (self.max_code >> self.mantissa_bits) - 1

    @property
    def max_units(self) -> int:
        """The greatest finite value in units of 2^unit."""
        return ((1 << self.mantissa_bits) + (self.max_code & ((1 << self.mantissa_bits) - 1))) << self.max_shift

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest finite value in units of 2^unit."""
        return -self.max_units, self.max_units

    def codes(self, array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """The uint8 codes of `array`, of a dtype of this format or uint8."""
        if array.dtype != np.uint8 and Float8Format.of(array.dtype) != self:
            raise TypeError(f"codes of {self.name} must be uint8 or {self.name}, not {array.dtype.name}")
        return array.view(np.uint8)

    def decode(self, array: npt.NDArray[Any]) -> Decoded:
        """Return the exact values of the codes."""
        codes = self.codes(array)
        magnitude = (codes & (_SIGN - 1)).astype(np.int64)
        negative = codes >= _SIGN
        nan = codes == _SIGN if self.fnuz else magnitude > (self.infinity_code or self.max_code)
        infinite = magnitude == (-1 if self.infinity_code is None else self.infinity_code)
        field = magnitude >> self.mantissa_bits
        significand = magnitude - (np.maximum(field - 1, 0) << self.mantissa_bits)  # with the hidden one, if there is
        significand = np.where(nan | infinite, 0, np.where(negative, -significand, significand))
        shift = np.where(nan | infinite, 0, np.maximum(field - 1, 0))
        return Decoded(significand, shift, nan, np.where(negative, -1, 1).astype(np.int8) * infinite)

    def encode(self, values: npt.ArrayLike) -> npt.NDArray[np.uint8]:
        """Return the codes nearest to the floats `values` (16, 32 or 64 bits), half to even.

        Infinities and values out of range give the largest finite value, NaN gives the code `nan_code`. -0.0, and
        values that round to it, give -0 if the format has it, otherwise 0. ONNX's Cast and QuantizeLinear with saturate
        = 1 do the same, except that their NaN can keep its sign.
        """
        floats = np.asarray(values)
        if floats.dtype.kind != "f" or floats.dtype.itemsize > 8:
            raise TypeError(f"values must be floats of 16, 32 or 64 bits, not {floats.dtype.name}")
        finite = np.isfinite(floats)
        infinity = np.where(np.isinf(floats), np.sign(np.where(np.isnan(floats), 0, floats)), 0)
        return self.round(Wide.of_floats(np.where(finite, floats, 0)), np.isnan(floats), infinity.astype(np.int8))

    def round(self, numbers: Wide, nan: npt.NDArray[np.bool_], infinity: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
        """Return the codes nearest to exact `numbers`, half to even and saturated; flags take precedence."""
        quantum = np.maximum(numbers.leading - self.mantissa_bits, self.unit)
        # A significand of all ones that rounds up carries into the exponent field, as it must.
        magnitude = numbers.rounded(quantum) + ((quantum - self.unit) << self.mantissa_bits)
        magnitude = np.where(infinity != 0, self.max_code, np.minimum(magnitude, self.max_code))
        negative = np.where(infinity != 0, infinity < 0, numbers.negative) & ((magnitude != 0) | (not self.fnuz))
        return np.where(nan, self.nan_code, magnitude + negative * _SIGN).astype(np.uint8)

    def __str__(self) -> str:
        return self.name


E4M3FN = Float8Format("float8_e4m3fn", mantissa_bits=3, bias=7, max_code=0x7E, nan_code=0x7F)
E4M3FNUZ = Float8Format("float8_e4m3fnuz", mantissa_bits=3, bias=8, max_code=0x7F, nan_code=0x80)
E5M2 = Float8Format("float8_e5m2", mantissa_bits=2, bias=15, max_code=0x7B, nan_code=0x7F)
E5M2FNUZ = Float8Format("float8_e5m2fnuz", mantissa_bits=2, bias=16, max_code=0x7F, nan_code=0x80)
FLOAT8 = (E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ)
_FORMATS = {form.name: form for form in FLOAT8}
