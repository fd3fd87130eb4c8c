"""The comment at the head of an emitted Verilog file: contents, parameters, how to check it, and rights."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..design.design import Design
from ..generator import GENERATOR, versions
from .describe import describe

__all__ = ["header"]

_WIDTH = 116


def header(design: Design, models: Sequence[str]) -> str:
    """Lines of comment for the Verilog of `design`, the same for the same design; `models` are the files with models
    of its cells.
    """
    name, facts, used = design.name, describe(design), versions()
    yosys, _, _ = used["yosys"].partition(" (")
    sources = " ".join([f"{name}.v", *models, f"{name}_tb.v"])
    lines = [
        *_wrapped(f"{name}: {facts['computes']}.", ""),
        "",
        "Parameters",
        *_wrapped(", ".join([design.kind, f"cells={design.cells}", *_parameters(facts)])),
        "",
        f"Packing of the streams; for ports, latency and everything else, see {name}.json",
        *(line for stream, text in _packing(facts["packing"]) for line in _wrapped(f"{stream}: {text}")),
        "",
        *(
            ["Contents of large memories: *.mem, which simulators read from their working directory", ""]
            if design.verilog.files
            else []
        ),
        "Check",
        f"  iverilog -g2005 -o t {sources} && vvp t    must print PASS",
        *([f"  {GENERATOR} verify DIR    proves correctness from this file and the layer"] if design.certified else []),
        "",
        f"Written by {GENERATOR} {used['systoliq']}, with Amaranth {used['amaranth']} and {yosys}.",
        f"No rights are claimed by {GENERATOR}'s authors in this generated file.",
    ]
    return "".join(f"// {line}".rstrip() + "\n" for line in lines) + "\n"


def _wrapped(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent="  ", break_on_hyphens=False)


def _parameters(facts: Mapping[str, Any]) -> Iterator[str]:
    """The requested parameters, a few words each."""
    for fmt, value in facts.get("formats", {}).items():
        yield f"{fmt}={value['name']}"
    for group in ("shape", "parameters", "engine"):
        for name, value in facts.get(group, {}).items():
            if not isinstance(value, list) and name != "cells":
                yield f"{name}={value}"
    if "quantization" in facts:
        yield f"rounding={facts['quantization']['rounding']}"


def _packing(packing: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for stream, value in packing.items():
        yield (stream, value) if isinstance(value, str) else (stream.upper(), value["layout"])
