"""The certificate of a layer, by the form of its requantizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.unscaled import Unscaled

from ...design.layer.design import LayerDesign
from ...errors import InputError
from ...generator import CERTIFICATE
from .certificate import certificate
from .float8_certificate import float8_certificate

__all__ = ["certify_layer"]


def certify_layer(design: LayerDesign, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the claims about a layer's columns; empty for int32 sums, which nothing rounds."""
    constants = design.requantization
    if isinstance(constants, Unscaled):
        return {}
    if CERTIFICATE in files:
        raise InputError(f"name must not be {design.name!r}: {CERTIFICATE} is a file of the package")
    if isinstance(constants, Float8Requantization):
        return float8_certificate(design, constants, files)
    return certificate(design, constants, files)
