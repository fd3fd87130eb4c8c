"""Console of a question: the answer first, the plans ruled out and why, and the front of size against throughput."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table

from ...synth.targets import TARGETS
from .answer import LARGER, TOO_SLOW, Answer, Candidate

__all__ = ["answer_lines", "show_answer"]

_SHOWN = 16  # of the front, and around the answer


def show_answer(answer: Answer, console: Console) -> None:
    """Print the answer, the plan of it stage by stage, and the front."""
    for line in answer_lines(answer):
        console.print(line, soft_wrap=True, markup=False)
    if answer.chosen is not None:
        console.print(_stages(answer.chosen))
    console.print(f"Front of {answer.objective} against images a second, by the models where it was not placed")
    console.print(_front(answer))


def answer_lines(answer: Answer) -> list[str]:
    """The answer in words: the smallest plan, its certainty, the plans ruled out, and the errors of the models."""
    lines = []
    if answer.chosen is not None:
        row = answer.chosen.row
        what = "placed" if row["placed"] else "expected"
        about = "" if row["placed"] else "about "
        sizes = f"{about}{row['lut_sites']} LUT sites, {row['dsp']} multiplier cells, {row['ram']} memory blocks"
        rate = (
            f"{row['images_per_s']:.4g} images a second ({row['image_cycles']} cycles at {row['mhz']:.0f} MHz, {what})"
        )
        head = (
            "the smallest" if answer.proven else "best so far" if answer.stopped and row["placed"] else "by the models"
        )
        lines.append(f"{head} for {answer.required:g} images a second on {answer.target}: {sizes}; {rate}")
        lines.append(_sure(answer))
    if answer.checked is not None:
        lines.append(answer.checked.line)
    counts = Counter(each.verdict for each in answer.candidates if each.verdict)
    for verdict, count in counts.most_common():
        lines.append(f"  {count} plans {verdict}{_bound(answer, verdict)}")
    model = answer.frequency
    lines.append(
        f"{len(answer.candidates)} plans, each the smallest of its time an image, stand for all {answer.plans:,}; "
        f"frequency model: {model.points} placed points, each left out of its fit: median error {model.median:.1%}, "
        f"worst {model.worst:.1%}, {model.above:.1%} quicker than expected at the most"
    )
    return lines


def _bound(answer: Answer, verdict: str) -> str:
    """The figures behind a verdict: how near the best of them comes."""
    same = [each for each in answer.candidates if each.verdict == verdict]
    if verdict == TOO_SLOW:
        return f": {max(each.most for each in same):.4g} images a second at the most"
    if verdict == LARGER:
        return f": {min(each.sized.total('lut_sites') for each in same)} LUT sites and more, about"
    return ""


def _sure(answer: Answer) -> str:
    if answer.proven:
        return "proven within the models' errors: every smaller plan was placed, or is too slow at the model's best"
    smaller = [each for each in answer.candidates if each.verdict.startswith("open")]
    if not smaller and answer.chosen is not None and answer.chosen.placed is None:
        return "not placed: --place N measures it"
    if not smaller:
        return f"not proven: {answer.stopped}"
    least = min(smaller, key=lambda each: each.sized.total("lut_sites"))
    return (
        f"not proven ({answer.stopped}): {len(smaller)} smaller plans, of "
        f"{least.sized.total('lut_sites')} LUT sites and more, may reach it at the model's best"
    )


def _stages(chosen: Candidate) -> Table:
    table = Table("stage", "operator", "cols x depth", "cells", box=None, pad_edge=False)
    for head in ("cycles", "multipliers", "multiplier cells", "LUT sites, about", "memory blocks, about"):
        table.add_column(head, justify="right")
    for option in chosen.sized.options:
        stage = option.stage
        how = stage.parallelism
        figures = (stage.image_cycles, stage.multipliers, option.dsp, option.lut_sites, option.ram)
        operator = type(stage.node).__name__
        table.add_row(stage.node.name, operator, f"{how.cols} x {how.depth}", how.cells, *map(str, figures))
    return table


def _front(answer: Answer) -> Table:
    capacity = TARGETS[answer.target].capacity
    table = Table(box=None, pad_edge=False)
    for head in (
        "cycles",
        "LUT sites",
        "of the part",
        "multiplier cells",
        "memory blocks",
        "MHz",
        "images a second",
        "",
    ):
        table.add_column(head, justify="right")
    rows = answer.front
    step = max(1, -(-len(rows) // _SHOWN))
    for index, each in enumerate(rows):
        if index % step and each is not answer.chosen and index != len(rows) - 1:
            continue
        row = each.row
        share = f"{row['lut_sites'] / capacity['lut_sites']:.1%}" if "lut_sites" in capacity else ""
        sizes = (str(row[name]) for name in ("dsp", "ram"))
        table.add_row(
            str(row["image_cycles"]), str(row["lut_sites"]), share, *sizes, f"{row['mhz']:.0f}",
            f"{row['images_per_s']:.4g}", "placed" if row["placed"] else "",
            style="green" if each is answer.chosen else None,
        )  # fmt: skip
    return table
