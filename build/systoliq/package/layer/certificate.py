"""certificate.json: the claims of a package about its exactness, in enough detail for anyone to check them.

`systoliq.verify` checks it without this file; docs/exactness.md says how to check it by hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import exact
from systoliq.golden.canonical import noncanonical
from systoliq.golden.formats import signed_bits
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.operand import integer_format
from systoliq.golden.requantization import Requantization
from systoliq.hw.folding import Folding

from ...design.choose import reachable
from ...design.layer.design import LayerDesign
from ...generator import GENERATOR, versions

__all__ = ["FORMAT", "accumulator_facts", "certificate", "layer_claims", "sealed", "weights_digest"]

FORMAT = 1

_STATEMENT = (
    "For each column and every accumulator in its range, inputs of the format a cannot leave that range, and the "
    "Verilog's output equals rint(clip(f32(accumulator) * scale, min - zero_point, max - zero_point)) + zero_point in "
    "float32, where the verdict is exact. Both never fall as the accumulator rises, and have the steps whose digest is "
    "given. Columns listed as noncanonical, whose scale in the layer file is negative, infinite or NaN, are described "
    "as equal ones whose scale is not (docs/exactness.md). Check with: systoliq verify DIR"
)


def certificate(design: LayerDesign, requantization: Requantization, files: Mapping[str, bytes]) -> dict[str, Any]:
    """certificate.json for `design`, whose constants are integers; `files` are all other files of its package."""
    dense = design.dense
    config = dense.config
    content: dict[str, Any] = {
        "generator": GENERATOR,
        "kind": "certificate",
        "format": FORMAT,
        "name": design.name,
        "statement": _STATEMENT,
        **layer_claims(
            design.layer,
            requantization,
            dense.folding,
            {"rows": config.rows, "cols": config.cols, "depth": config.depth},
            accumulator_bits=dense.array.config.accumulator_bits,
            sum_bits=dense.sum_bits,
        ),
    }
    return sealed(content, files)


def layer_claims(
    given: MatMulLayer,
    requantization: Requantization,
    folding: Folding,
    array: Mapping[str, int],
    *,
    accumulator_bits: int,
    sum_bits: int,
) -> dict[str, Any]:
    """The certificate's claims about the layer `given`: on an `array` of these sizes, with these widths."""
    layer = given.canonical
    low, high = layer.accumulator_range()
    proof = exact.certificate(requantization, layer.scale, *reachable(layer))
    output = integer_format("y_format", layer.y_format)
    whole = Requantization.from_scales(layer.scale, layer.y_zero_point, output)
    mantissa_bits = whole.multiplier_bits
    return {
        "verdict": proof["verdict"],
        "shape": {"k": layer.k, "n": layer.n},
        "array": dict(array),
        "formats": {"a": layer.a_format.name, "weights": folding.b_format.name, "y": layer.y_format.name},
        "zero_points": {
            "a": layer.a_zero_point,
            "b": given.b_zero_point.tolist(),
            "y": layer.y_zero_point,
        },
        "noncanonical": np.flatnonzero(noncanonical(given.scale)).tolist(),
        "accumulator": accumulator_facts(low, high, bits=accumulator_bits, sum_bits=sum_bits),
        "requantizer": {
            "rounding": proof["rounding"],
            "multiplier_bits": requantization.multiplier_bits,
            "mantissa_bits": mantissa_bits,
            "saved_bits": mantissa_bits - requantization.multiplier_bits,
        },
        "weights_sha256": weights_digest(folding.weights),
        "columns": [
            {"bias": bias, "residual": residual, **column}
            for bias, residual, column in zip(
                folding.bias.tolist(), folding.residual.tolist(), proof["columns"], strict=True
            )
        ],
    }


def sealed(content: dict[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """`content` with the digests of all other `files`, the versions of tools, and its own digest."""
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    whole = {**content, "files": digests, "versions": versions()}
    own = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    return {**whole, "sha256": hashlib.sha256(own.encode()).hexdigest()}


def accumulator_facts(low: npt.NDArray[Any], high: npt.NDArray[Any], *, bits: int, sum_bits: int) -> dict[str, Any]:
    """Why the accumulators are wide enough: the least and greatest sum that an input reaches, and the bits for them.

    Sums on the way may wrap: the last one is right modulo 2^bits, and in range.
    """
    least, most = int(low.min()), int(high.max())
    needed = signed_bits(least, most)
    return {
        "bits": bits,
        "sum_bits": sum_bits,
        "least": least,
        "most": most,
        "needed_bits": needed,
        "wraps": needed > sum_bits,
    }


def weights_digest(weights: npt.NDArray[np.int64]) -> str:
    """SHA-256 of the stored weights [K, N]: decimal, a space between columns, a line feed after each row."""
    text = "".join(" ".join(map(str, row)) + "\n" for row in weights.tolist())
    return hashlib.sha256(text.encode("ascii")).hexdigest()
