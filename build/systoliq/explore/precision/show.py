"""Console of a precision study: the answer, then accuracy and cost by width, then the cost of each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from .study import Study, widths_text

__all__ = ["answer", "show_study"]

_SAVED = (("lut_sites", "LUT sites"), ("ram", "memory blocks"), ("weight_bits", "weight bits"))
_SCOPES = {"all": "weights and activations", "weights": "weights alone", "activations": "activations alone"}


def show_study(study: Study, console: Console) -> None:
    """Print all tables."""
    for line in answer(study):
        console.print(line, soft_wrap=True, markup=False)
    console.print(_by_width(study))
    if any(row["scope"] in ("layer", "tensor") for row in study.rows):
        console.print("Accuracy if only this layer or tensor is narrower", soft_wrap=True)
        console.print(_by_layer(study))
    front = [row for row in study.rows if row["front"]]
    if front:
        console.print("Mixed widths that no other beats (activations by their tensors)", soft_wrap=True)
        console.print(_mixed(study, front))
    if study.costs.reason:
        console.print(f"no hardware costs: {study.costs.reason}", soft_wrap=True, markup=False)


def answer(study: Study) -> list[str]:
    """The cost of narrower operands, in words: one line for each width, and the data of the measurement."""
    base = study.row("all", study.bits[0])
    if base is None:
        return []
    lines = []
    least = study.chosen
    if least is not None:
        known = [(key, what) for key, what in _SAVED if least[key] is not None]
        figures = ", ".join(f"{least[key]} {what}" for key, what in known)
        others = widths_text(least["activations"]) or "unchanged"
        widths = f"weights {widths_text(least['weights'])}; activations {others}"
        lines.append(f"smallest mix found: {least['accuracy']:.2%} with {figures}: {widths}")
    cycles = study.costs.image_cycles
    plan = "" if cycles is None else f"; on {study.costs.target}, {cycles} cycles an image"
    lines += [f"accuracy {base['accuracy']:.2%} of the unchanged network, on {study.data.origin}{plan}"]
    for bits in study.bits[1:]:
        row = study.row("all", bits)
        if row is None:
            continue
        lost = 100 * (base["accuracy"] - row["accuracy"])
        saved = [
            f"{1 - row[key] / base[key]:.0%} of the {what}"
            for key, what in _SAVED
            if base[key] and row[key] is not None
        ]
        lines.append(f"{bits} bits cost {lost:.2f} points of accuracy and save {', '.join(saved)}")
    if study.searched is not None and study.searched.out_of_time:
        tried, asked = study.searched.tried, study.searched.asked
        lines.append(f"best so far: the time was over after {tried} of {asked} candidates of mixed widths")
    return lines


def _by_width(study: Study) -> Table:
    table = Table("bits", *_SCOPES.values(), box=None, pad_edge=False)
    for column in table.columns:
        column.justify = "right"
    for head in ("LUT sites, about", "memory blocks, about", "multiplier cells", "weight bits"):
        table.add_column(head, justify="right")
    for bits in study.bits:
        rows = {scope: study.row(scope, bits) for scope in _SCOPES}
        whole = rows["all"]
        if whole is None:
            continue
        cells = [f"{row['accuracy']:.2%}" if row else "" for row in rows.values()]
        table.add_row(str(bits), *cells, *(_figure(whole[key]) for key in ("lut_sites", "ram", "dsp", "weight_bits")))
    return table


def _by_layer(study: Study) -> Table:
    narrow = list(study.bits[1:])
    table = Table("layer or tensor", "", box=None, pad_edge=False)
    for bits in narrow:
        table.add_column(f"{bits} bits", justify="right")
    for scope, names, what in (
        ("layer", study.layers, "weights"),
        ("tensor", [group[0] for group in study.groups], "activations"),
    ):
        for name in names:
            rows = [study.row(scope, bits, name) for bits in narrow]
            table.add_row(name, what, *(f"{row['accuracy']:.2%}" if row else "" for row in rows))
    return table


def _mixed(study: Study, rows: Sequence[dict[str, Any]]) -> Table:
    heads = [group[0] for group in study.groups]
    table = Table("accuracy", box=None, pad_edge=False)
    for head in ("LUT sites", "blocks", "weight bits"):
        table.add_column(head, justify="right")
    table.add_column("weights")
    table.add_column("activations")
    for row in sorted(rows, key=lambda row: -row["accuracy"]):
        table.add_row(
            f"{row['accuracy']:.2%}",
            *(_figure(row[key]) for key in ("lut_sites", "ram", "weight_bits")),
            widths_text(row["weights"]),
            widths_text(row["activations"], heads),
            style="green" if row is study.chosen else None,
        )
    return table


def _figure(value: int | None) -> str:
    return "" if value is None else str(value)
