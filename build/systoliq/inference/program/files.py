"""Files of a compiled model: image, lists of steps for programs and for readers, C, and the host's steps as models."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from systoliq.hw.dma.registers import BASE

from ...files import json_bytes
from ...generator import GENERATOR, versions
from ...package.dma_engine.dma_register_map import dma_c_header
from ...package.engine.register_map import c_header as engine_header
from ..division import Division
from ..operations import Array
from ..steps import HostStep
from .c_text import c_header, c_tables
from .engine_words import engine_words
from .facts import IMAGE, model_file, program_facts
from .listing import listing
from .program import Program

__all__ = ["FORMAT", "SIDECAR", "program_files"]

FORMAT = 1
SIDECAR = "program.json"
_ENGINE_HEADER = "systoliq_engine.h"


def program_files(program: Program, division: Division, feed: Mapping[str, Array]) -> dict[str, bytes]:
    """Contents by name; `feed` has the shapes and types that the program was compiled for."""
    described = {
        IMAGE: ("weights as the engine reads them, and lists of jobs", program.image),
        "program.txt": ("memory and steps, for readers", listing(program).encode()),
        "systoliq_program.h": ("addresses and sizes of all buffers, and the tables' types", c_header(program).encode()),
        "systoliq_program.c": ("the tables", c_tables(program).encode()),
        "systoliq_example.h": ("hooks of the example", _text("example.h")),
        "systoliq_example.c": ("example of a host that runs all steps", _text("example.c")),
        "systoliq_dma.h": ("the registers of the masters", dma_c_header().encode()),
        _ENGINE_HEADER: ("the registers of the engine", engine_header().encode()),
    }
    tensors = {**division.constants, **feed, **division.expected(feed)}
    for number, step in enumerate(program.steps, 1):
        if isinstance(step, HostStep) and step.outputs:
            model = division.pieces[step].model({name: tensors[name] for name in step.inputs})
            described[model_file(number)] = (f"step {number}, for the host", model)
    sidecar = {
        "generator": GENERATOR,
        "format": FORMAT,
        "kind": "program",
        "top": program.name,
        **program_facts(program),
        "registers": {
            "masters": BASE,
            "header": [_ENGINE_HEADER, "systoliq_dma.h"],
            "values": engine_words(program.config),
        },
        "files": {name: text for name, (text, _) in described.items()},
        "versions": versions(),
    }
    return {name: content for name, (_, content) in described.items()} | {SIDECAR: json_bytes(sidecar)}


def _text(name: str) -> bytes:
    return (resources.files(__package__) / name).read_bytes()
