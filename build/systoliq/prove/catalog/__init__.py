"""The catalog of all properties, by block."""

from __future__ import annotations

from ..property import Property

__all__ = ["find", "properties"]


def properties() -> tuple[Property, ...]:
    """All properties, in the order of the data's way."""
    from . import (
        array,
        block_ram,
        bus,
        cells,
        direct_drain,
        drain,
        engine_ports,
        exponentials,
        float8_mac,
        float8_requantizer,
        float8_rounding,
        intake,
        jobs,
        masters,
        narrow_pairs,
        networks,
        operands,
        overlapping_pairs,
        packer,
        pairs,
        ports,
        register_file,
        requantizer,
        reset,
        rounding,
        serial_products,
        status,
        streams,
        system_bus,
        walks,
    )

    modules = (
        array,
        direct_drain,
        cells,
        pairs,
        narrow_pairs,
        overlapping_pairs,
        rounding,
        exponentials,
        serial_products,
        requantizer,
        float8_mac,
        float8_requantizer,
        float8_rounding,
        streams,
        block_ram,
        bus,
        system_bus,
        register_file,
        status,
        packer,
        operands,
        drain,
        intake,
        jobs,
        masters,
        networks,
        reset,
        ports,
        engine_ports,
        walks,
    )
    return tuple(prop for module in modules for prop in module.PROPERTIES)


def find(name: str) -> Property:
    """The property called ``name``."""
    for prop in properties():
        if prop.name == name:
            return prop
    raise ValueError(f"name must be that of a property, not {name!r}")
