"""The certificate of a design, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

from ..design.design import Design
from ..design.layer.design import LayerDesign
from ..design.network.design import NetworkDesign
from .layer.certify import certify_layer
from .network.certificate import certify_network

__all__ = ["certify"]


@singledispatch
def certify(design: Design, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the claims of the certificate, given the package's other `files`; empty if `design` is not `certified`.

    `systoliq verify` derives the claims again.
    """
    return {}


certify.register(LayerDesign, certify_layer)
certify.register(NetworkDesign, certify_network)
