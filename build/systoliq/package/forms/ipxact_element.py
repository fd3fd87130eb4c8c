"""Elements of IP-XACT, with the prefix of its namespace."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

__all__ = ["NAMESPACE", "Element", "add"]

NAMESPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"

Element = ElementTree.Element


def add(
    parent: Element, name: str, text: str | int | None = None, attributes: Mapping[str, str] | None = None
) -> Element:
    """A new element `name` at the end of `parent`."""
    made = ElementTree.SubElement(parent, f"ipxact:{name}", dict(attributes or {}))
    if text is not None:
        made.text = str(text)
    return made
