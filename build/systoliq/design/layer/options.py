"""Options of a layer, and what follows from them: array, operand widths, constants of the requantizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.formats import IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import Format
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.unscaled import Unscaled
from systoliq.hw import ArrayConfig
from systoliq.hw.centring import array_format
from systoliq.hw.float8_layer import float8_sum_bits
from systoliq.hw.folding import fold

from ...errors import InputError
from ..choose import AUTO, choose_requantization, sum_bits
from ..options import BUDGET, ArraySize

if TYPE_CHECKING:
    from ...synth.targets import Target

__all__ = ["LayerOptions"]

_SUM_BITS = 32  # ONNX sums in int32
_COLUMNS_LIMIT = 16  # of the array that is chosen for a layer: enough for ten classes in one tile
_ONE_REQUANTIZER = ("requantizer", "multiplier_bits")
_UNASKED: dict[str, tuple[Any, ...]] = {
    "a_bits": (None, 8),
    "b_bits": (None, 8),
    "accumulator_bits": (None, "auto"),
    "requantizer": ("near-tie",),
    "multiplier_bits": (None,),
    "wrap": (False,),
}
_REASONS = {
    "a_bits": "operands are those of the layer",
    "b_bits": "operands are those of the layer",
    "accumulator_bits": "accumulators hold every sum exactly",
    "requantizer": "there is one, which is exact",
    "multiplier_bits": "mantissas are taken whole",
    "wrap": "accumulators hold every sum exactly",
}

_REFUSALS = {
    **dict.fromkeys(
        ("a_signed", "b_signed"), "must be left to the layer's zero points; it can be chosen for the source array"
    ),
    **dict.fromkeys(("a_format", "b_format"), "must be left to the layer; it can be chosen for the source array"),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class LayerOptions(ArraySize):
    """Options of the hardware of a layer; None selects the default.

    Parameters
    ----------
    rows, cols, depth
        size of the array: elements down and across, and pairs that an element multiplies per cycle. Default: 1 x N x 1,
        at most 16 columns.
    a_bits, b_bits
        2 to 16: fewer bits of the activations than the layer's, and more of the multipliers' B side.
    accumulator_bits
        maximum width of the accumulators, which are as narrow as the sums allow.
    requantizer, multiplier_bits
        rounding, see `choose_requantization`. A float8 layer has only one form, int32 sums have none.
    wrap
        let sums that exceed the accumulator wrap, as int32 does in ONNX. Always allowed if the results are the sums.
    cells
        cells that multiply and accumulate, one of `systoliq.hw.cells.CELLS`. With a `part`, "auto" selects the cells,
        cols and depth with the fewest cycles per row within `multipliers` and `luts`, by the model.
    multipliers, luts
        only for cells "auto": budget of multiplier cells, and limit of all LUT sites.
    part
        part to build for, as a `Target` or by name, such as "ecp5-25k". Without other size options, the array is the
        largest that fits.
    """

    refusals: ClassVar[Mapping[str, str]] = _REFUSALS
    a_bits: int | None = None
    b_bits: int | None = None
    accumulator_bits: int | Literal["auto"] | None = None
    requantizer: str = Rounding.NEAR_TIE.value
    multiplier_bits: int | None = None
    wrap: bool = False
    cells: str = "portable"
    multipliers: int | None = None
    luts: int | None = None
    part: Target | None = None

    def check_budget(self, source: str) -> None:
        """Raise InputError if there is a budget, which only automatic cells have; `source` is the layer's."""
        for name in BUDGET:
            if getattr(self, name) is not None and self.cells != AUTO:
                raise InputError(f"{name} must be given for a network, FILE.onnx, only, not for {source!r}")

    def narrowed(self, layer: MatMulLayer) -> MatMulLayer:
        """`layer` with activations of `a_bits` bits, where that was asked for."""
        if layer.has_float8:
            self._refuse_integers(layer)
        if self.a_bits in (None, layer.a_format.bits):
            return layer
        a_format = IntFormat(self.a_bits, signed=layer.a_format.signed)
        if a_format.bits > layer.a_format.bits:
            raise InputError(f"a_bits must be at most {layer.a_format.bits}, the layer's own, not {self.a_bits}")
        return layer.replace(a_format=a_format)

    def _refuse_integers(self, layer: MatMulLayer) -> None:
        """Raise InputError for a field that is set and has no meaning for a `layer` with float8.

        If the layer multiplies integers and only its result is float8, the array is an integer array.
        """
        for name, allowed in _UNASKED.items():
            value = getattr(self, name)
            if value not in allowed and (name in _ONE_REQUANTIZER or not layer.multiplies_integers):
                raise InputError(f"{name} cannot be used with a float8 layer: {_REASONS[name]}")

    @property
    def requantizer_is_chosen(self) -> bool:
        """True if systoliq selects the requantizer."""
        return self.requantizer == AUTO

    def array_for_layer(self, layer: MatMulLayer) -> ArrayConfig:
        """The array for `layer`: one row, and columns for all of N up to 16, where nothing else was said."""
        for name, most, letter in (("cols", layer.n, "N"), ("depth", layer.k, "K")):
            if (getattr(self, name) or 1) > most:
                raise InputError(
                    f"{name} must be at most {most}, the layer's {letter}, not {getattr(self, name)}: more would never "
                    "be used"
                )
        cols = -(-layer.n // -(-layer.n // _COLUMNS_LIMIT))
        b, bits = self._multiplier_b(layer), float8_sum_bits(layer) or self._layer_sum_bits(layer)
        a = array_format(layer)
        try:
            return self._config(rows=1, cols=cols, a=a, b=b, accumulator_bits=bits)
        except ValueError as error:
            if a == layer.a_format or not str(error).startswith(("a must", "b must")):
                raise
            when = " at run time" * layer.takes_zero_points
            raise InputError(f"{error} (a is a difference: {layer.a_format} less a zero point{when})") from error

    def _multiplier_b(self, layer: MatMulLayer) -> Format:
        """The format of the multipliers' B side."""
        if not layer.multiplies_integers:
            return fold(layer).b_format
        return IntFormat(self.b_bits or layer.b_format.bits, signed=layer.b_format.signed)

    def _layer_sum_bits(self, layer: MatMulLayer) -> int:
        """The most bits that an accumulator of a layer of integers may have."""
        product_bits = layer.a_format.bits + self._multiplier_b(layer).bits + 1
        bits = self.accumulator_bits
        if bits == "auto":
            bits = max(sum_bits(layer), product_bits)
        if bits is not None and bits > _SUM_BITS:
            raise InputError(
                f"accumulator_bits must be at most {_SUM_BITS} for a layer, not {bits}: ONNX sums in int32"
            )
        if self.wrap and bits not in (None, _SUM_BITS) and sum_bits(layer) > bits:
            raise InputError(
                f"accumulator_bits must be {_SUM_BITS} where sums may wrap, as ONNX's int32 does, not {bits}"
            )
        return bits or _SUM_BITS

    def requantization(self, layer: MatMulLayer) -> Requantization | Float8Requantization | Unscaled:
        """The constants for `layer`: its scales where it has float8, integers (`choose_requantization`) otherwise.

        There are none where the layer gives its sums.
        """
        if layer.has_float8:
            return Float8Requantization.from_scales(layer.scale, layer.y_format, layer.y_zero_point)
        if layer.gives_sums:
            if self.requantizer != Rounding.NEAR_TIE.value or self.multiplier_bits is not None:
                raise InputError("requantizer and multiplier_bits cannot be used with int32 sums: nothing is rounded")
            return Unscaled()
        return choose_requantization(layer, self.requantizer, multiplier_bits=self.multiplier_bits).requantization

    def _config(self, *, rows: int, cols: int, **fields: Any) -> ArrayConfig:
        return ArrayConfig(
            rows=rows if self.rows is None else self.rows,
            cols=cols if self.cols is None else self.cols,
            depth=1 if self.depth is None else self.depth,
            cells=self.cells,
            **fields,
        )
