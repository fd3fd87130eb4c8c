"""Report of a question: the answer, its stages, sizes against throughput, and every candidate with its verdict."""

from __future__ import annotations

from systoliq.markup import table

from ..page import Dot, details, page, scatter
from .answer import Answer, Candidate
from .show import answer_lines

__all__ = ["answer_html"]

_HEADS = ("cycles an image", "LUT sites", "multiplier cells", "memory blocks", "MHz", "images a second", "verdict")


def answer_html(answer: Answer) -> str:
    """The page; figures of plans that were not placed are estimates."""
    front = {id(each) for each in answer.front}
    dots = [_dot(each, answer, front) for each in answer.candidates]
    chosen = next((i for i, each in enumerate(answer.candidates) if each is answer.chosen), None)
    sections = [
        ("Size against throughput", scatter(dots, "images a second", "LUT sites")),
        ("Every candidate", table(_HEADS, [_cells(each) for each in answer.candidates], chosen)),
    ]
    if answer.chosen is not None:
        sections.insert(0, ("The plan, stage by stage", _stages(answer.chosen)))
    return page(f"{answer.subject.name}: the smallest on {answer.target}", answer_lines(answer), sections)


def _dot(candidate: Candidate, answer: Answer, front: set[int]) -> Dot:
    row = candidate.row
    kind = "chosen" if candidate is answer.chosen else "placed" if row["placed"] else "other"
    if kind == "other" and id(candidate) in front:
        kind = "front"
    text = f"{row['image_cycles']} cycles, {row['lut_sites']} LUT sites, {row['mhz']:.0f} MHz: {row['verdict']}"
    return Dot(x=row["images_per_s"], y=row["lut_sites"], kind=kind, text=text)


def _cells(candidate: Candidate) -> tuple[object, ...]:
    row = candidate.row
    sizes = (row[name] for name in ("image_cycles", "lut_sites", "dsp", "ram"))
    return *sizes, f"{row['mhz']:.0f}", f"{row['images_per_s']:.4g}", row["verdict"]


def _stages(candidate: Candidate) -> str:
    parts = []
    for option in candidate.sized.options:
        stage = option.stage
        how, node = stage.parallelism, stage.node
        share = stage.image_cycles / candidate.image_cycles
        facts = [
            ("operator", node.kind),
            ("inputs", ", ".join(f"{each.name} {list(each.shape)} {each.format}" for each in node.inputs)),
            ("output", f"{node.output.name} {list(node.output.shape)} {node.output.format}"),
            ("cols x depth, cells", f"{how.cols} x {how.depth} {how.cells}"),
            ("cycles, of the slowest", f"{stage.image_cycles}, {share:.0%}"),
            ("multipliers, their cells", f"{stage.multipliers}, {option.dsp}"),
            ("LUT sites, memory blocks, about", f"{option.lut_sites}, {option.ram}"),
        ]
        parts.append(details(f"{node.name}: {option.lut_sites} LUT sites, {share:.0%} busy", table(("", ""), facts)))
    return "".join(parts)
