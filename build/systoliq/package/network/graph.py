"""Graph of a network's stages as SVG: a box each, from top to bottom, and lines for the tensors between them.

A line to the next box is straight. Others, such as a residual connection, leave and arrive on the right.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from ...design.network.design import NetworkDesign

__all__ = ["graph_svg"]

_WIDTH, _HEIGHT, _GAP = 300, 26, 18  # of a box, and between two
_LEFT, _TOP = 10, 6
_CHARACTERS = 40  # of a box's text
_BESIDE = 14  # from the boxes to the nearest line beside them, and from it to the next
_SLOWEST, _OTHER = "#b33", "#3a78b0"


def graph_svg(design: NetworkDesign) -> str:
    """Return the graph. A box is filled by the share of the slowest stage's cycles; the slowest one is red."""
    stages = design.plan.stages
    texts = [f"{stage.node.name}: {type(stage.node).__name__}" for stage in stages]
    sources = [f"s_axis_{letter}: {name}" for letter, name in design.assembly.inputs.items()]
    sinks = [f"m_axis_{letter}: {name}" for letter, name in design.assembly.outputs.items()]
    places = {name: index for index, name in enumerate(design.assembly.inputs.values())}
    places |= {stage.node.output.name: len(sources) + index for index, stage in enumerate(stages)}
    taken = {joint.name: joint.inputs for joint in design.assembly.pipeline.joints}
    edges = [
        (places[name], places[stage.node.output.name])
        for stage in stages
        for name in taken[stage.node.output.name]
        if name in places  # others are constants
    ]
    first_sink = len(sources) + len(stages)
    edges += [(places[name], first_sink + index) for index, name in enumerate(design.assembly.outputs.values())]
    shares = [0.0] * len(sources) + [stage.image_cycles / design.plan.image_cycles for stage in stages]
    shares += [0.0] * len(sinks)
    boxes = "".join(
        _box(place, text, share)
        for place, (text, share) in enumerate(zip([*sources, *texts, *sinks], shares, strict=True))
    )
    beside = _lanes([edge for edge in edges if edge[1] != edge[0] + 1])
    lines = "".join(_line(edge, beside.get(edge)) for edge in edges)
    width = _LEFT + _WIDTH + _BESIDE * (max(beside.values(), default=0) + 3)
    height = _TOP + len(shares) * (_HEIGHT + _GAP)
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" style="font-size: 12px">'
        f"<title>Stages and the tensors between them</title>{lines}{boxes}</svg>"
    )


def _lanes(edges: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the lane of each edge beside the boxes, from 0 on: edges of one lane do not overlap."""
    found: dict[tuple[int, int], int] = {}
    for edge in sorted(set(edges), key=lambda each: (each[1] - each[0], each)):
        taken = {lane for (start, end), lane in found.items() if start < edge[1] and edge[0] < end}
        found[edge] = next(lane for lane in range(len(edges)) if lane not in taken)
    return found


def _box(place: int, text: str, share: float) -> str:
    top = _TOP + place * (_HEIGHT + _GAP)
    colour = _SLOWEST if share == 1 else _OTHER
    shown = text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 3]}..."
    frame = f'x="{_LEFT}" y="{top}" height="{_HEIGHT}" rx="4"'
    bar = f'<rect {frame} width="{share * _WIDTH:.0f}" fill="{colour}" opacity="0.25"/>' if share else ""
    return (
        f'<g><title>{html.escape(text)}</title><rect {frame} width="{_WIDTH}" fill="#fff" stroke="{colour}"/>{bar}'
        f'<text x="{_LEFT + 8}" y="{top + 17}">{html.escape(shown)}</text></g>'
    )


def _line(edge: tuple[int, int], lane: int | None) -> str:
    return f'<path d="{" ".join(_path(edge, lane))}" fill="none" stroke="#666"/>'


def _path(edge: tuple[int, int], lane: int | None) -> Iterator[str]:
    start, end = (_TOP + place * (_HEIGHT + _GAP) for place in edge)
    if lane is None:
        middle = _LEFT + _WIDTH // 2
        yield f"M{middle} {start + _HEIGHT}V{end}"
        yield f"M{middle - 4} {end - 6}L{middle} {end}L{middle + 4} {end - 6}"
        return
    right, beside = _LEFT + _WIDTH, _LEFT + _WIDTH + _BESIDE * (lane + 1)
    yield f"M{right} {start + _HEIGHT // 2 + 4}H{beside}V{end + _HEIGHT // 2 - 4}H{right}"
    yield f"M{right + 6} {end + _HEIGHT // 2 - 8}l-6 4l6 4"
