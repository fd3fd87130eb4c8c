"""The command `systoliq layers`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from ..onnx import Model
from ..onnx.network import Reading
from ..onnx.products import Product
from ..progress import Stages
from .network_table import network_lines, network_table, network_title
from .shell import debug_option, tell_notes
from .shown import shown

__all__ = ["layers"]

_EXACT_SUMS = (
    "note: a layer with float8 rounds once, at its end; a model in QDQ form computes in float32 and may round before"
)


@click.command(
    "layers",
    help="""List the nodes of an ONNX model. The first table has its matrix products: those that emit, simulate, synth
and explore accept as FILE.onnx#NAME, and the reason why each other product is not supported. The second table has every
node as part of a whole network: what it becomes, its shape and work, and the reason if it is not supported. layers also
plans the network's hardware, as emit does by default. A line that begins with "no hardware" gives a reason why emit
refuses the network.

\b
Examples
  systoliq layers model.onnx
  systoliq emit 'model.onnx#/fc/Gemm' --out out/fc
""",
)
@click.argument("model", metavar="FILE.onnx", type=click.Path(path_type=Path))
@debug_option
def layers(model: Path) -> None:
    """See `help`."""
    path, mark, _ = str(model).partition(".onnx#")
    if mark and not model.exists():
        raise InputError(
            f"FILE.onnx must be the file alone, {path}.onnx, not {str(model)!r}: layers lists all its products"
        )
    from ..design.network.reasons import reasons_against  # with Amaranth, which --help does not need

    opened = Model.open(model)
    products, reading = opened.products, opened.reading
    with Stages().stage("plan the hardware"):
        hardware = () if reading.network is None else reasons_against(reading.network)
    tell_notes(opened.notes())
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _width(products, reading))
    if products and reading.unquantized is None:  # else that is the one reason
        _print_products(console, model, products)
    _print_line(console, network_title(reading, hardware))
    console.print(network_table(reading))
    for line in network_lines(reading, hardware):
        _print_line(console, line)


def _print_products(console: Console, model: Path, products: Sequence[Product]) -> None:
    taken = [product for product in products if product.layer is not None]
    if taken:
        console.print(_table(taken))
        _print_line(console, f"systoliq emit {shlex.quote(f'{model}#{taken[0].name}')} --out DIR")
    if any(product.pattern == "QDQ" and product.layer and product.layer.has_float8 for product in taken):
        _print_line(console, _EXACT_SUMS)
    for product in products:
        if product.layer is None:
            line = f"not taken: {product.operator} {product.name!r} ({product.shape}): {product.reason}"
            _print_line(console, " ".join(line.split()))


def _print_line(console: Console, line: str) -> None:
    console.print(shown(line), soft_wrap=True, markup=False)


def _table(products: Sequence[Product]) -> Table:
    table = Table("name", "pattern", "M x K x N", "formats", "weights' scale", "bias", box=None, pad_edge=False)
    for product in products:
        cells = (product.name, f"{product.pattern} {product.operator}", product.shape, *_facts(product))
        table.add_row(*(Text(shown(cell), overflow="fold") for cell in cells))
    return table


def _facts(product: Product) -> tuple[str, str, str]:
    """Formats of A, B and Y; per tensor or per column; whether there is a bias, and its kind."""
    layer, host = product.layer, product.host
    if layer is None:
        return "", "", ""
    added = host is not None and any(step.operator == "Add" for step in host.steps)
    scales = 1 if layer.b_scale is None else len(np.unique(layer.b_scale))
    shared = scales == len(np.unique(layer.b_zero_point)) == 1
    return (
        f"{layer.a_format.name} x {layer.b_format.name} -> {layer.y_format.name}",
        "unknown" if layer.b_scale is None else "per tensor" if shared else "per channel",
        "by the host" if added else "no" if layer.bias is None else "int32",
    )


def _width(products: Sequence[Product], reading: Reading) -> int:
    """Width of tables in a file or a pipe: enough for the longest names."""
    names = [len(product.name) + len(product.shape) for product in products]
    names += [2 * len(verdict.name) + len(verdict.operator) + len(verdict.text) for verdict in reading.verdicts]
    return 120 + max(names, default=0)
