"""The package of a dense layer of integers, read: certificate.json, NAME_layer.npz, NAME.v  ->  IntegerLayer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .hardware import Hardware, Shape, UnreadableError
from .integer_layer import IntegerLayer
from .memories import MemoryFiles
from .modules import Module
from .package import RefusedError, layer_of, read_arrays
from .rules import check_rules
from .syntax import read_verilog

__all__ = ["dense_shape", "one_layer", "read_modules"]


def one_layer(directory: Path, claimed: dict[str, Any], name: str) -> IntegerLayer:
    """The function that derives the claims of the certificate of the layer `name` from the other files."""
    verilog, source = f"{name}.v", f"{name}_layer.npz"
    layer = layer_of(read_arrays(directory / source), source)
    shape = dense_shape(claimed, k=len(layer.b), n=len(layer.b[0]), y_signed=layer.signed["y"])
    modules = read_modules(directory, verilog)
    try:
        hardware = Hardware(modules, name, shape)
    except UnreadableError as error:
        raise RefusedError(f"{verilog}: {error}") from error
    return IntegerLayer(claimed, layer, hardware, verilog=verilog, source=source)


def dense_shape(claimed: dict[str, Any], *, k: int, n: int, y_signed: bool) -> Shape:
    """The shape of K x N on the array that a certificate claims."""
    return Shape(
        k=k,
        n=n,
        cols=claimed["array"]["cols"],
        depth=claimed["array"]["depth"],
        b_signed=not claimed["formats"]["weights"].startswith("u"),
        y_signed=y_signed,
    )


def read_modules(directory: Path, verilog: str) -> dict[str, Module]:
    """The modules of a package's Verilog file by name, with the contents of their memories."""
    files = MemoryFiles(directory)
    try:
        text = (directory / verilog).read_bytes().decode("ascii")
        modules = read_verilog(text, files)
        check_rules(modules, verilog.removesuffix(".v"))
    except (UnreadableError, UnicodeDecodeError) as error:
        raise RefusedError(f"{verilog}: {error}") from error
    if files.unread:
        raise RefusedError(f"{files.unread[0]}: no module of {verilog} reads it")
    return modules
