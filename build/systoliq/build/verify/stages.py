"""Stages of a network, derived again: what the certificate should say of each, by its operator.

claims, arrays of NAME_stages.npz, Verilog  ->  Found
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .depthwise import Depthwise
from .elements import Constants, Elementwise, Maximum
from .float32 import Format, combined_scale, float32
from .float32_sum import float32_sums
from .hardware import Hardware
from .integer_layer import IntegerLayer, format_of
from .one_layer import dense_shape
from .package import Layer, RefusedError, layer_of, limited
from .syntax import Module

__all__ = ["OPERATORS", "Found", "Stage"]

_BYTE = 0xFF


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What is there of a stage: its `claimed` part of the certificate, its `arrays` and its `module` of `modules`."""

    claimed: dict[str, Any]
    arrays: Mapping[str, Any]
    modules: Mapping[str, Module]
    module: str
    verilog: str
    source: str
    progress: Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Found:
    """`facts`: what the certificate should say of a stage; `reasons`: what is wrong beside that; `tried`: in words.

    `tested`: nothing of it is read here.
    """

    facts: dict[str, Any]
    tried: str
    reasons: Sequence[str] = ()
    points: int = 0
    is_layer: bool = False
    tested: bool = False


def _product(stage: Stage) -> Found:
    """A convolution or a dense layer: with a sum for each channel alone where it has lanes and no columns."""
    layer = layer_of(dict(stage.arrays), stage.source)
    return _layer(stage, layer)


def _whole_average(stage: Stage) -> Found:
    """The average of all pixels: a product with weights of one, whose scale is f(x_scale / f(y_scale * pixels))."""
    k, n = stage.claimed["shape"]["k"], stage.claimed["shape"]["n"]
    arrays = stage.arrays
    total = float(float32(Fraction(float(arrays["y_scale"])) * k))
    layer = Layer(
        b=[[1] * n for _ in range(k)],
        b_zero_point=[0] * n,
        bias=[0] * n,
        a_zero_point=int(arrays["a_zero_point"]),
        y_zero_point=int(arrays["y_zero_point"]),
        scales=[combined_scale(float(arrays["a_scale"]), 1.0, total)] * n,
        signed={"b": True} | {letter: _signed(arrays[f"{letter}_zero_point"]) for letter in "ay"},
    )
    return _layer(stage, layer)


def _layer(stage: Stage, layer: Layer) -> Found:
    claimed, k, n = stage.claimed, len(layer.b), len(layer.b[0])
    y_signed = layer.signed["y"]
    hardware: Hardware | Depthwise
    if "lanes" in claimed["array"]:
        b_signed = not claimed["formats"]["weights"].startswith("u")
        hardware = Depthwise(stage.modules, stage.module, k=k, n=n, b_signed=b_signed, y_signed=y_signed)
    else:
        shape = dense_shape(claimed, k=k, n=n, y_signed=y_signed)
        hardware = Hardware(stage.modules, stage.module, shape)
    derived = IntegerLayer(claimed, layer, hardware, verilog=stage.verilog, source=stage.source)
    facts = derived.derive(stage.progress)
    steps = sum(column["steps"] for column in facts["columns"])
    return Found(
        facts=facts,
        tried=f"{n} columns, {steps} steps, {derived.points} accumulators tried",
        reasons=[*derived.reasons, *limited(iter(derived.inexact))],
        points=derived.points,
        is_layer=True,
    )


def _addition(stage: Stage) -> Found:
    arrays, formats = stage.arrays, stage.claimed["formats"]
    operand, output = (_format(stage, letter, formats) for letter in "ay")
    if _signed(arrays["b_zero_point"]) != _signed(arrays["a_zero_point"]):
        raise RefusedError(f"{stage.source}: both operands must be of one format")
    scales = {letter: float(arrays[f"{letter}_scale"]) for letter in "aby"}
    zero_points = {letter: int(arrays[f"{letter}_zero_point"]) for letter in "aby"}
    exchanged = bool(arrays["exchanged"])
    rows = float32_sums(operand, output, scales, zero_points, exchanged=exchanged)
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
            "exchanged": exchanged,
            "lanes": hardware.lanes,
            "results_sha256": _digest(wanted),
        },
        tried=f"{len(wanted)} pairs tried in {_lanes(hardware)}",
        reasons=[f"{stage.verilog}: not exact: {text}" for text in wrong],
    )


def _table(stage: Stage) -> Found:
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


def _maximum(stage: Stage) -> Found:
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


def _constant(stage: Stage) -> Found:
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


def _unread(stage: Stage) -> Found:
    return Found(facts={"verdict": "tested"}, tried="", tested=True)


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


def _lanes(hardware: Elementwise | Maximum) -> str:
    return f"{hardware.lanes} lanes" if hardware.lanes > 1 else "1 lane"


def _number(byte: int, form: Format) -> int:
    return byte - ((byte & 0x80) << 1 if form[0] < 0 else 0)


def _format(stage: Stage, letter: str, formats: Mapping[str, str]) -> Format:
    found = format_of(
        letter, formats[letter], signed=_signed(stage.arrays[f"{letter}_zero_point"]), source=stage.source
    )
    if found[1] - found[0] != _BYTE:
        raise RefusedError(f"formats.{letter} is {formats[letter]!r}, and must have 8 bits")
    return found


def _signed(zero_point: Any) -> bool:
    return bool(zero_point.dtype.kind == "i")


def _digest(results: Sequence[int]) -> str:
    return hashlib.sha256(bytes(results)).hexdigest()


OPERATORS: Mapping[str, Callable[[Stage], Found]] = {
    "Convolution": _product,
    "Dense": _product,
    "WholeAverage": _whole_average,
    "Addition": _addition,
    "Table": _table,
    "MaxPool": _maximum,
    "Constant": _constant,
    "Multiplication": _unread,
    "Concatenation": _unread,
    "Move": _unread,
}
"""By the operator's name in the certificate: what derives its claims."""
