"""certificate.json of a layer with float8: scales, reach and steps of its columns, for anyone to check.

`systoliq.verify` checks it without this file; docs/float8.md says how to check it by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from systoliq.golden.float8 import Float8Format
from systoliq.golden.float8_requantization import MANTISSA_BITS, Float8Requantization
from systoliq.golden.float8_thresholds import float8_steps, reachable_sums
from systoliq.golden.formats import INT32
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import Format
from systoliq.golden.thresholds import column_digest

from ...design.layer.design import LayerDesign
from ...generator import GENERATOR
from .certificate import FORMAT, accumulator_facts, sealed, weights_digest

__all__ = ["float8_certificate", "zero_points_of_b"]

_STATEMENT = (
    "For each column and every sum in its range, in units of 2^unit, finite inputs of the format a cannot leave that "
    "range, accumulators hold it exactly (of integers, modulo 2^32), and the Verilog's output is the code nearest to "
    "sum * 2^unit * scale, or the nearest integer plus the zero point of y, half to even, saturated: its steps are "
    "those whose digest is given. Check with: systoliq verify DIR"
)


def float8_certificate(
    design: LayerDesign, requantization: Float8Requantization, files: Mapping[str, bytes]
) -> dict[str, Any]:
    """certificate.json for `design`; `files` are all other files of its package."""
    layer, dense = design.layer, design.dense
    config, folding = dense.config, dense.folding
    lo, hi = reachable_sums(layer)
    facts = accumulator_facts(
        np.array(lo, object), np.array(hi, object), bits=config.accumulator_bits, sum_bits=dense.sum_bits
    )
    content = {
        "generator": GENERATOR,
        "kind": "certificate",
        "format": FORMAT,
        "name": design.name,
        "statement": _STATEMENT,
        "verdict": "exact",
        "shape": {"k": layer.k, "n": layer.n},
        "array": {"rows": config.rows, "cols": config.cols, "depth": config.depth},
        "formats": {"a": layer.a_format.name, "weights": folding.b_format.name, "y": layer.y_format.name},
        "zero_points": {"a": layer.a_zero_point, "b": zero_points_of_b(layer), "y": layer.y_zero_point},
        "accumulator": {**facts, "unit": config.unit, "flag_bits": config.flag_bits},
        "special": _special(layer.y_format),
        "requantizer": {"rounding": "nearest-even", "multiplier_bits": MANTISSA_BITS},
        "weights_sha256": weights_digest(folding.weights.astype(np.int64)),
        "columns": _columns(design, requantization, lo, hi),
    }
    return sealed(content, files)


def _columns(
    design: LayerDesign, requantization: Float8Requantization, lo: list[int], hi: list[int]
) -> list[dict[str, Any]]:
    """The claims about each column, for sums from lo to hi."""
    folding, config = design.dense.folding, design.dense.config
    if design.layer.multiplies_integers:
        lo, hi = _wrapped(lo, hi)
    return [
        {
            "bias": int(folding.bias[n]),
            "residual": int(folding.residual[n]),
            "scale": (requantization.multiplier[n] * 2.0 ** requantization.exponent[n]).hex(),
            "multiplier": requantization.multiplier[n],
            "exponent": requantization.exponent[n],
            "accumulators": [lo[n], hi[n]],
            "steps": len(steps) - 1,
            "digest": column_digest(steps, hi[n]),
        }
        for n, steps in enumerate(float8_steps(requantization, config.unit, lo, hi))
    ]


def zero_points_of_b(layer: MatMulLayer) -> list[int]:
    """The zero point of each column's weights; 0 for float8."""
    return [0] * layer.n if isinstance(layer.b_format, Float8Format) else layer.b_zero_point.tolist()


def _special(output: Format) -> dict[str, Any]:
    """The results for NaN and for the infinities of both signs."""
    if isinstance(output, Float8Format):
        return {"nan": output.nan_code, "infinity": [output.max_code, output.max_code | 0x80]}
    return {"nan": output.min, "infinity": [output.max, output.min]}


def _wrapped(lo: list[int], hi: list[int]) -> tuple[list[int], list[int]]:
    """The ranges of int32 sums: all of int32 for a column whose sums leave it."""
    inside = [INT32.min <= least and most <= INT32.max for least, most in zip(lo, hi, strict=True)]
    return (
        [least if fits else INT32.min for least, fits in zip(lo, inside, strict=True)],
        [most if fits else INT32.max for most, fits in zip(hi, inside, strict=True)],
    )
