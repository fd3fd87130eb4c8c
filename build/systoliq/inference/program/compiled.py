"""Compiled model: an ONNX file as lists of jobs for a DMA engine, weights, and steps of the host."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from systoliq.hw.engine import EngineConfig

from ...errors import expect, path_of
from ...onnx import Model
from ...package.output import write_output
from ..division import Division
from ..feed import blank_feed
from ..lowering import lowered
from ..operations import Array
from .compiler import bytes_of_bus, compile_model
from .files import program_files
from .program import Program

__all__ = ["CompiledModel", "compile_onnx"]


@dataclass(frozen=True, kw_only=True, eq=False)
class CompiledModel:
    """A `program`, the `division` of the model that it follows, and inputs of the shapes that it is for."""

    program: Program
    division: Division
    feed: Mapping[str, Array]

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Contents of its files, by name."""
        return program_files(self.program, self.division, self.feed)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {array.dtype} {list(array.shape)}" for name, array in self.feed.items())
        return f"CompiledModel({inputs[:120]}; {len(self.division.products)} products on the engine)"

    def write(self, directory: str | Path, *, replace: bool = False) -> Path:
        """Write all files as `directory`, whole or not at all, and return it as a Path.

        The directory must be new, be empty or contain the program of a model with this file name. If `replace` is true,
        any other systoliq package in it is overwritten too.
        """
        directory = path_of("directory", directory)
        write_output(directory, self.files, replace=replace)
        return directory


def compile_onnx(
    model: str | Path | Model,
    config: EngineConfig | None = None,
    *,
    bus: int = 128,
    shapes: Mapping[str, Sequence[int]] | None = None,
    only: Collection[str] | None = None,
    base: int = 0,
    memory: int | None = None,
) -> CompiledModel:
    """Compile the ONNX model in the file `model` for a DMA engine of `config` with a bus of `bus` bits.

    `shapes` sets the shapes of inputs with open sizes. `only` lists the products for the engine; the others stay on the
    host. Lists, weights and buffers use at most `memory` bytes from the address `base`. Raises InputError for a model
    that onnxruntime rejects, that has no product for the engine, or that does not fit.

    >>> compile_onnx("model.onnx", EngineConfig(rows=16, cols=16)).write("out/model")
    """
    model = model if isinstance(model, Model) else path_of("model", model)
    expect("config", config, EngineConfig, type(None))
    expect("bus", bus, int)
    expect("shapes", shapes, Mapping, type(None))
    expect("only", only, Collection, type(None))
    expect("base", base, int)
    expect("memory", memory, int, type(None))
    bus_bytes = bytes_of_bus(config or EngineConfig(), bus)
    low = lowered(model)
    feed = blank_feed(low.session.inputs, shapes or {})
    program, division = compile_model(
        low, config or EngineConfig(), feed, bus_bytes=bus_bytes, only=only, base=base, memory=memory
    )
    return CompiledModel(program=program, division=division, feed=feed)
