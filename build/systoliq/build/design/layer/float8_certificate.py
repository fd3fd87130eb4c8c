"""certificate.json of a float8 layer: scales, reach and steps of its columns, in enough detail for anyone to check it.

`systoliq.build.verify` checks it without this file; docs/float8.md says how to check it by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from systoliq.golden.float8_requantization import MANTISSA_BITS, Float8Requantization
from systoliq.golden.float8_thresholds import float8_steps, reachable_sums
from systoliq.golden.thresholds import column_digest

from ...generator import GENERATOR
from .certificate import FORMAT, accumulator_facts, sealed, weights_digest

if TYPE_CHECKING:
    from .design import LayerDesign

__all__ = ["float8_certificate"]

_STATEMENT = (
    "For each column and every sum in its range, in units of 2^unit, finite inputs of the format a cannot leave that "
    "range, accumulators hold it exactly, and the Verilog's output is the code nearest to sum * 2^unit * scale, half "
    "to even, saturated: its steps are those whose digest is given. Check with: systoliq verify DIR"
)


def float8_certificate(
    design: LayerDesign, requantization: Float8Requantization, files: Mapping[str, bytes]
) -> dict[str, Any]:
    """What certificate.json says of `design`; `files` are all others of its package."""
    layer, dense = design.layer, design.dense
    config, output = dense.config, requantization.output
    hi = reachable_sums(layer)
    lo = [-most for most in hi]
    unit = sum(form.unit for form in config.float8 or ())
    facts = accumulator_facts(
        np.array(lo, object), np.array(hi, object), bits=config.accumulator_bits, sum_bits=dense.sum_bits
    )
    columns = zip(
        requantization.multiplier, requantization.exponent, float8_steps(requantization, unit, lo, hi), hi, strict=True
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
        "formats": {"a": layer.a_format.name, "weights": layer.b_format.name, "y": layer.y_format.name},
        "accumulator": {**facts, "unit": unit, "flag_bits": config.flag_bits},
        "special": {"nan": output.nan_code, "infinity": [output.max_code, output.max_code | 0x80]},
        "requantizer": {"rounding": "nearest-even", "multiplier_bits": MANTISSA_BITS},
        "weights_sha256": weights_digest(layer.b.view(np.uint8).astype(np.int64)),
        "columns": [
            {
                "scale": (multiplier * 2.0**exponent).hex(),
                "multiplier": multiplier,
                "exponent": exponent,
                "accumulators": [-most, most],
                "steps": len(steps) - 1,
                "digest": column_digest(steps, most),
            }
            for multiplier, exponent, steps, most in columns
        ],
    }
    return sealed(content, files)
