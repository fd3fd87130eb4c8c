"""Progress of `systoliq explore` on the console: bars with the remaining time."""

from __future__ import annotations

import time

from rich import progress as bars
from rich.console import Console

__all__ = ["Bars"]

_TITLES = {
    "model": "cycle model, accuracy, exactness", "synthesis": "synthesis", "place": "place and route",
    "cosimulation": "cosimulation of the front", "uniform": "one width for all",
    "each": "each layer by itself", "mixed": "mixed widths",
}  # fmt: skip


class Bars:
    """A bar for each stage on a terminal; elsewhere one line for each stage. On standard error."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = Console(stderr=True) if console is None else console
        self._bars = bars.Progress(
            bars.TextColumn("{task.description:<34}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("[dim]{task.fields[cached]} cached"),
            bars.TimeElapsedColumn(),
            bars.TextColumn("left"),
            bars.TimeRemainingColumn(),
            console=self._console,
        )
        self._tasks: dict[str, bars.TaskID] = {}
        self._seen: dict[str, list[int]] = {}
        self._started = time.monotonic()

    def start(self, stage: str, total: int, cached: int) -> None:
        """Begin a stage, or add points to it."""
        seen = self._seen.setdefault(stage, [0, 0])
        seen[0] += total
        seen[1] += cached
        self._started = time.monotonic()
        if not self._console.is_terminal:
            return
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(_TITLES[stage], total=0, cached=0)
        self._bars.update(self._tasks[stage], total=seen[0], cached=seen[1], advance=cached)
        self._bars.start()

    def advance(self, stage: str, points: int) -> None:
        """Points were finished."""
        if stage in self._tasks:
            self._bars.advance(self._tasks[stage], points)

    def end(self, stage: str) -> None:
        """The stage is over."""
        if self._console.is_terminal:
            self._bars.stop()
            return
        total, cached = self._seen[stage]
        seconds = time.monotonic() - self._started
        self._console.print(
            f"{_TITLES[stage]}: {total} points, {cached} of them from the cache, {seconds:.1f} s", soft_wrap=True
        )

    def note(self, text: str) -> None:
        """Print the line."""
        self._console.print(text, soft_wrap=True, markup=False, highlight=False)
