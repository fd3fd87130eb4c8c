"""Arguments of programs that run a model on an engine with a vector unit."""

from __future__ import annotations

import argparse

from systoliq.api import EngineConfig

__all__ = ["add_engine", "engine_of"]


def add_engine(parser: argparse.ArgumentParser, **defaults: int) -> None:
    """Add an option for each of `defaults`: fields of the engine, and the bits of its bus."""
    for name, number in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=number)
    parser.add_argument("--cells", default="portable")


def engine_of(given: argparse.Namespace) -> EngineConfig:
    """The engine of the arguments."""
    fields = {name: getattr(given, name) for name in ("rows", "cols", "depth", "lanes", "row_length") if name in given}
    return EngineConfig(**fields, cells=given.cells, vector=True)
