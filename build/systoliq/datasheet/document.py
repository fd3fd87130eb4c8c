"""Datasheet of a package as one HTML file: every fact is the sidecar's, a trace's or a synthesis report's."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from systoliq.markup import table

from ..explore.page import details, page
from ..generator import CERTIFICATE
from ..package.forms.block import Block, Interface
from ..synth.report import SynthReport
from .beats import WorkedBeat, worked_beats
from .registers import registers_html
from .trace import Trace

__all__ = ["Datasheet", "datasheet_html"]

_MOST_ROWS = 40  # of a table that is open at first
_STREAM_RULE = "A stream moves a beat at each rising edge of the clock at which its tvalid and its tready are 1."
_LIST_LENGTH = 16  # of values in a row


@dataclass(frozen=True, kw_only=True, eq=False)
class Datasheet:
    """The sources of a datasheet: the `block` of a sidecar, its `trace` with the `diagram` (SVG), or the reason
    `untraced` why it has none, the `latency` that the trace measured, and a report for each part.
    """

    block: Block
    trace: Trace | None
    diagram: str
    untraced: str
    latency: int | None
    reports: tuple[SynthReport, ...]


def datasheet_html(sheet: Datasheet) -> str:
    """Return the page."""
    sidecar = sheet.block.sidecar
    sections = [
        ("What it is", _about(sheet)),
        ("Ports", _ports(sheet.block)),
        ("Protocol", _protocol(sheet)),
        ("Latency and rate", _timing(sheet)),
        ("Resources and clock", _resources(sheet.reports)),
        ("Packing", "".join(_beat(each) for each in worked_beats(sheet.block, sheet.trace)) + _padding(sidecar)),
        ("Clock and reset", _clocking(sidecar)),
    ]
    if "registers" in sidecar:
        sections.append(("Registers", registers_html(sidecar["registers"])))
    sections += [("Exactness", _exactness(sidecar)), ("Limits and errata", _limits(sheet)), ("Files", _files(sidecar))]
    return page(f"{sheet.block.name}: datasheet", [sidecar["computes"]], sections)


def _about(sheet: Datasheet) -> str:
    sidecar = sheet.block.sidecar
    rows = [("kind", sidecar["kind"]), ("top module", sidecar["top"]), ("cells", sidecar["cells"])]
    rows += [(f"format of {letter}", _format(each)) for letter, each in sidecar.get("formats", {}).items()]
    for group, prefix in (
        ("shape", ""),
        ("parameters", ""),
        ("engine", ""),
        ("input", "input, "),
        ("output", "output, "),
    ):
        rows += [(f"{prefix}{name.replace('_', ' ')}", value) for name, value in sidecar.get(group, {}).items()]
    for group in ("inputs", "outputs"):
        rows += [(f"{group}, {letter}", _inline(value)) for letter, value in sidecar.get(group, {}).items()]
    versions = ", ".join(f"{name} {value}" for name, value in sidecar["versions"].items() if name != "python")
    return table(("", ""), [(label, _inline(value)) for label, value in (*rows, ("written by", versions))], words=True)


def _format(form: Mapping[str, Any]) -> str:
    span = f", {form['min']} to {form['max']}" if "min" in form else ""
    return f"{form['name']}, {form['bits']} bits{span}"


def _inline(value: object) -> str:
    """A value on one line, without quotes and brackets."""
    if isinstance(value, Mapping):
        return ", ".join(
            f"{name.replace('_', ' ')}{':' * name.isdigit()} {_inline(each)}" for name, each in value.items()
        )
    if isinstance(value, list):
        shown = [_inline(each) for each in value[:_LIST_LENGTH]]
        between = " x " if all(isinstance(each, int) for each in value) else ", "
        return between.join(shown) + (f" and {len(value) - _LIST_LENGTH} more" if len(value) > _LIST_LENGTH else "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) and abs(value) > 9999 else str(value)


def _ports(block: Block) -> str:
    of_bus = {port.name: each for each in block.interfaces for port in each.signals.values()}
    rows = [(port.name, port.direction, port.width, _bus(of_bus.get(port.name)), port.meaning) for port in block.ports]
    return _folded(table(("port", "direction", "bits", "bus", "meaning"), rows, words=True), len(rows), "ports")


def _bus(interface: Interface | None) -> str:
    return "" if interface is None else f"{interface.protocol}\N{NO-BREAK SPACE}{interface.role}".replace("-", "\u2011")


def _folded(content: str, rows: int, what: str) -> str:
    return content if rows <= _MOST_ROWS else details(f"{rows} {what}", content)


def _protocol(sheet: Datasheet) -> str:
    rows = [(f"{stream}_tready", _sentence(text)) for stream, text in sheet.block.sidecar.get("tready", {}).items()]
    text = table(("signal", "is"), rows, words=True) if rows else ""
    if any(each.protocol == "axi4-stream" for each in sheet.block.interfaces):
        text = f"<p>{_STREAM_RULE}</p>{text}"
    if sheet.trace is None:
        return f"{text}<p>No timing diagram: {html.escape(sheet.untraced)}.</p>"
    return (
        f"{text}<p>The ports in the package's own testbench, simulated by Icarus. Cycle 0 takes the first beat of "
        "operands; two strokes stand for cycles that are left out, and hatching for values that mean nothing. The "
        f'arrow is the latency, {sheet.latency} cycles in this run.</p><div class="wide">{sheet.diagram}</div>'
    )


def _sentence(text: str) -> str:
    """Return `text` with a capital, unless it begins with the name of a signal."""
    return text if "_" in text.split(" ", 1)[0] else text[:1].upper() + text[1:]


def _timing(sheet: Datasheet) -> str:
    sidecar = sheet.block.sidecar
    latency, model = sidecar["latency"], sidecar["cycle_model"]
    rows = [("latency", f"{_inline(latency['cycles'])} cycles"), ("from", latency["from"]), ("to", latency["to"])]
    rows += [("measured in the diagram", f"{sheet.latency} cycles")] if sheet.latency is not None else []
    rows += [(name.replace("_", " "), _inline(value)) for name, value in model.items() if name != "examples"]
    rows += [("cycles of a job", _inline(each)) for each in model.get("examples", ())]
    content = table(("", ""), rows, words=True)
    interval = model.get("image_cycles") or model.get("further_group_cycles")
    clocks = [report for report in sheet.reports if report.fmax_mhz is not None]
    if interval and clocks:
        unit, each = ("images", 1) if "image_cycles" in model else ("rows", model["rows_per_group"])
        rates = [
            (report.target, f"{report.fmax_mhz:g}", f"{(report.fmax_mhz or 0) * 1e6 * each / interval:,.0f}")
            for report in clocks
        ]
        content += "<p>At the clock of each part, see below:</p>" + table(("part", "MHz", f"{unit} a second"), rates)
    if plan := sidecar.get("plan"):
        stages = [(each["node"], each["operator"], each["image_cycles"], each["multipliers"]) for each in plan]
        heads = ("stage", "operator", "cycles an image", "multipliers")
        content += "<p>The stages of the pipeline:</p>" + _folded(table(heads, stages), len(stages), "stages")
    return content


def _resources(reports: Sequence[SynthReport]) -> str:
    if not reports:
        return "<p>Not measured. <code>systoliq datasheet --target T</code> places and routes the package.</p>"
    heads = ("part", "LUT sites", "registers", "multiplier cells", "memory blocks", "MHz", "seeds", "tools")
    rows = [
        (
            each.target, f"{each.lut_sites:,}", f"{each.ff:,}", each.dsp, each.ram,
            "" if each.fmax_mhz is None else f"{each.fmax_mhz:g}", len(each.fmax_mhz_per_seed), ", ".join(each.tools),
        )
        for each in reports
    ]  # fmt: skip
    note = "<p>After place and route of the block alone; the clock is the median of the seeds.</p>"
    return table(heads, rows, words=True) + note


def _beat(beat: WorkedBeat) -> str:
    content = f"<h3>{html.escape(beat.name)}</h3><p>{html.escape(_sentence(beat.layout))}.</p>"
    if beat.data:
        content += f"<p>The first beat in the diagram is <code>{html.escape(beat.data)}</code>:</p>"
    if beat.elements:
        content += table(("element", "bits", "code", "value"), beat.elements)
    return content + (f"<p>{beat.more} more elements follow.</p>" if beat.more else "")


def _padding(sidecar: Mapping[str, Any]) -> str:
    texts = [text for text in sidecar.get("packing", {}).values() if isinstance(text, str)]
    return "".join(f"<p>{html.escape(_sentence(text))}.</p>" for text in texts)


def _clocking(sidecar: Mapping[str, Any]) -> str:
    clocking, reset = sidecar["clocking"], sidecar["reset"]
    rows = [
        ("clock", f"{clocking['clock']}, {clocking['edge']} edge; all ports belong to it"),
        ("reset", f"{clocking['reset']}, {clocking['reset_kind']}"),
        ("least cycles of reset", f"{reset['minimum_cycles']}: {reset['meaning']}"),
    ]
    return table(("", ""), rows, words=True)


def _exactness(sidecar: Mapping[str, Any]) -> str:
    vectors = sidecar.get("vectors", {})
    lines = []
    if "expected" in vectors:
        lines.append(f"The testbench expects {vectors['expected']}.")
    if CERTIFICATE in sidecar["files"]:
        lines.append(f"{CERTIFICATE} has the claims; systoliq verify DIR derives them again from the Verilog.")
    else:
        lines.append("Tested by the package's testbench. This kind of block has no certificate.")
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def _limits(sheet: Datasheet) -> str:
    lines = list(_known_limits(sheet.block))
    version = sheet.block.sidecar["versions"]["systoliq"]
    lines.append(f"Errata: faults that were found after version {version} are in CHANGELOG.md, under Fixed.")
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"


def _known_limits(block: Block) -> Iterator[str]:
    """Facts of the sidecar that restrict the use of `block`."""
    sidecar = block.sidecar
    yield from (_sentence(note) for note in sidecar.get("notes", ()))
    if wrong := sidecar.get("vectors", {}).get("float32_mismatches"):
        yield f"The requantizer differs from the float32 formula on {wrong} golden vectors."
    yield from (f"{port.name}: {port.meaning}." for port in block.ports if port.name == "error")
    if block.memories:
        yield f"The Verilog reads {', '.join(block.memories)} from the directory in which the tool runs."
    if block.models:
        yield f"{', '.join(block.models)} is for simulation only."
    if sidecar["cells"] != "portable":
        yield f"The Verilog has cells of {sidecar['cells']}: it builds for that family only."


def _files(sidecar: Mapping[str, Any]) -> str:
    rows = list(sidecar["files"].items())
    return details(f"{len(rows)} files", table(("file", "contents"), rows, words=True))
