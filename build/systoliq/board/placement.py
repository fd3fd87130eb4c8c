"""The picture of a placed design: its parts on the tiles of the part."""

from __future__ import annotations

import colorsys
import html
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from ..synth.families import FAMILIES
from ..synth.floorplan import natural
from ..synth.placed_cells import PlacedCell

__all__ = ["floorplan_svg"]

_SPACE, _GAP = 0.08, 2.0  # between tiles, and beside the legend, in tiles
_TURN = 0.618  # of the circle of hues, from one part of the design to the next
_GREY = "#9aa5b1"
_REST = "serial link, clock, constants"
_LEVELS = 4  # of opacity, by the cells of a tile


def floorplan_svg(cells: Sequence[PlacedCell], part_of: Callable[[str], str], family: str) -> str:
    """Return a picture of the tiles in use: each has the colour of the part of the design with most cells in it, by
    `part_of` of their names; "" is what belongs to no part, in grey. Tiles with memory blocks and multipliers of
    `family` have a frame. The picture ends at the outermost tiles in use.
    """
    if not cells:
        return ""
    tiles: defaultdict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    counts: Counter[str] = Counter()
    special = _special(family)
    framed = {(cell.x, cell.y) for cell in cells if cell.kind in special}
    for cell in cells:
        part = part_of(cell.name)
        tiles[cell.x, cell.y][part] += 1
        counts[part] += 1
    colours = _colours([part for part in _in_order(cells, part_of) if part])
    full = max(sum(count.values()) for tile, count in tiles.items() if tile not in framed or len(tiles) == len(framed))
    left, top, width, height = _frame(tiles)
    drawn = "".join(_tiles(tiles, framed, full, colours))
    legend = "".join(_legend(counts, colours, left + width + _GAP, top, height))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} {top} {width * 2 + _GAP:g} {height}" '
        f'style="max-width: 60rem" role="img"><rect x="{left}" y="{top}" width="{width}" height="{height}" '
        f'fill="#f4f6f8"/>{drawn}{legend}</svg>\n'
    )


def _special(family: str) -> set[str]:
    """Return nextpnr's kinds of multipliers and memory blocks of a family."""
    placement = FAMILIES[family].placement
    return set() if placement is None else {kind for key in ("dsp", "ram") for kind in placement.used.get(key, ())}


def _in_order(cells: Sequence[PlacedCell], part_of: Callable[[str], str]) -> list[str]:
    """Return the parts in the order of their cells' names, which number the stages."""
    return list(dict.fromkeys(part_of(cell.name) for cell in sorted(cells, key=lambda cell: natural(cell.name))))


def _colours(parts: Sequence[str]) -> dict[str, str]:
    found = {"": _GREY}
    for index, part in enumerate(parts):
        rgb = colorsys.hls_to_rgb(0.58 + index * _TURN, 0.40 + 0.12 * (index % 2), 0.62)
        found[part] = "#" + "".join(f"{round(255 * each):02x}" for each in rgb)
    return found


def _frame(tiles: Mapping[tuple[int, int], object]) -> tuple[int, int, int, int]:
    columns, rows = zip(*tiles, strict=True)
    return min(columns), min(rows), max(columns) - min(columns) + 1, max(rows) - min(rows) + 1


def _tiles(
    tiles: Mapping[tuple[int, int], Counter[str]], framed: set[tuple[int, int]], full: int, colours: Mapping[str, str]
) -> Iterator[str]:
    """Yield a path for all tiles of the same colour and opacity."""
    drawn: defaultdict[tuple[str, int, bool], list[tuple[int, int]]] = defaultdict(list)
    for tile, parts in sorted(tiles.items()):
        level = _LEVELS if tile in framed else -(-_LEVELS * min(parts.total(), full) // full)
        drawn[parts.most_common(1)[0][0], level, tile in framed].append(tile)
    side = 1 - 2 * _SPACE
    for (part, level, frame), places in sorted(drawn.items()):
        path = "".join(f"M{x + _SPACE:g} {y + _SPACE:g}h{side:g}v{side:g}h-{side:g}z" for x, y in places)
        line = ' stroke="#1d2733" stroke-width="0.12"' if frame else ""
        yield (
            f'<path d="{path}" fill="{colours[part]}" fill-opacity="{0.25 + 0.75 * level / _LEVELS:g}"{line}>'
            f"<title>{html.escape(part or _REST)}</title></path>"
        )


def _legend(
    counts: Mapping[str, int], colours: Mapping[str, str], left: float, top: float, height: float
) -> Iterator[str]:
    """Yield a line for each part, with the number of its cells."""
    parts = sorted((part for part in colours if counts.get(part)), key=lambda part: not part)
    step = min(height / (len(parts) + 1), height / 16)
    for index, part in enumerate(parts):
        y = top + step * (index + 0.5)
        text = f"{part or _REST}: {counts[part]:,} cells"
        yield (
            f'<rect x="{left:g}" y="{y:.2f}" width="{0.6 * step:.2f}" height="{0.6 * step:.2f}" '
            f'fill="{colours[part]}"/><text x="{left + step:.2f}" y="{y + 0.55 * step:.2f}" '
            f'style="font-size: {0.62 * step:.2f}px" font-family="sans-serif" fill="#1d2733">{html.escape(text)}</text>'
        )
