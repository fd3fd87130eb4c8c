"""Stages that work element by element, derived again: every case of every lane, compared with exact results.

Stage  ->  Elementwise, Maximum, Constants, Parts (logic of the Verilog)  ->  Found
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .elements import Constants, Elementwise, Maximum
from .float32 import Format
from .float32_pair import float32_pairs
from .float32_product import float32_products
from .float32_sum import float32_sums
from .integer_layer import format_of
from .package import RefusedError, limited
from .parts import Parts
from .stage import Found, Stage, signed

__all__ = ["addition", "concatenation", "constant", "maximum", "multiplication", "real_pair", "table"]

_BYTE = 0xFF


def addition(stage: Stage) -> Found:
    """All pairs of an addition."""
    exchanged = bool(stage.arrays["exchanged"])
    return _pairs(stage, functools.partial(float32_sums, exchanged=exchanged), {"exchanged": exchanged})


def multiplication(stage: Stage) -> Found:
    """All pairs of a multiplication."""
    return _pairs(stage, float32_products, {})


def real_pair(stage: Stage) -> Found:
    """All pairs of a difference, minimum or maximum in float32."""
    function = bytes(stage.arrays["function"].item()).decode()
    return _pairs(stage, functools.partial(float32_pairs, function=function), {"function": function})


def _pairs(stage: Stage, formula: Callable[..., list[list[int]]], more: dict[str, Any]) -> Found:
    arrays, formats = stage.arrays, stage.claimed["formats"]
    operand, output = (_format(stage, letter, formats) for letter in "ay")
    if signed(arrays["b_zero_point"]) != signed(arrays["a_zero_point"]):
        raise RefusedError(f"{stage.source}: both operands must be of one format")
    scales = {letter: float(arrays[f"{letter}_scale"]) for letter in "aby"}
    zero_points = {letter: int(arrays[f"{letter}_zero_point"]) for letter in "aby"}
    rows = formula(operand, output, scales, zero_points)
    codes = [code & _BYTE for code in range(operand[0], operand[1] + 1)]
    cases = [[a for a in codes for _ in codes], [b for _ in codes for b in codes]]
    wanted = [y & _BYTE for row in rows for y in row]
    hardware = Elementwise(stage.modules, stage.module, inputs=2)
    wrong = _differing(hardware.respond(cases), wanted, cases, operand, output)
    return Found(
        facts={
            "verdict": "differs" if wrong else "exact",
            "formats": formats,
            "scales": {letter: scale.hex() for letter, scale in scales.items()},
            "zero_points": zero_points,
            **more,
            "lanes": hardware.lanes,
            "results_sha256": _digest(wanted),
        },
        tried=f"{len(wanted)} pairs tried in {_lanes(hardware)}",
        reasons=[f"{stage.verilog}: not exact: {text}" for text in wrong],
    )


def table(stage: Stage) -> Found:
    """All entries of a table."""
    formats = stage.claimed["formats"]
    operand, output = (_format(stage, letter, formats) for letter in "ay")
    wanted = [int(entry) & _BYTE for entry in stage.arrays["entries"]]
    codes = [code & _BYTE for code in range(operand[0], operand[1] + 1)]
    hardware = Elementwise(stage.modules, stage.module, inputs=1)
    wrong = _differing(hardware.respond([codes]), wanted, [codes], operand, output)
    return Found(
        facts={
            "verdict": "differs" if wrong else "exact",
            "formats": formats,
            "lanes": hardware.lanes,
            "results_sha256": _digest(wanted),
        },
        tried=f"{len(wanted)} entries tried in {_lanes(hardware)}",
        reasons=[f"{stage.verilog}: not the table in {stage.source}: {text}" for text in wrong],
    )


def maximum(stage: Stage) -> Found:
    """All pairs of a maximum."""
    formats = stage.claimed["formats"]
    operand = _format(stage, "a", formats)
    codes = range(operand[0], operand[1] + 1)
    cases = [[code & _BYTE for code in codes for _ in codes], [code & _BYTE for _ in codes for code in codes]]
    hardware = Maximum(stage.modules, stage.module)
    later = [max(a, b) & _BYTE for a in codes for b in codes]
    wrong = [
        f"{text} as {'the first' if first else 'a later'} beat"
        for first, wanted in ((False, later), (True, cases[0]))
        for text in _differing(hardware.respond(*cases, first=first), wanted, cases, operand, operand)
    ]
    return Found(
        facts={"verdict": "differs" if wrong else "exact", "formats": formats, "lanes": hardware.lanes},
        tried=f"{len(later)} pairs compared in {_lanes(hardware)}",
        reasons=[f"{stage.verilog}: not the maximum: {text}" for text in wrong],
    )


def constant(stage: Stage) -> Found:
    """All elements of a constant."""
    wanted = [int(element) & _BYTE for element in stage.arrays["elements"]]
    hardware = Constants(stage.modules, stage.module)
    found = hardware.elements(len(wanted))
    at = next((index for index, (y, x) in enumerate(zip(found, wanted, strict=True)) if y != x), None)
    reasons = []
    if at is not None:
        reasons = [f"{stage.verilog}: element {at} is {found[at]:#04x}, {stage.source} has {wanted[at]:#04x}"]
    return Found(
        facts={
            "verdict": "differs" if reasons else "exact",
            "elements": len(wanted),
            "lanes": hardware.lanes,
            "results_sha256": _digest(wanted),
        },
        tried=f"{len(wanted)} elements read",
        reasons=reasons,
    )


def concatenation(stage: Stage) -> Found:
    """Whose beats a concatenation takes when, and all entries of each input's table."""
    arrays = stage.arrays
    elements = [int(count) for count in arrays["elements"]]
    hardware = Parts(stage.modules, stage.module, inputs=len(elements))
    beats = [count // hardware.lanes for count in elements]
    turns = hardware.turns(sum(beats))
    reasons = []
    if turns != (wanted := [index for index, count in enumerate(beats) for _ in range(count)]):
        reasons.append(f"{stage.verilog}: takes beats of the inputs {turns}, not {wanted}")
    inputs = []
    for index, count in enumerate(beats):
        facts, wrong = _part(stage, hardware, index)
        inputs.append({**facts, "beats": count})
        reasons += [f"{stage.verilog}: input {index}: not the table in {stage.source}: {text}" for text in wrong]
    return Found(
        facts={
            "verdict": "differs" if reasons else "exact",
            "format": _byte_format(arrays["entries_0"])[0],
            "lanes": hardware.lanes,
            "inputs": inputs,
        },
        tried=f"turns of {len(turns)} beats and {256 * len(inputs)} entries tried in {_lanes(hardware)}",
        reasons=reasons,
    )


def _part(stage: Stage, hardware: Parts, index: int) -> tuple[dict[str, Any], list[str]]:
    """Claims about an input of a concatenation, and its wrong results."""
    entries = stage.arrays[f"entries_{index}"]
    (name, operand), (_, output) = _byte_format(stage.arrays[f"zero_point_{index}"]), _byte_format(entries)
    wanted = [int(entry) & _BYTE for entry in entries]
    codes = [code & _BYTE for code in range(operand[0], operand[1] + 1)]
    wrong = _differing(hardware.respond(index, codes), wanted, [codes], operand, output)
    return {"format": name, "results_sha256": _digest(wanted)}, wrong


def _byte_format(integers: Any) -> tuple[str, Format]:
    """The format of an array of bytes, by name and by its ends."""
    return ("int8", (-128, 127)) if signed(integers) else ("uint8", (0, _BYTE))


def _differing(
    lanes: Sequence[Sequence[int]],
    wanted: Sequence[int],
    cases: Sequence[Sequence[int]],
    operand: Format,
    output: Format,
) -> list[str]:
    """For each lane with other results than `wanted`, how many there are, and the first."""
    found = []
    for lane, results in enumerate(lanes):
        wrong = [index for index, (y, x) in enumerate(zip(results, wanted, strict=True)) if y != x]
        if wrong:
            at = wrong[0]
            given = ", ".join(str(_number(column[at], operand)) for column in cases)
            found.append(
                f"lane {lane} gives {len(wrong)} wrong results, first {_number(results[at], output)} instead of "
                f"{_number(wanted[at], output)} for {given}"
            )
    return limited(iter(found))


def _lanes(hardware: Elementwise | Maximum | Parts) -> str:
    return f"{hardware.lanes} lanes" if hardware.lanes > 1 else "1 lane"


def _number(byte: int, form: Format) -> int:
    return byte - ((byte & 0x80) << 1 if form[0] < 0 else 0)


def _format(stage: Stage, letter: str, formats: Mapping[str, str]) -> Format:
    found = format_of(letter, formats[letter], signed=signed(stage.arrays[f"{letter}_zero_point"]), source=stage.source)
    if found[1] - found[0] != _BYTE:
        raise RefusedError(f"formats.{letter} is {formats[letter]!r}, and must have 8 bits")
    return found


def _digest(results: Sequence[int]) -> str:
    return hashlib.sha256(bytes(results)).hexdigest()
