"""Options of a design: the check of each field, and the refusal of fields that only other kinds of design have.

fields by name -> LayerOptions | ArrayOptions | EngineOptions | NetworkOptions -> design
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from systoliq.golden.float8 import Float8Format
from systoliq.hw.cells import CELLS, is_ecp5
from systoliq.hw.engine.config import DATAFLOWS, ROW_LENGTHS

from ..errors import InputError, expect, path_of
from .choose import AUTO, REQUANTIZERS

if TYPE_CHECKING:
    from ..synth.targets import Target

__all__ = ["BUDGET", "ONLY_NETWORK", "ArraySize", "Options", "auto_cells", "parse_format"]

BUDGET = ("multipliers", "luts")
"""Fields of a budget: 0 is in their range."""

ONLY_NETWORK = ("throughput", "latency", "multipliers", "luts", "plan")
_ONLY_ENGINE = (
    "y_format",
    "lanes",
    "a_words",
    "b_words",
    "max_columns",
    "max_rows",
    "dataflow",
    "workload",
    "bus",
    "vector",
    "row_length",
)
_ANY_KIND = ("part", "line_baud")  # describe the target, so a kind that has no use for them ignores them
_FILES = ("workload", "plan")
_FORMATS = ("a_format", "b_format", "y_format")
_POSITIVE = (
    "rows", "cols", "depth", "accumulator_bits", "multiplier_bits", "lanes", "a_words", "b_words", "max_columns",
    "max_rows", "throughput", "line_baud",
)  # fmt: skip
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("a_bits", "b_bits", "bus", "row_length", *BUDGET, *_POSITIVE), (int,)),
    **dict.fromkeys(("a_signed", "b_signed", "wrap", "vector"), (bool,)),
    **dict.fromkeys((*_FORMATS, "requantizer", "cells", "dataflow"), (str,)),
    "accumulator_bits": (int, str),
    "throughput": (int, float),
    "latency": (int, float),
}
_Own = TypeVar("_Own", bound="Options")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of one kind of design, checked when they are made; None selects the default.

    Raises
    ------
    TypeError, ValueError
        if a field has a wrong type or is out of range. A design raises InputError for fields that contradict its
        source or each other.
    """

    refusals: ClassVar[Mapping[str, str]] = {}
    """By the name of a field that only other kinds have: the message to a user who gives it, without the name."""

    @classmethod
    def of(cls: type[_Own], fields: Mapping[str, Any], source: str) -> _Own:
        """Return the options with these `fields`, by name; None selects the default.

        `source` names the source of the design in messages. Raises InputError for a field that this kind of design does
        not have.
        """
        own = cls.defaults()
        given = {name: value for name, value in fields.items() if value is not None}
        for name in given:
            if name not in own and name not in _ANY_KIND:
                raise InputError(cls._refusal(name, source))
        return cls(**{name: value for name, value in given.items() if name in own})

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the default of each field, by name."""
        return {field.name: field.default for field in dataclasses.fields(cls)}

    @classmethod
    def _refusal(cls, name: str, source: str) -> str:
        """The message for the field `name`, which this kind does not have."""
        if name in cls.refusals:
            return f"{name} {cls.refusals[name]}"
        if name in _ONLY_ENGINE:
            return f"{name} must be given for the source engine only, not for {source}"
        if name in ONLY_NETWORK:
            return f"{name} must be given for a network, FILE.onnx, only, not for {source}"
        return f"hardware must have only fields of {cls.__name__} for {source}, not {name!r}"

    def __post_init__(self) -> None:
        fields = self.defaults()
        self._take_names()
        for name, kinds in _KINDS.items():
            if name in fields and (getattr(self, name) is not None or fields[name] is not None):
                expect(name, getattr(self, name), *kinds)
        for name in fields:
            value = getattr(self, name)
            if value is not None:
                _check(name, value)
        if self._of("requantizer") == AUTO and self._of("multiplier_bits") is not None:
            raise ValueError("multiplier_bits cannot be used with requantizer auto")

    def _of(self, name: str) -> Any:
        """The field of that name; None where this kind has none."""
        return getattr(self, name, None)

    def _take_names(self) -> None:
        """A part by its name and files by their paths' text, as the objects that they name."""
        if self._of("part") is not None:
            from ..synth.targets import Target, open_target

            part: object = self._of("part")
            expect("part", part, str, Target)
            if isinstance(part, str):
                object.__setattr__(self, "part", open_target(part, "part"))
        for name in _FILES:
            if self._of(name) is not None:
                object.__setattr__(self, name, path_of(name, self._of(name)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.facts.items())})"

    def replace(self: _Own, **changes: Any) -> _Own:
        """A copy with `changes` made, validated again."""
        return dataclasses.replace(self, **changes)

    @property
    def facts(self) -> dict[str, Any]:
        """The fields that are not as usual, ready for JSON: those that are files are left out, a part is its name."""
        found = {name: (getattr(self, name), usual) for name, usual in self.defaults().items() if name not in _FILES}
        changed = {name: value for name, (value, usual) in found.items() if value != usual}
        part = self._of("part")
        return changed | ({"part": part.name} if part else {})


@dataclass(frozen=True, kw_only=True, repr=False)
class ArraySize(Options):
    """Options of a design with one array: its rows, columns and depth."""

    rows: int | None = None
    cols: int | None = None
    depth: int | None = None


def _check(name: str, value: Any) -> None:
    """Raise ValueError if `value`, which has the right type, is out of the range of the field `name`."""
    if name == "accumulator_bits" and isinstance(value, str) and value != "auto":
        raise ValueError(f"accumulator_bits must be a positive integer or 'auto', not {value!r}")
    if name == "cells" and value not in (*CELLS, AUTO):
        raise ValueError(f"cells must be one of {', '.join(CELLS)} or {AUTO}, not {value!r}")
    if name in ("a_bits", "b_bits") and not 2 <= value <= 16:
        raise ValueError(f"{name} must be 2 to 16, not {value}")
    if name in _POSITIVE and value != "auto" and not value > 0:
        wanted = "positive" if name in ONLY_NETWORK else "a positive integer"
        raise ValueError(f"{name} must be {wanted}, not {value!r}")
    if name in (*BUDGET, "latency") and not value >= 0:
        raise ValueError(f"{name} must be 0 or more, not {value!r}")
    if name == "bus" and value not in (32, 64, 128):
        raise ValueError(f"bus must be 32, 64 or 128 bits, not {value!r}")
    if name == "row_length" and value and not (ROW_LENGTHS[0] <= value <= ROW_LENGTHS[1] and not value & (value - 1)):
        raise ValueError(
            f"row_length must be 0 or a power of two from {ROW_LENGTHS[0]} to {ROW_LENGTHS[1]}, not {value}"
        )
    if name == "requantizer" and value not in REQUANTIZERS:
        raise ValueError(f"requantizer must be one of {', '.join(REQUANTIZERS)}, not {value!r}")
    if name in _FORMATS:
        parse_format(name, value)
    if name == "dataflow" and value not in (AUTO, *DATAFLOWS):
        raise ValueError(f"dataflow must be one of {', '.join(DATAFLOWS)} or auto, not {value!r}")


def parse_format(name: str, text: str) -> Float8Format:
    """The float8 format that the field `name` says."""
    try:
        return Float8Format.parse(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def auto_cells(part: Target | None) -> str:
    """The family of the part's cells, to select from if `cells` is "auto"; InputError if the part's capacity, which the
    selection needs, is unknown.
    """
    if part is None or not (is_ecp5(part.cells) or part.cells == "ice40"):
        given = "no target" if part is None else part.name
        raise InputError(f"cells auto needs a target of the families ecp5 or ice40, whose sites are known, not {given}")
    return part.cells
