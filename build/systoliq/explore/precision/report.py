"""Report of a precision study: the answer, accuracy by width, the widths that each layer allows, and costs."""

from __future__ import annotations

from typing import Any

from systoliq.markup import table

from ..page import Dot, details, page, scatter
from .show import answer
from .study import Study, widths_text

__all__ = ["study_html"]

_SCOPES = {"all": "weights and activations", "weights": "weights alone", "activations": "activations alone"}


def study_html(study: Study) -> str:
    """The page."""
    sections = [
        ("One width for all", _uniform(study)),
        ("Accuracy against bits of weights", scatter([_dot(row, study) for row in study.rows], "bits of all weights",
                                                     "accuracy", logarithmic=False)),
        ("Each layer by itself", "".join(_layers(study))),
    ]  # fmt: skip
    if front := [row for row in study.rows if row["front"]]:
        rows = sorted(front, key=lambda row: -row["accuracy"])
        chosen = next((index for index, row in enumerate(rows) if row is study.chosen), None)
        cells = [_mixed(row) for row in rows]
        heads = ("accuracy", "LUT sites", "memory blocks", "bits of weights", "weights", "activations")
        sections.append(("Mixed widths that no other beats", table(heads, cells, chosen)))
    return page(f"{study.network.name}: bits of weights and activations", answer(study), sections)


def _uniform(study: Study) -> str:
    rows = []
    for bits in study.bits:
        found = [study.row(scope, bits) for scope in _SCOPES]
        whole = found[0]
        if whole is not None:
            shown = (f"{row['accuracy']:.2%}" if row else "" for row in found)
            rows.append((bits, *shown, *(_figure(whole[key]) for key in ("lut_sites", "ram", "dsp", "weight_bits"))))
    heads = (
        "bits",
        *_SCOPES.values(),
        "LUT sites, about",
        "memory blocks, about",
        "multiplier cells",
        "bits of weights",
    )
    return table(heads, rows)


def _layers(study: Study) -> list[str]:
    named = [("layer", name, "weights") for name in study.layers]
    named += [("tensor", group[0], "activations") for group in study.groups]
    found = []
    for scope, name, what in named:
        rows = [row for bits in study.bits[1:] if (row := study.row(scope, bits, name)) is not None]
        worst = min((row["accuracy"] for row in rows), default=0.0)
        keys = ("lut_sites", "ram", "weight_bits")
        cells = [(row["bits"], f"{row['accuracy']:.2%}", *(_figure(row[key]) for key in keys)) for row in rows]
        heads = ("bits", "accuracy", "LUT sites", "memory blocks", "bits of weights")
        found.append(details(f"{name}, {what}: down to {worst:.2%}", table(heads, cells)))
    return found


def _dot(row: dict[str, Any], study: Study) -> Dot:
    kind = "chosen" if row is study.chosen else "front" if row["front"] else "other"
    text = f"{row['accuracy']:.2%}: {row['scope']} {row['name']} {row['bits'] or widths_text(row['weights'])}"
    return Dot(x=row["weight_bits"], y=row["accuracy"], kind=kind, text=text)


def _mixed(row: dict[str, Any]) -> tuple[object, ...]:
    sizes = (_figure(row[key]) for key in ("lut_sites", "ram", "weight_bits"))
    return f"{row['accuracy']:.2%}", *sizes, widths_text(row["weights"]), widths_text(row["activations"])


def _figure(value: int | None) -> str:
    return "" if value is None else str(value)
