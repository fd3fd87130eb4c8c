"""Whole rows through a stage, cycle by cycle: Stage, rows, expected rows  ->  how many were evaluated, and faults.

Control does not depend on data (`dataflow`), so a row takes the same steps as every other row.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from .beats import run_stage
from .float32 import Format
from .machine import Machine, UntranslatableError
from .stage import Stage

__all__ = ["Rows", "evaluated_rows", "steered_rows"]

Rows = Sequence[Sequence[int]]
_MOST_WORK = 3_000_000  # statements times cycles, of a stage
_MARGIN = 1000  # cycles until the first result


def steered_rows(form: Format, length: int, count: int) -> list[list[int]]:
    """`count` rows of `length` integers: equal, at the ends of `form`, near, one that stands out, random."""
    rng = random.Random(length)
    low, high = form
    kinds = (
        lambda: [rng.choice(form)] * length,
        lambda: [rng.choice(form) for _ in range(length)],
        lambda: [low] * (length - 1) + [high],
        lambda: [rng.randint(low, high) for _ in range(length)],
        lambda: [min(high, low + rng.randrange(4)) for _ in range(length)],
        lambda: [max(low, high - int(rng.expovariate(0.05))) for _ in range(length)],
    )
    return [kinds[index % len(kinds)]() for index in range(count)]


def evaluated_rows(
    stage: Stage, make: Callable[[int], tuple[Mapping[str, Rows], Rows]], *, image_cycles: int, most_images: int
) -> tuple[int, list[str]]:
    """Send images through the stage, each of `image_cycles`; return how many rows of results were compared, and faults.

    `make` returns the rows of each input port, and of the results, for a number of images: at most `most_images`, and
    fewer where they take too long. Nothing is evaluated if one does, or if the stage has cells of a vendor.
    """
    try:
        machine = Machine(stage.modules, stage.module)
    except UntranslatableError:
        return 0, []
    images = min(most_images, _MOST_WORK // (machine.statements * image_cycles))
    if not images:
        return 0, []
    stage.progress(f"{images} images")
    given, expected = make(images)
    wires = stage.modules[stage.module].wires
    beats = {
        port: _beats(rows, images, wires[f"{port}__payload"].width - 1)
        for port, rows in {**given, "o": expected}.items()
    }
    wanted = beats.pop("o")
    found = run_stage(machine, beats, count=len(wanted), most_cycles=2 * images * image_cycles + _MARGIN)
    return len(expected), list(_wrong(stage, found, wanted, len(expected[0])))


def _beats(rows: Rows, images: int, bits: int) -> list[int]:
    """The beats of `images` images of one element of `bits` bits each; the last of each is marked."""
    beats = [each & (1 << bits) - 1 for row in rows for each in row]
    size = len(beats) // images
    return [beat | (place % size == size - 1) << bits for place, beat in enumerate(beats)]


def _wrong(stage: Stage, found: Sequence[int], wanted: Sequence[int], length: int) -> Iterator[str]:
    wrong = [place for place, (y, x) in enumerate(zip(found, wanted, strict=True)) if y != x]
    if wrong:
        row, place = divmod(wrong[0], length)
        yield (
            f"{stage.verilog}: not exact: {len(wrong)} of {len(wanted)} results of whole rows are wrong, first element "
            f"{place} of row {row}: {found[wrong[0]]:#x} instead of {wanted[wrong[0]]:#x}"
        )
