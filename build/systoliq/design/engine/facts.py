"""Facts about the configuration of an engine, ready for JSON, and warnings about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from systoliq.golden.float8 import Float8Format
from systoliq.hw.engine import EngineConfig

from ..facts import format_facts

__all__ = ["config_facts", "described_config", "stream_notes"]

_FORMATS = ("a", "b", "y")


def config_facts(config: EngineConfig) -> dict[str, Any]:
    """Sizes, dataflow and cells, ready for JSON; `vector` and `row_length` if there are such units; of float8 also the
    formats, the bits of sums, and of their flags.
    """
    facts = {name: value for name, value in dataclasses.asdict(config).items() if name not in _FORMATS}
    for name in ("vector", "row_length"):
        if not getattr(config, name):
            del facts[name]
    if not config.float8:
        return facts
    del facts["max_rows"]
    formats = {name: format_facts(form) for name, form in zip(_FORMATS, config.float8, strict=True)}
    sums = {"accumulator_bits": config.array.accumulator_bits, "flag_bits": config.array.flag_bits}
    return facts | {"formats": formats} | sums


def described_config(facts: Mapping[str, Any]) -> EngineConfig:
    """The configuration that `config_facts` describes; what else is in `facts` does not count."""
    left_out = {"vector", "row_length", *(["max_rows"] if "formats" in facts else [])} - facts.keys()
    names = {field.name for field in dataclasses.fields(EngineConfig)} - set(_FORMATS) - left_out
    fields = {name: facts[name] for name in names}
    fields |= {name: Float8Format.parse(form["name"]) for name, form in facts.get("formats", {}).items()}
    return EngineConfig(**fields)


def stream_notes(config: EngineConfig) -> list[str]:
    """Notes on streams whose width ordinary AXI DMAs do not support: they need powers of two from 8 to 1024."""
    widths = {
        "s_axis_a": config.rows * config.depth * 8,
        "s_axis_b": config.cols * config.depth * 8,
        "m_axis_y": config.lanes * 32,
    }
    return [
        f"{name} has {bits} bits; AXI DMAs take powers of two from 8 to 1024"
        for name, bits in widths.items()
        if bits & (bits - 1) or bits > 1024
    ]
