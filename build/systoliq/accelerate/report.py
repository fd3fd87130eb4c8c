"""Report of a build: the answer first (does it fit, how fast, how exact), then sizes, pipeline, checks and how to run
it.
"""

from __future__ import annotations

import html
import shlex
from collections.abc import Mapping
from typing import Any

from systoliq.markup import table

from ..board.flow import FLOORPLAN
from ..explore.page import page
from ..verify import BASES
from .board_fit import is_estimated
from .build import BITSTREAM, PACKAGE, SAMPLES, STEPS, Build

__all__ = ["REPORT_FILE", "answer_rows", "report_html"]

REPORT_FILE = "report.html"
_KINDS = {"lut_sites": "LUT sites", "ff": "registers", "dsp": "multiplier cells", "ram": "memory blocks"}
"""Kinds of cells by the keys of a part's capacity."""

_LINE_FRAME = 16  # bytes of two frames around a request and its answer
_LINE_BITS = 10  # of a byte on the line, with its start and stop bit


def answer_rows(build: Build) -> list[tuple[str, str]]:
    """Return the answer as pairs of a label and a text, with what is not known yet."""
    figures = {step: dict(each.figures) for step, each in build.done.items()}
    rows = []
    if random := _random(figures):
        rows.append(("WARNING", random))
    rows.append(("fits", _fits(build, figures)))
    rows += _speed(build, figures)
    rows += _accuracy(figures)
    rows.append(("exactness", _exactness(figures)))
    if left := _left(build):
        rows.append(("left to do", f"{', '.join(left)}: the same command resumes there"))
    return rows


def report_html(build: Build) -> str:
    """Return the page."""
    figures = {step: dict(each.figures) for step, each in build.done.items()}
    plan = figures.get("plan", {})
    sections = [("Sizes", _sizes(build, figures))]
    if plan.get("stages"):
        sections.append(("Sizes by stage, as the planner estimates them", _stages(plan["stages"])))
    if style_and_drawing := plan.get("drawing"):
        style, drawing = style_and_drawing
        if drawing:
            sections.append(("Pipeline", f"<style>{style}</style>{drawing}"))
    if "verify" in figures:
        sections.append(("Verification", _verified(figures["verify"])))
    if "bitstream" in figures:
        sections.append(("Clock and bitstream", table(("", ""), figures["bitstream"]["rows"], words=True)))
        sections.append(("Floorplan", _floorplan(build)))
    sections.append(("Run it", _commands(build, figures)))
    sections.append(("Steps", _steps(build)))
    name = plan.get("name") or build.wanted.source
    answer = [f"{label}: {text}" for label, text in answer_rows(build)]
    return page(f"{name} on {build.wanted.board.name}", answer, sections)


def _random(figures: Mapping[str, Any]) -> str:
    text = figures.get("quantize", {}).get("calibration") or figures.get("plan", {}).get("calibration") or ""
    return f"calibrated by {text}; the outputs mean nothing" if "random" in text else ""


def _fits(build: Build, figures: Mapping[str, Any]) -> str:
    board = f"{build.wanted.board.name} ({build.wanted.board.title})"
    if build.failure is not None and build.failure[0] in ("plan", "synthesize", "bitstream"):
        return f"NO, {board}: {build.failure[1]}"
    if "bitstream" in figures:
        return f"yes, {board}: placed and routed"
    if "synthesize" in figures:
        return f"yes, {board}, after synthesis; not placed and routed yet"
    if "plan" in figures:
        stages = figures["plan"].get("stages")
        if stages and not is_estimated(stages):
            return (
                f"not known before synthesis, {board}: the planner has estimates of multiplier cells only for this part"
            )
        return f"yes, {board}, by the plan's estimates; not synthesized yet"
    return f"not known yet, {board}"


def _speed(build: Build, figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    found, plan = figures.get("simulate"), figures.get("plan", {})
    rows = []
    mhz = figures["bitstream"]["clock_mhz"] if "bitstream" in figures else None
    interval = image_cycles(figures)
    if interval is not None:
        at = f": {mhz * 1e6 / interval:,.0f} images a second at {mhz:.3f} MHz" if mhz else ""
        rows.append(("throughput", f"{interval:,} cycles an image{at or '; the clock follows from place and route'}"))
    if mhz is None:
        rows += [("planned", choice.removeprefix("plan: ")) for choice in plan.get("choices", ())]
    if found is not None:
        cycles = found["latency_cycles"]
        at = f", {cycles / mhz:,.1f} microseconds at {mhz:.3f} MHz" if mhz else ""
        stated = found.get("model_latency_cycles")
        model = "as the cycle model says" if stated == cycles else f"{stated:,} by the cycle model" if stated else ""
        text = f"{cycles:,} cycles from the first beat in to the last beat out of one image, both included"
        rows.append(("latency", f"{text}{model and f', {model}'}{at}"))
        rate = build.wanted.baud / _LINE_BITS / (found["line_bytes"] + _LINE_FRAME)
        rows.append(("serial line", f"at most {rate:,.1f} images a second at {build.wanted.baud} baud"))
    cost = [(label, text) for label, text in plan.get("cost", ())]
    if found is not None and not cost:
        cost = [("work", f"{found['macs'] // found['images']:,} multiply-accumulates an image")]
    return rows + cost


def image_cycles(figures: Mapping[str, Any]) -> int | None:
    """Return the cycles from one image, or row, to the next: of the plan, else as simulated; None if unknown."""
    if stages := figures.get("plan", {}).get("stages"):
        return max(int(stage["image_cycles"]) for stage in stages)
    found = figures.get("simulate")
    if found is None or found["images"] < 2:
        return None
    return int((found["cycles"] - found["latency_cycles"]) // (found["images"] - 1))


def _accuracy(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    parts = []
    made = figures.get("quantize", {}).get("accuracy")
    if made is not None and made["float"] is not None:
        parts.append(f"float {made['float']:.2%}, quantized {made['quantized']:.2%} of {made['samples']} samples")
    elif made is not None:
        parts.append(f"the quantized model gives the float model's class for {made['agreement']:.2%}")
    found = figures.get("simulate")
    if found is not None and found["golden"] is not None:
        golden = found["golden"]
        parts.append(f"golden model {golden['accuracy']:.2%} of {golden['samples']} samples")
    if found is not None and found["accuracy"] is not None:
        parts.append(f"RTL {found['accuracy']:.2%} of {found['images']} simulated images of {found['origin']}")
    return [("accuracy", "; ".join(parts))] if parts else []


def _exactness(figures: Mapping[str, Any]) -> str:
    found, parts = figures.get("simulate"), []
    if found is not None:
        parts.append(
            f"all {found['outputs']:,} integers of {found['images']} images from {found['origin']} equal golden in "
            f"{found['simulator']}"
        )
    if "verify" in figures:
        parts.append(figures["verify"]["summary"])
    return "; ".join(parts) or "not simulated or verified yet"


def _left(build: Build) -> list[str]:
    skipped = () if build.float_model is not None else ("quantize",)
    return [step for step in STEPS if step not in build.done and step not in skipped]


def _sizes(build: Build, figures: Mapping[str, Any]) -> str:
    heads = ("", "planned, about", "synthesized with its serial link", "the part has", "share")
    stages = figures.get("plan", {}).get("stages") or ()
    synthesized = figures.get("synthesize", {}).get("sizes", {})
    rows = []
    for kind, room in build.wanted.board.target.capacity.items():
        if kind not in _KINDS:
            continue
        planned = sum(stage[kind] for stage in stages) if stages and kind in stages[0] else None
        made = synthesized.get(kind, [None])[0]
        known = made if made is not None else planned
        share = "" if known is None else f"{known / room:.0%}"
        rows.append(
            (_KINDS[kind], *("" if each is None else f"{each:,}" for each in (planned, made)), f"{room:,}", share)
        )
    placed = figures.get("bitstream", {}).get("resources", {})
    content = table(heads, rows)
    if placed:
        cells = [(kind, f"{used:,}", f"{room:,}", f"{used / room:.0%}") for kind, (used, room) in placed.items()]
        content += "<p>After place and route, by the names of nextpnr:</p>"
        content += table(("", "used", "the part has", "share"), cells)
    return content


def _stages(stages: list[Mapping[str, Any]]) -> str:
    counted = [key for key in ("multipliers", *_KINDS) if key in stages[0]]
    heads = ("stage", "operator", "cycles an image", *(_KINDS.get(key, key) for key in counted))
    rows = [
        (stage["node"], stage["operator"], *(f"{stage[key]:,}" for key in ("image_cycles", *counted)))
        for stage in stages
    ]
    return table(heads, rows)


def _verified(verified: Mapping[str, Any]) -> str:
    """Return what was verified, and what each result rests on, the strongest basis first."""
    rows = [
        (each["result"], each["basis"], each["detail"])
        for basis in BASES
        for each in verified["boundary"]
        if each["basis"] == basis
    ]
    meanings = "".join(f"<li>{html.escape(name)}: {html.escape(text)}</li>" for name, text in BASES.items())
    return f"<p>{html.escape(verified['summary'])}.</p>" + (
        table(("result", "rests on", ""), rows, words=True) + f"<ul>{meanings}</ul>" if rows else ""
    )


def _floorplan(build: Build) -> str:
    """Return the picture of the placed design."""
    text = (
        "The tiles in use after place and route. A tile has the colour of the stage with most cells in it, stronger "
        "where more cells are. Tiles with a frame are multipliers and memory blocks."
    )
    return f"<p>{text}</p>{(build.wanted.out / BITSTREAM / FLOORPLAN).read_text()}"


def _commands(build: Build, figures: Mapping[str, Any]) -> str:
    out, source = build.wanted.out, build.source
    commands = []
    if "emit" in figures:
        commands.append(f"systoliq verify {shlex.quote(str(out / PACKAGE))}")
    if "simulate" in figures:
        commands.append(f"systoliq simulate {shlex.quote(source)} --input {shlex.quote(str(out / SAMPLES))}")
    if "bitstream" in figures:
        commands.append(f"systoliq board load {shlex.quote(str(out))}")
        commands.append(f"systoliq board run --port PORT --input {shlex.quote(str(out / SAMPLES))}")
    text = "\n".join(commands) or "nothing yet"
    line = f"<p>The serial line: {html.escape(build.wanted.board.uart)}.</p>" if "bitstream" in figures else ""
    return f"<pre>{html.escape(text)}</pre>{line}"


def _steps(build: Build) -> str:
    rows = []
    for step in STEPS:
        done = build.done.get(step)
        if done is not None:
            rows.append((step, "kept" if done.kept else "done", f"{done.seconds:.1f} s"))
        elif build.failure is not None and build.failure[0] == step:
            rows.append((step, f"failed: {build.failure[1]}", ""))
        elif step in _left(build):
            rows.append((step, "not done", ""))
    return table(("step", "", "time"), rows, words=True)
