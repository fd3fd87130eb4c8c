"""Page of a report: the answer first, a plot with its legend, tables, and details that open; one file.

Nothing is loaded: style and plot (SVG) are in the page.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Dot", "details", "page", "scatter"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1d2733; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.answer { background: #eef5ee; border-left: 4px solid #2f7d4f; padding: .6rem 1rem; } .answer p { margin: .2rem 0; }
table { border-collapse: collapse; }
td, th { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #e3e7eb; }
th { font-weight: 600; } td:first-child, th:first-child { text-align: left; } tr.chosen { background: #dff0e3; }
.words td, .words th { text-align: left; }
details { margin: .3rem 0; } summary { cursor: pointer; } .plot { display: flex; gap: 1.5rem; align-items: center; }
.plot ul { list-style: none; padding: 0; } .wide { overflow-x: auto; } svg text { font-size: 12px; fill: #4a5560; }
"""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 620, 340, 80, 45
_COLOURS = {"front": "#1f6fb2", "chosen": "#2f7d4f", "other": "#b6bec6", "placed": "#c2571a"}


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A point of a plot: `kind` is one of front, chosen, placed and other; `text` is shown where the mouse rests."""

    x: float
    y: float
    kind: str
    text: str


def page(title: str, answer: Sequence[str], sections: Iterable[tuple[str, str]]) -> str:
    """The page; `sections` are heads with HTML."""
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in answer)
    body = "".join(f"<h2>{html.escape(head)}</h2>{content}" for head, content in sections)
    name = html.escape(title)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<style>{_STYLE}</style></head><body><h1>{name}</h1><div class="answer">{lines}</div>{body}</body></html>\n'
    )


def details(summary: str, content: str) -> str:
    """Content that opens by a click."""
    return f"<details><summary>{html.escape(summary)}</summary>{content}</details>"


def scatter(dots: Sequence[Dot], x: str, y: str, *, logarithmic: bool = True) -> str:
    """Dots with axes called `x` and `y`, logarithmic where all are positive and that is asked for, and the legend."""
    along = _Axis.of([dot.x for dot in dots], logarithmic)
    up = _Axis.of([dot.y for dot in dots], logarithmic)
    left, bottom, width, height = _LEFT, _HEIGHT - _BOTTOM, _WIDTH - _LEFT - 20, _HEIGHT - _BOTTOM - 15
    parts = [f'<path d="M{left} 15V{bottom}H{left + width}" fill="none" stroke="#4a5560"/>']
    for value in along.ticks:
        place = left + along.share(value) * width
        parts.append(f'<text x="{place:.0f}" y="{bottom + 18}" text-anchor="middle">{value:.4g}</text>')
    for value in up.ticks:
        place = bottom - up.share(value) * height
        parts.append(f'<text x="{left - 6}" y="{place + 4:.0f}" text-anchor="end">{value:.4g}</text>')
        parts.append(f'<path d="M{left} {place:.0f}H{left + width}" stroke="#e3e7eb"/>')
    for dot in sorted(dots, key=lambda each: list(_COLOURS)[::-1].index(each.kind)):
        at = f'cx="{left + along.share(dot.x) * width:.1f}" cy="{bottom - up.share(dot.y) * height:.1f}"'
        size = 7 if dot.kind == "chosen" else 4
        parts.append(
            f'<circle {at} r="{size}" fill="{_COLOURS[dot.kind]}"><title>{html.escape(dot.text)}</title></circle>'
        )
    parts.append(f'<text x="{left + width / 2}" y="{_HEIGHT - 6}" text-anchor="middle">{html.escape(x)}</text>')
    turned = f'x="14" y="{_HEIGHT / 2}" transform="rotate(-90 14 {_HEIGHT / 2})"'
    parts.append(f'<text {turned} text-anchor="middle">{html.escape(y)}</text>')
    kinds = [kind for kind in _COLOURS if any(dot.kind == kind for dot in dots)]
    legend = "".join(f'<li><span style="color:{_COLOURS[kind]}">&#9679;</span> {kind}</li>' for kind in kinds)
    drawing = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img">{"".join(parts)}</svg>'
    return f'<div class="plot">{drawing}<ul>{legend}</ul></div>'


@dataclass(frozen=True)
class _Axis:
    """From `low` to `high`, of logarithms where `log`."""

    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, values: Sequence[float], logarithmic: bool) -> _Axis:
        low, high = min(values), max(values)
        log = logarithmic and low > 0 and high > 4 * low
        ends = (math.log(low), math.log(high)) if log else (low, high)
        margin = 0.06 * (ends[1] - ends[0]) or abs(ends[0]) * 0.1 or 1.0
        return cls(ends[0] - margin, ends[1] + margin, log)

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high one."""
        return ((math.log(value) if self.log else value) - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        """Five, evenly apart."""
        found = [self.low + (self.high - self.low) * step / 5 for step in range(1, 5)]
        return [math.exp(each) for each in found] if self.log else found
