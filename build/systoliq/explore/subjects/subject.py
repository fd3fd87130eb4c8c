"""Subject: base class of what is explored. Stages, cache, front and report know no more of a kind than is here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...design import Design
from ..settings import Settings
from ..space import Axis, Point

if TYPE_CHECKING:
    from ..table import Row

__all__ = ["Subject"]


class Subject:
    """What is explored; picklable, since it goes to worker processes.

    `source` is what the command line calls it, `origin` where it comes from. `work` are the multiply-accumulates of one
    inference, which is a row of a layer, an image of a network, a pass of an engine through its workload.
    """

    columns: ClassVar[tuple[str, ...]]
    """Columns of `table.COLUMNS` that are its alone: axes, and what its model finds."""
    model_knows_target: ClassVar[bool] = False
    """Whether `model` depends on the device beyond its cells."""

    source: str
    origin: str
    float_accuracy: float | None = None

    @property
    def name(self) -> str:
        """Of the reports' titles."""
        raise NotImplementedError

    @property
    def work(self) -> int:
        """Multiply-accumulates of one inference."""
        raise NotImplementedError

    @property
    def axes(self) -> Sequence[Axis]:
        """Its axes, the device among them."""
        raise NotImplementedError

    @property
    def objectives(self) -> tuple[str, ...]:
        """What the front is about where nothing is said: names of `pareto.OBJECTIVES`."""
        raise NotImplementedError

    @property
    def content(self) -> list[str | bytes]:
        """All that its points depend on beyond their axes."""
        raise NotImplementedError

    @property
    def facts(self) -> dict[str, Any]:
        """What reports say of it, ready for JSON."""
        raise NotImplementedError

    def subtitle(self, settings: Settings) -> list[str]:
        """What the report says below its title, in short pieces."""
        raise NotImplementedError

    def point(self, values: Mapping[str, Any]) -> Point:
        """The point with these values of the axes; more of them are left alone, so that a row of a table will do."""
        raise NotImplementedError

    def design(self, point: Point) -> Design:
        """The design of a point; a ValueError where there can be none."""
        raise NotImplementedError

    def model(self, point: Point, settings: Settings) -> dict[str, Any]:
        """What is known of a point without any tool, by column; a ValueError where there can be no such design."""
        raise NotImplementedError

    def cosimulate(self, point: Point, settings: Settings) -> dict[str, Any]:
        """What a simulation of its Verilog shows, by column: `cosim` is "equal" or "differs"."""
        raise NotImplementedError

    def label(self, row: Row) -> tuple[str, str]:
        """What tells a row's design from others: its size, and the rest."""
        raise NotImplementedError

    def emit_arguments(self, row: Row, out: Path) -> list[str]:
        """Arguments of the `systoliq emit` of a row's design, from the folder in which `explore` wrote to `out`."""
        raise NotImplementedError

    def files(self, rows: Iterable[Row]) -> dict[str, bytes]:
        """Files that those commands need, by their names within `out`."""
        return {}
