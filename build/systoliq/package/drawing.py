"""Drawings of designs, for reports."""

from __future__ import annotations

from functools import singledispatch

from ..design.design import Design
from ..design.network.design import NetworkDesign
from .network.report import PIPELINE_STYLE, pipeline_html

__all__ = ["drawing_of"]


@singledispatch
def drawing_of(design: Design) -> tuple[str, str]:
    """Return the style and the HTML of a drawing of the design's stages; both are empty if it has none."""
    return "", ""


@drawing_of.register
def _(design: NetworkDesign) -> tuple[str, str]:
    return PIPELINE_STYLE, pipeline_html(design)
