"""`Hardware`: size, cells and rounding that a user asks for, of any kind of design."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.formats import INT8, IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import Format
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.unscaled import Unscaled
from systoliq.hw import ArrayConfig
from systoliq.hw.cells import CELLS, is_ecp5
from systoliq.hw.centring import array_format
from systoliq.hw.engine.config import DATAFLOWS
from systoliq.hw.float8_layer import float8_sum_bits
from systoliq.hw.folding import fold

from ..errors import InputError, expect, path_of
from .choose import AUTO, REQUANTIZERS, choose_requantization, sum_bits
from .float8_hardware import float8_array, parse_format, refuse_integer_options

if TYPE_CHECKING:
    from ..synth.targets import Target

__all__ = ["Hardware", "auto_cells"]

_SUM_BITS = 32  # ONNX sums in int32
_ONLY_NETWORK = ("throughput", "multipliers", "luts", "plan")
_BUDGET = ("multipliers", "luts")
_ONLY_ENGINE = ("y_format", "lanes", "a_words", "b_words", "max_columns", "max_rows", "dataflow", "workload", "bus")
_NOT_NETWORK = (
    "rows", "cols", "depth", "a_bits", "b_bits", "a_signed", "b_signed", "a_format", "b_format", "accumulator_bits",
    "multiplier_bits", "wrap",
)  # fmt: skip
_FILES = ("workload", "plan")
_POSITIVE = (
    "rows", "cols", "depth", "accumulator_bits", "multiplier_bits", "lanes", "a_words", "b_words", "max_columns",
    "max_rows", "throughput", "line_baud",
)  # fmt: skip
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("a_bits", "b_bits", "bus", *_BUDGET, *_POSITIVE), (int,)),
    **dict.fromkeys(("a_signed", "b_signed", "wrap"), (bool,)),
    **dict.fromkeys(("a_format", "b_format", "y_format", "requantizer", "cells", "dataflow"), (str,)),
    "accumulator_bits": (int, str),
    "throughput": (int, float),
}
_CLOCK_MHZ = 100.0  # that networks as large as the largest ECP5 reach (docs/networks.md)
_COLUMNS_LIMIT = 16  # of the array that is chosen for a layer: enough for ten classes in one tile


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """Options of the hardware; None selects the default of the kind of design.

    Parameters
    ----------
    rows, cols, depth
        size of the array: elements down and across, and pairs that an element multiplies per cycle. Defaults: a layer
        has 1 x N x 1 (at most 16 columns), an array 8 x 8 x 1, an engine 4 x 4 x 1.
    a_bits, b_bits, a_signed, b_signed
        formats of the operands, 2 to 16 bits. A layer's activations may be narrowed, and the B side of its multipliers
        widened. An array accepts any format; an engine int8 and uint8.
    a_format, b_format, y_format
        float8 formats such as "e4m3fn": the first two for an array, all three for an engine.
    accumulator_bits
        maximum width of the accumulators. A layer's accumulators are as narrow as its sums allow.
    requantizer, multiplier_bits
        rounding of a layer, see `choose_requantization`. A float8 layer has only one form, int32 sums have none.
    wrap
        let sums that exceed the accumulator wrap, as int32 does in ONNX. Always allowed if the results are the sums.
    cells
        cells that multiply and accumulate, one of `systoliq.hw.cells.CELLS`, or "auto". For a layer with a `part`,
        "auto" selects the cells, cols and depth with the fewest cycles per row within `multipliers` and `luts`, by the
        model. For a network, it selects for each stage the part's cells, two products per cell, or lookup tables.
    lanes, a_words, b_words, max_columns, max_rows, dataflow, workload, bus
        only for an engine, see `EngineConfig`. dataflow may be "auto", for the products in the file `workload`. bus is
        the width of AXI4 masters that fetch from memory; by default, the engine has streams.
    throughput, multipliers, luts, plan
        only for a network: required images per second at `clock_mhz`; or a budget of multiplier cells, and of LUT sites
        for further products on ECP5 and iCE40; or a file with the plan of each stage. A layer with cells "auto" accepts
        multipliers, and luts as the limit of all its LUT sites.
    part
        part to build for, as a `Target` or by name, such as "ecp5-25k". A network's figures assume its clock, and the
        plan must fit it. Without other size options, a network is the smallest that is fast enough, and a layer the
        largest that fits.
    line_baud
        bits per second of a board's serial line, with a `part`; a network is built no faster than the line needs.

    Raises
    ------
    TypeError, ValueError
        if a field has a wrong type, is out of range, or fits no kind of design. A design raises InputError for a field
        that its kind does not have.
    """

    rows: int | None = None
    cols: int | None = None
    depth: int | None = None
    a_bits: int | None = None
    b_bits: int | None = None
    a_signed: bool | None = None
    b_signed: bool | None = None
    a_format: str | None = None
    b_format: str | None = None
    y_format: str | None = None
    accumulator_bits: int | Literal["auto"] | None = None
    requantizer: str = Rounding.NEAR_TIE.value
    multiplier_bits: int | None = None
    wrap: bool = False
    cells: str = "portable"
    lanes: int | None = None
    a_words: int | None = None
    b_words: int | None = None
    max_columns: int | None = None
    max_rows: int | None = None
    dataflow: str | None = None
    workload: Path | None = None
    bus: int | None = None
    throughput: float | None = None
    multipliers: int | None = None
    luts: int | None = None
    plan: Path | None = None
    part: Target | None = None
    line_baud: int | None = None

    def __post_init__(self) -> None:
        self._take_names()
        for name, kinds in _KINDS.items():
            if getattr(self, name) is not None or self.__dataclass_fields__[name].default is not None:
                expect(name, getattr(self, name), *kinds)
        if isinstance(self.accumulator_bits, str) and self.accumulator_bits != "auto":
            raise ValueError(f"accumulator_bits must be a positive integer or 'auto', not {self.accumulator_bits!r}")
        if self.cells not in (*CELLS, AUTO):
            raise ValueError(f"cells must be one of {', '.join(CELLS)} or {AUTO}, not {self.cells!r}")
        self._check_numbers()
        if self.requantizer not in REQUANTIZERS:
            raise ValueError(f"requantizer must be one of {', '.join(REQUANTIZERS)}, not {self.requantizer!r}")
        if self.requantizer == "auto" and self.multiplier_bits is not None:
            raise ValueError("multiplier_bits cannot be used with requantizer auto")
        for name in ("a_format", "b_format", "y_format"):
            if getattr(self, name) is not None:
                parse_format(name, getattr(self, name))
        if self.dataflow not in (None, "auto", *DATAFLOWS):
            raise ValueError(f"dataflow must be one of {', '.join(DATAFLOWS)} or auto, not {self.dataflow!r}")

    def _take_names(self) -> None:
        """A part by its name and files by their paths' text, as the objects that they name."""
        if self.part is not None:
            from ..synth.targets import Target, open_target

            part: object = self.part
            expect("part", part, str, Target)
            if isinstance(part, str):
                object.__setattr__(self, "part", open_target(part, "part"))
        for name in _FILES:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, path_of(name, getattr(self, name)))

    def _check_numbers(self) -> None:
        for name in ("a_bits", "b_bits"):
            bits = getattr(self, name)
            if bits is not None and not 2 <= bits <= 16:
                raise ValueError(f"{name} must be 2 to 16, not {bits}")
        for name in _POSITIVE:
            value = getattr(self, name)
            if value not in (None, "auto") and not 0 < value < float("inf"):
                wanted = "positive" if name in _ONLY_NETWORK else "a positive integer"
                raise ValueError(f"{name} must be {wanted}, not {value!r}")
        for name in _BUDGET:
            if getattr(self, name) is not None and getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more, not {getattr(self, name)!r}")
        if self.bus not in (None, 32, 64, 128):
            raise ValueError(f"bus must be 32, 64 or 128 bits, not {self.bus!r}")

    def __repr__(self) -> str:
        return f"Hardware({', '.join(f'{name}={value!r}' for name, value in self.facts.items())})"

    def replace(self, **changes: Any) -> Hardware:
        """A copy with `changes` made, validated again."""
        return dataclasses.replace(self, **changes)

    @property
    def facts(self) -> dict[str, Any]:
        """The fields that are not as usual, ready for JSON: those that are files are left out, a part is its name."""
        usual = Hardware()
        found = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _FILES}
        changed = {name: value for name, value in found.items() if value != getattr(usual, name)}
        return changed | ({"part": self.part.name} if self.part else {})

    @property
    def requantizer_is_chosen(self) -> bool:
        """True if systoliq selects the requantizer."""
        return self.requantizer == AUTO

    def refuse_engines(self, source: str) -> None:
        """An InputError where a field was set that an engine or a network alone has; `source` is neither."""
        for name in _ONLY_ENGINE:
            if getattr(self, name) is not None:
                raise InputError(f"{name} must be given for the source engine only, not for {source!r}")
        self.refuse_networks(source)

    def refuse_networks(self, source: str) -> None:
        """An InputError where a field was set that a network alone has; `source` is another. Automatic cells have a
        budget, too.
        """
        for name in _ONLY_NETWORK:
            if getattr(self, name) is not None and not (self.cells == AUTO and name in _BUDGET):
                raise InputError(f"{name} must be given for a network, FILE.onnx, only, not for {source!r}")

    def refuse_for_networks(self) -> None:
        """An InputError where a field was set that a network's plan decides, or two that decide the plan."""
        usual = Hardware()
        if self.cells == AUTO and (self.throughput is not None or self.plan is not None):
            raise InputError("cells must be named where throughput or plan is given, not auto: that is for a budget")
        for name in _NOT_NETWORK:
            if getattr(self, name) != getattr(usual, name):
                raise InputError(f"{name} cannot be used with a network: each stage has its own, by the plan")
        for name in _ONLY_ENGINE:
            if getattr(self, name) is not None:
                raise InputError(f"{name} must be given for the source engine only, not for a network")
        given = [name for name in _ONLY_NETWORK if getattr(self, name) is not None]
        if len(given) > 1 and not set(given) <= {"multipliers", "luts"}:
            raise InputError(f"only one of throughput, multipliers and plan must be given, not {' and '.join(given)}")
        if self.multipliers == 0:
            raise InputError("multipliers must be positive, not 0")

    @property
    def clock_mhz(self) -> float:
        """The clock that figures of a network speak of before it is placed."""
        return min((self.part.mhz if self.part else 0) or _CLOCK_MHZ, _CLOCK_MHZ)

    def bare_array(self) -> ArrayConfig:
        """The array of the preset `array`: 8 x 8, one int8 pair per element and cycle, where nothing else was said."""
        if self.requantizer != Rounding.NEAR_TIE.value or self.multiplier_bits is not None:
            raise InputError("requantizer and multiplier_bits cannot be used with the source array: it has none")
        if self.a_format is not None or self.b_format is not None:
            return self._config(rows=8, cols=8, **float8_array(self))
        return self._config(
            rows=8,
            cols=8,
            a=IntFormat(self.a_bits or INT8.bits, signed=self.a_signed is not False),
            b=IntFormat(self.b_bits or INT8.bits, signed=self.b_signed is not False),
            accumulator_bits=_SUM_BITS if self.accumulator_bits in (None, "auto") else self.accumulator_bits,
        )

    def narrowed(self, layer: MatMulLayer) -> MatMulLayer:
        """`layer` with activations of `a_bits` bits, where that was asked for."""
        if self.a_signed is not None or self.b_signed is not None:
            raise InputError(
                "signedness must be left to the layer's zero points; it can be chosen for the source array"
            )
        for name in ("a_format", "b_format"):
            if getattr(self, name) is not None:
                raise InputError(f"{name} must be left to the layer; it can be chosen for the source array")
        if layer.has_float8:
            refuse_integer_options(self, layer)
        if self.a_bits in (None, layer.a_format.bits):
            return layer
        a_format = IntFormat(self.a_bits, signed=layer.a_format.signed)
        if a_format.bits > layer.a_format.bits:
            raise InputError(f"a_bits must be at most {layer.a_format.bits}, the layer's own, not {self.a_bits}")
        return layer.replace(a_format=a_format)

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


def auto_cells(hardware: Hardware) -> str:
    """The family of the part's cells, to select from if `cells` is "auto"; InputError if the part's capacity, which the
    selection needs, is unknown.
    """
    part = hardware.part
    if part is None or not (is_ecp5(part.cells) or part.cells == "ice40"):
        given = "no target" if part is None else part.name
        raise InputError(f"cells auto needs a target of the families ecp5 or ice40, whose sites are known, not {given}")
    return part.cells
